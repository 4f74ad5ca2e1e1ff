from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.imports.query_log import LogOptions, import_query_log
from labeler.records import table
from labeler.records.query_log import QueryDraw
from labeler.sampling.queries import (
    LoggedFacts,
    QuerySampleOptions,
    draw_queries,
    query_strata,
)
from labeler.store.database import Store

FACTS = st.lists(
    st.builds(
        LoggedFacts,
        key=st.uuids().map(str),
        text=st.sampled_from(["reset", "how do I reset the router"]),
        domain=st.sampled_from(["", "net"]),
        asked=st.integers(1, 30),
        click_known=st.integers(0, 1),
        mean_score=st.one_of(st.none(), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=60,
)


@given(FACTS, st.integers(1, 100))
def test_strata_part_all_queries_and_leave_five_for_each(
    facts: list[LoggedFacts], count: int
) -> None:
    strata = query_strata(facts, count)
    keys = [one.key for members in strata.values() for one in members]
    assert sorted(keys) == sorted(one.key for one in facts)
    assert len(strata) <= max(1, count // 5)


def test_what_left_users_unsatisfied_is_a_stratum_of_its_own() -> None:
    facts = [
        LoggedFacts("a", "reset the router now", "", 4, click_known=4, clicked=2),
        LoggedFacts("b", "reset the router again", "", 4, click_known=4, clicked=0),
        LoggedFacts("c", "reset the router please", "", 4, mean_score=0.1),
        LoggedFacts("d", "reset the router today", "", 4, mean_score=0.9),
    ]
    found = query_strata(facts, 100, low_score=0.5)
    assert {name: [one.key for one in members] for name, members in found.items()} == {
        "asked 2 to 9 times": ["a", "d"],
        "asked 2 to 9 times; no click or low score": ["b", "c"],
    }


def log(store: Store, folder: Path) -> None:
    words = ["alpha", "bravo", "delta", "gamma", "omega", "sigma", "theta"]
    rows = [
        {
            "query": f"question of {a} {'before' if a < b else 'after'} {b} there",
            "domain": "net" if a < b else "home",
        }
        for a in words
        for b in words
        for _ in range(1 + (a == b) * 12)
    ]
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_query_log(store, [path], LogOptions())


def test_a_draw_keeps_its_probabilities_and_is_made_once(store: Store, own_folder: Path) -> None:
    log(store, own_folder)
    report = draw_queries(store, QuerySampleOptions("pilot", 15))
    assert len(report.queries) == 15
    sizes = {one.name: one for one in report.strata}
    for one in report.queries:
        stratum = sizes[one.stratum]
        assert one.probability == pytest.approx(stratum.drawn / stratum.size)
        assert one.weight == pytest.approx(one.asked / one.probability)
    with store.read() as connection:
        stored = connection.execute(sa.select(table(QueryDraw))).all()
    assert sorted(row.probability for row in stored) == sorted(
        one.probability for one in report.queries
    )
    again = draw_queries(store, QuerySampleOptions("pilot", 15))
    assert (again.queries, again.revision) == (report.queries, None)
    with pytest.raises(ConflictError, match="pilot"):
        draw_queries(store, QuerySampleOptions("pilot", 16))
    other = draw_queries(store, QuerySampleOptions("other", 15, seed="2"))
    assert other.queries != report.queries


def test_weights_add_up_to_what_was_asked(store: Store, own_folder: Path) -> None:
    log(store, own_folder)
    report = draw_queries(store, QuerySampleOptions("all", 1000))
    assert sum(one.weight for one in report.queries) == sum(one.asked for one in report.strata)


def test_one_domain_alone(store: Store, own_folder: Path) -> None:
    log(store, own_folder)
    report = draw_queries(store, QuerySampleOptions("net", 5, domains=("net",)))
    assert {one.domain for one in report.queries} == {"net"}
    with pytest.raises(NotFoundError, match="sales"):
        draw_queries(store, QuerySampleOptions("x", 5, domains=("sales",)))


def test_without_a_log_there_is_nothing_to_draw(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no logged query"):
        draw_queries(store, QuerySampleOptions("x", 5))
    with pytest.raises(UsageError, match="--n"):
        draw_queries(store, QuerySampleOptions("x", 0))
