from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.records.splits import EdgeAction
from labeler.splits.edges import Cause, Edge, edge_between, ruled
from labeler.splits.explaining import chain
from labeler.splits.grouping import bridges_of, find_oversized, groups_of, largest_allowed


def _link(one: int, other: int, score: float | None = 0.6) -> Edge:
    left, right = f"document:{one:02}", f"document:{other:02}"
    return edge_between(left, right, Cause.NEAR_DOCUMENT, "", score=score)


_EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda p: p[0] != p[1]))


@given(_EDGES)
def test_two_nodes_are_in_one_group_exactly_when_a_chain_leads_from_one_to_the_other(
    pairs: list[tuple[int, int]],
) -> None:
    nodes = [f"document:{at:02}" for at in range(10)]
    edges = [_link(*pair) for pair in pairs]
    group = {node: at for at, members in enumerate(groups_of(nodes, edges)) for node in members}
    for one, other in combinations(nodes, 2):
        found = chain(one, other, edges)
        assert bool(found) == (group[one] == group[other])
        at = one
        for edge in found:
            at = edge.right if at == edge.left else edge.left
        assert not found or at == other


@given(_EDGES)
def test_bridges_are_the_pairs_without_which_a_group_falls_into_two_of_two_or_more(
    pairs: list[tuple[int, int]],
) -> None:
    nodes = [f"document:{at:02}" for at in range(10)]
    edges = [_link(*pair) for pair in pairs]
    for members in groups_of(nodes, edges):
        own = [edge for edge in edges if edge.left in members]
        expected = {}
        for ends in {(edge.left, edge.right) for edge in own}:
            rest = [edge for edge in own if (edge.left, edge.right) != ends]
            parts = groups_of(list(members), rest)
            if len(parts) > 1 and min(map(len, parts)) > 1:
                expected[ends] = min(map(len, parts))
        found = bridges_of(members, own)
        assert {(one.edges[0].left, one.edges[0].right): one.cut_off for one in found} == expected
        assert [one.cut_off for one in found] == sorted(expected.values(), reverse=True)


def test_edges_for_review_and_set_aside_make_no_group() -> None:
    edges = [
        edge_between("document:a", "document:b", Cause.NEAR_DOCUMENT, "", action=action)
        for action in (EdgeAction.REVIEW, EdgeAction.IGNORE)
    ]
    assert len(groups_of(["document:a", "document:b"], edges)) == 2


@pytest.mark.parametrize(
    ("documents", "shares", "allowed"),
    [
        (1000, (0.6, 0.2, 0.2), 50),
        (1000, (0.9, 0.05, 0.05), 25),
        (1000, (0.9, 0.0, 0.1), 50),
        (5, (0.6, 0.2, 0.2), 1),
    ],
)
def test_a_group_may_have_5_percent_or_half_the_smallest_part(
    documents: int, shares: tuple[float, ...], allowed: float
) -> None:
    assert largest_allowed(documents, shares) == pytest.approx(allowed)


def test_a_group_of_many_documents_is_too_large_and_queries_do_not_count() -> None:
    documents = tuple(f"document:{at:02}" for at in range(4))
    queries = tuple(f"query:{at:02}" for at in range(9))
    edges = [_link(0, 1), _link(1, 2, 0.55), _link(2, 3)]
    (found,) = find_oversized([documents, queries], edges, 3.0)
    assert (found.members, found.documents) == (documents, 4)
    (bridge,) = found.bridges
    assert (bridge.edges[0].right, bridge.cut_off) == ("document:02", 2)
    assert found.weakest[0] == edges[1]
    assert find_oversized([documents, queries], edges, 4.0) == []


def test_rulings_change_edges_of_likeness_and_no_facts_and_tie_what_nothing_tied() -> None:
    near, fact = _link(0, 1), edge_between("document:00", "document:01", Cause.EXACT_TEXT, "sha")
    ends = (near.left, near.right)
    changed, same = ruled([near, fact], {ends: (EdgeAction.IGNORE, "set aside by mo: templates")})
    assert (changed.action, same) == (EdgeAction.IGNORE, fact)
    assert "set aside by mo: templates" in changed.evidence
    (tie,) = ruled([], {ends: (EdgeAction.LINK, "linked by mo: one event")})
    assert (tie.left, tie.right, tie.cause, tie.action) == (*ends, Cause.RULING, EdgeAction.LINK)
    assert ruled([], {ends: (EdgeAction.IGNORE, "no")}) == []
