"""Pools: the union of the top of each run, immutable, extended, planned and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.pools.plan import plan_depths
from labeler.pools.show import ItemStatus, show_pool
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Candidate, Contribution, Item, Pool
from labeler.records.queries import Query
from labeler.records.runs import Run
from labeler.store.database import Store
from tests.small import HandJudge, fill, judge, passages, pooled, write_jsonl, write_run


def options(depth: int = 3, **more: object) -> PoolOptions:
    return PoolOptions(depth=depth, rubric=default_rubric(), **more)  # type: ignore[arg-type]


def contents(store: Store, name: str) -> dict[tuple[str, str], dict[str, tuple[int, int]]]:
    """Read a pool: query and evidence -> run -> rank and raw rank."""
    item, candidate, contribution = table(Item), table(Candidate), table(Contribution)
    query, evidence, run, pool = table(Query), table(Evidence), table(Run), table(Pool)
    statement = (
        sa.select(
            query.c.external_id,
            evidence.c.external_id,
            run.c.name,
            contribution.c.rank,
            contribution.c.raw_rank,
        )
        .join(item, item.c.query_id == query.c.id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .join(pool, pool.c.id == candidate.c.pool_id)
        .join(contribution, contribution.c.candidate_id == candidate.c.id)
        .join(run, run.c.id == contribution.c.run_id)
        .where(pool.c.name == name)
    )
    found: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    with store.read() as connection:
        for question, fact, system, rank, raw in connection.execute(statement):
            found.setdefault((question, fact), {})[system] = (rank, raw)
    return found


def test_the_union_of_the_top_with_every_contribution(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    report = create_pool(store, "p", options(depth=2))
    assert contents(store, "p") == {
        ("q1", "return-30"): {"lexical": (1, 1), "dense": (1, 1)},
        ("q1", "c03"): {"lexical": (2, 3), "dense": (2, 2)},
        # One chunk carries two facts, ordered by their names.
        ("q2", "pin"): {"lexical": (1, 1)},
        ("q2", "reset"): {"lexical": (2, 1), "dense": (1, 1)},
        ("q2", "c07"): {"dense": (2, 2)},
        ("q3", "c09"): {"lexical": (1, 1)},
        ("q3", "c99"): {"lexical": (2, 2)},
        ("q3", "c10"): {"dense": (1, 1)},
        ("q3", "c11"): {"dense": (2, 2)},
    }
    assert (report.candidates, report.from_one_system, report.without_text) == (9, 6, 1)
    assert report.passages == 10


def test_making_a_pool_again_changes_nothing(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    first = create_pool(store, "p", options())
    again = create_pool(store, "p", options())
    assert first.revision is not None
    assert again.revision is None
    assert again.digest == first.digest


def test_a_pool_is_immutable(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    with pytest.raises(ConflictError, match="immutable"):
        create_pool(store, "p", options(depth=2))


def test_a_pool_is_the_same_whatever_came_first(tmp_path: Path, own_folder: Path) -> None:
    from labeler.store.database import open_store
    from labeler.store.location import Location

    digests = []
    for number, order in enumerate((["lexical", "dense"], ["dense", "lexical"])):
        with open_store(Location(str(tmp_path / f"{number}.db")), create=True) as store:
            fill(store, own_folder)
            digests.append(create_pool(store, "p", options(runs=tuple(order))).digest)
    assert digests[0] == digests[1]


def test_an_extension_holds_the_pool_that_it_extends(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder, depth=2)
    late = write_run(own_folder / "late.run", "late", {"q1": ["c12", "c01"], "q4": []})
    import_runs(store, [late], RunOptions())
    report = create_pool(store, "p2", options(depth=1, runs=("late",), extends="p"))
    before, after = contents(store, "p"), contents(store, "p2")
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {("q1", "c12")}
    assert report.runs == 3
    assert contents(store, "p") == before


def test_runs_are_chosen_by_name_or_pattern(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    assert create_pool(store, "lex", options(runs=("lex*",))).runs == 1
    with pytest.raises(NotFoundError, match="no run is called 'bm25'") as caught:
        create_pool(store, "none", options(runs=("bm25",)))
    assert caught.value.hint == "there is dense, lexical"


def test_a_depth_below_one_is_refused(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    with pytest.raises(UsageError, match="1 or more"):
        create_pool(store, "p", options(depth=0))


def test_the_rank_column_can_decide(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    odd = own_folder / "odd.run"
    odd.write_text("q1 Q0 c03 2 9.0 odd\nq1 Q0 c04 1 1.0 odd\n")
    import_runs(store, [odd], RunOptions())
    create_pool(store, "by-score", options(depth=1, runs=("odd",)))
    create_pool(store, "by-rank", options(depth=1, runs=("odd",), order="rank"))
    assert set(contents(store, "by-score")) == {("q1", "c03")}
    assert set(contents(store, "by-rank")) == {("q1", "c04")}


def test_a_plan_agrees_with_the_pool_that_follows(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    with store.read() as connection:
        costs = {cost.depth: cost for cost in plan_depths(connection, [1, 2, 3])}
    for depth, cost in costs.items():
        report = create_pool(store, f"d{depth}", options(depth=depth))
        assert (cost.candidates, cost.from_one_system, cost.without_text) == (
            report.candidates,
            report.from_one_system,
            report.without_text,
        )
        assert cost.to_label == report.candidates - report.without_text


def test_a_plan_counts_the_queries_that_are_named(store: Store, own_folder: Path) -> None:
    fill(store, own_folder)
    with store.read() as connection:
        (cost,) = plan_depths(connection, [3], queries=["q1"])
        assert cost.candidates == 4
        with pytest.raises(NotFoundError, match="no query 'q9'"):
            plan_depths(connection, [3], queries=["q9"])


def test_what_a_pool_shows(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder, depth=2)
    answers: dict[str, tuple[Grade | Outcome, float]] = {
        "c03": (Outcome.ABSTAINED, 0.0),
        "c07": (Outcome.FAILED, 0.0),
        "c09": (Grade.FULLY_RELEVANT, 0.6),
    }
    report = judge(store, HandJudge(answers))
    assert (report.items, report.unavailable, report.failed) == (8, 1, 1)
    route_pool(store, "p", UNCALIBRATED)
    with store.read() as connection:
        view = show_pool(connection, "p")
    assert view.by_status == {
        ItemStatus.DECIDED: 5,
        ItemStatus.JUDGED: 1,
        ItemStatus.ABSTAINED: 1,
        ItemStatus.FAILED: 1,
        ItemStatus.UNAVAILABLE: 1,
    }
    assert sum(view.by_status.values()) == view.candidates == 9
    lexical = next(share for share in view.runs if share.run == "lexical")
    assert (lexical.candidates, lexical.from_it_alone) == (6, 3)
    assert sum(view.by_role["candidate"].values()) == 9


def test_two_snapshots_do_not_disturb_each_other(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    before = contents(store, "p")
    rows = passages()
    rows[2]["text"] = "another wording"
    import_corpus(
        store, [write_jsonl(own_folder / "later.jsonl", rows)], CorpusOptions(snapshot="2026-08")
    )
    run = write_run(own_folder / "new.run", "lexical", {"q1": ["c12"]})
    import_runs(store, [run], RunOptions(snapshot="2026-08"))
    with pytest.raises(UsageError, match="several snapshots"):
        create_pool(store, "q", options())
    create_pool(store, "q", options(snapshot="2026-08"))
    assert set(contents(store, "q")) == {("q1", "c12")}
    assert contents(store, "p") == before
