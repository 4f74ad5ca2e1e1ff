"""What runs ranked: facts collapsed before the cut, in the order asked for."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from labeler.imports.runs import RunOptions, import_runs
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.queries import Query
from labeler.retrieval.rankings import read_rankings
from labeler.retrieval.runs import runs_meant
from labeler.store.database import Store
from tests.small import fill


def _names(store: Store, of: type[Evidence | Query]) -> dict[int, str]:
    with store.read() as connection:
        rows = connection.execute(sa.select(table(of).c.id, table(of).c.external_id))
        return {int(key): str(name) for key, name in rows}


def _ranked(store: Store, run: str, **options: object) -> dict[str, list[str]]:
    evidence, queries = _names(store, Evidence), _names(store, Query)
    with store.read() as connection:
        runs = runs_meant(connection, [run], None)
        ranking = read_rankings(connection, runs, **options)[0]  # type: ignore[arg-type]
    return {
        queries[key]: [evidence.get(one, "?") for one in ranking.of(key).tolist()]
        for key in ranking.queries.tolist()
    }


def test_a_fact_that_two_chunks_carry_has_one_place(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    ranked = _ranked(sqlite_store, "lexical")
    # c01 and c02 carry one fact; c05 carries two, in the order of their names, and c06 one of them.
    assert ranked["q1"] == ["return-30", "c03", "c04"]
    assert ranked["q2"] == ["pin", "reset", "c07"]


def test_the_cut_counts_facts(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    assert _ranked(sqlite_store, "lexical", depth=2)["q1"] == ["return-30", "c03"]


def test_evidence_that_nobody_knows_keeps_its_place(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    assert _ranked(sqlite_store, "lexical")["q3"] == ["c09", "?", "c10"]


def test_the_rank_column_orders_when_asked(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    file = tmp_path / "odd.run"
    file.write_text("q1 Q0 c03 2 9.0 odd\nq1 Q0 c08 1 1.0 odd\n")
    import_runs(sqlite_store, [file], RunOptions())
    assert _ranked(sqlite_store, "odd")["q1"] == ["c03", "c08"]
    assert _ranked(sqlite_store, "odd", order="rank")["q1"] == ["c08", "c03"]


def test_ranks_and_queries_stand_beside_places(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    with sqlite_store.read() as connection:
        runs = runs_meant(connection, [], None)
        for ranking in read_rankings(connection, runs):
            for query in ranking.queries.tolist():
                mine = ranking.query_of_places == query
                assert ranking.ranks[mine].tolist() == list(range(1, int(mine.sum()) + 1))
                assert ranking.evidence[mine].tolist() == ranking.of(query).tolist()
            assert not len(ranking.of(10**6))


def test_only_the_queries_asked_for_are_read(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    first = min(_names(sqlite_store, Query))
    assert list(_ranked(sqlite_store, "dense", queries={first})) == ["q1"]
