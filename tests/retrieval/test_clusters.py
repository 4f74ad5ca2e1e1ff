"""Clusters are the connected components over the four provenance keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.retrieval.clusters import clusters_of, connected
from labeler.retrieval.query_facts import GROUP_KEYS, QueryFacts


def test_queries_joined_by_another_one_are_one_cluster() -> None:
    queries = [
        QueryFacts(1, "a", group_keys={"conversation": "c1"}),
        QueryFacts(2, "b", group_keys={"conversation": "c1", "entity": "router"}),
        QueryFacts(3, "c", group_keys={"entity": "router"}),
        QueryFacts(4, "d", group_keys={"template": "router"}),
        QueryFacts(5, "e"),
    ]
    assert clusters_of(queries) == {1: 1, 2: 1, 3: 1, 4: 4, 5: 5}


def test_an_empty_key_joins_nothing() -> None:
    queries = [QueryFacts(key, str(key), group_keys={"entity": ""}) for key in (1, 2)]
    assert clusters_of(queries) == {1: 1, 2: 2}


@given(
    st.lists(
        st.dictionaries(st.sampled_from(GROUP_KEYS), st.sampled_from("abcdef"), max_size=4),
        max_size=12,
    )
)
def test_clusters_are_what_can_be_reached_step_by_step(keys: list[dict[str, str]]) -> None:
    queries = [QueryFacts(key, str(key), group_keys=of) for key, of in enumerate(keys, 1)]
    found = clusters_of(queries)
    for query in queries:
        reached, edge = {query.key}, [query]
        while edge:
            one = edge.pop()
            for other in queries:
                shares = one.group_keys.items() & other.group_keys.items()
                if shares and other.key not in reached:
                    reached.add(other.key)
                    edge.append(other)
        assert {key for key, cluster in found.items() if cluster == found[query.key]} == reached
        assert found[query.key] == min(reached)


@given(st.permutations([(1, 2), (2, 3), (4, 5), (5, 6), (3, 1)]))
def test_the_order_of_links_changes_nothing(links: list[tuple[int, int]]) -> None:
    assert connected(range(1, 8), links) == {1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 6: 4, 7: 7}
