"""The table of scenarios: which rows there are, what they rest on, what is decided."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.assessment.item_scores import ItemScores, add_scores
from labeler.assessment.labels_in_force import items_of_pool
from labeler.cli.app import run
from labeler.errors import UsageError
from labeler.evaluation.metrics import parse_metric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.labels import Grade
from labeler.queue.sampled import ask_for_sample
from labeler.records.scores import Calibration
from labeler.reports.scope import ScopeOptions
from labeler.reports.sensitivity import SensitivityReport, Verdict, report_sensitivity
from labeler.sampling.draw import draw_sample
from labeler.sampling.plan import SampleOptions
from labeler.sampling.population import Comparison
from labeler.store.database import Store
from labeler.store.registry import pool_named
from tests.gated import fill_gated, graded, label
from tests.small import HandJudge, judge, pooled, write_jsonl

# lexical has c04, dense c08 on its own; both have return-30 and c03 before it.
LABELS: list[dict[str, object]] = [
    {"query_id": "q1", "document_id": "c01", "label": "fully_relevant"},
    {"query_id": "q1", "document_id": "c04", "label": "fully_relevant"},
    {"query_id": "q2", "document_id": "reset", "label": "not_relevant"},
]


def small(store: Store, folder: Path, rows: list[dict[str, object]]) -> None:
    pooled(store, folder)
    import_labels(store, [write_jsonl(folder / "labels.jsonl", rows)], LabelOptions())


def compare(
    store: Store, metric: str = "P@3", pool: str | None = "p", least: Grade | None = None
) -> SensitivityReport:
    options = ScopeOptions(
        pool=pool,
        runs=("lexical", "dense"),
        least=least or Grade.PARTIALLY_RELEVANT,
    )
    with store.read() as connection:
        return report_sensitivity(connection, options, metric=parse_metric(metric))


def score(store: Store, chance: float, calibration: Calibration) -> None:
    with store.write("score") as tx:
        pool = pool_named(tx.connection, "p")
        keys = tx.connection.execute(items_of_pool(pool.id).order_by(sa.text("1")))
        items = np.array([int(key) for (key,) in keys])
        rows = np.tile([1 - chance, chance / 2, chance / 2], (len(items), 1))
        scores = ItemScores("fit", calibration, "{}", 200, 20, items, rows)
        add_scores(tx, pool.id, scores)


LABELLED: list[dict[str, object]] = [
    {"query_id": query, "document_id": document, "label": "not_relevant"}
    for query, documents in {
        "q1": ["c03"],
        "q2": ["pin", "c07"],
        "q3": ["c09", "c10", "c11", "c12", "c99"],
    }.items()
    for document in documents
]


def test_rows_say_what_they_are_and_why_some_are_missing(
    sqlite_store: Store, tmp_path: Path
) -> None:
    small(sqlite_store, tmp_path, LABELS)
    report = compare(sqlite_store)
    assert [row.basis.value for row in report.rows] == [
        "assumption",
        "estimate",
        "assumption",
        "estimate",
        "assumption",
        "assumption",
    ]
    missing = [row.note for row in report.rows if row.difference is None]
    assert len(missing) == 3
    assert all(missing)
    assert "labeler calibrate p" in (report.no_chance or "")


def test_the_judges_say_what_unknown_items_are(store: Store, tmp_path: Path) -> None:
    small(store, tmp_path, [*LABELS, *LABELLED])
    assert compare(store).rows[0].difference == pytest.approx((2 - 1) / 3 / 3)
    judge(store, HandJudge({"c08": (Grade.FULLY_RELEVANT, 0.9)}))
    row = compare(store).rows[2]
    assert row.difference == pytest.approx(0.0)
    assert "by-hand" in row.note
    # Left to itself the one unknown item ties, and doesn't reverse.
    report = compare(store)
    assert report.least_flips is None
    assert report.verdict is Verdict.ROBUST


def test_a_probability_makes_an_estimate_only_when_it_is_calibrated(
    sqlite_store: Store, tmp_path: Path
) -> None:
    small(sqlite_store, tmp_path, LABELS)
    score(sqlite_store, 0.5, Calibration.UNCALIBRATED)
    report = compare(sqlite_store)
    assert report.rows[3].difference is None
    assert "uncalibrated" in report.rows[3].note
    assert report.chance_of_flips is None
    score(sqlite_store, 0.5, Calibration.CALIBRATED)
    report = compare(sqlite_store)
    assert report.rows[3].low is not None
    assert report.rows[3].high is not None
    assert report.rows[3].low <= (report.rows[3].difference or 0) <= report.rows[3].high
    assert report.chance_of_flips is not None
    assert 0 < report.chance_of_flips < 1


def test_items_that_are_hardly_relevant_leave_a_decision_robust(
    sqlite_store: Store, tmp_path: Path
) -> None:
    """Each run has two unknown places for q3; both of dense's would have to be relevant."""
    left = {"c11", "c12", "c09", "c99"}
    known = [one for one in LABELLED if one["document_id"] not in left]
    eighth: dict[str, object] = {"query_id": "q1", "document_id": "c08", "label": "not_relevant"}
    small(sqlite_store, tmp_path, [*LABELS, *known, eighth])
    score(sqlite_store, 0.3, Calibration.CALIBRATED)
    likely = compare(sqlite_store)
    assert (likely.least_flips, likely.available) == (2, 2)
    assert likely.chance_of_flips == pytest.approx(0.3**2)
    score(sqlite_store, 0.2, Calibration.CALIBRATED)
    unlikely = compare(sqlite_store)
    assert unlikely.chance_of_flips == pytest.approx(0.2**2)
    assert likely.verdict is Verdict.DEPENDS
    assert unlikely.verdict is Verdict.ROBUST


def test_equal_runs_are_tied(sqlite_store: Store, tmp_path: Path) -> None:
    small(sqlite_store, tmp_path, LABELS[:1])
    report = compare(sqlite_store, "P@1")
    assert report.verdict is Verdict.TIED


def test_two_runs_are_compared(sqlite_store: Store, tmp_path: Path) -> None:
    small(sqlite_store, tmp_path, LABELS)
    with sqlite_store.read() as connection, pytest.raises(UsageError, match="two runs"):
        report_sensitivity(
            connection,
            ScopeOptions(pool="p", runs=("lexical", "lexical")),
            metric=parse_metric("P@3"),
        )


def test_the_commands_print_both_reports(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small(sqlite_store, tmp_path, LABELS)
    database = ["--db", str(tmp_path / "queue.db")]
    words = ["report", "sensitivity", "lexical", "dense", "--pool", "p", "--metric", "P@3"]
    assert run([*words, *database]) == 0
    told = capsys.readouterr().out
    assert "worst case for the leader" in told
    assert "assumption" in told
    assert "sample plan p --runs lexical --runs dense --k 3" in told
    assert run([*words, *database, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["leader"] == "lexical"
    words = ["report", "coverage", "--pool", "p", "--k", "3", "--metric", "P@3"]
    assert run([*words, *database]) == 0
    told = capsys.readouterr().out
    assert "judged@3" in told
    assert "left out" in told
    assert run([*words, *database, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cutoff"] == 3


def test_a_drawn_sample_decides(sqlite_store: Store, tmp_path: Path) -> None:
    """The old run leads on what is known; what a few drawn answers say puts the new one ahead."""
    fill_gated(sqlite_store, tmp_path)
    everything = graded({"a": 8, "c": 18})
    label(sqlite_store, tmp_path, {name: g for name, g in everything.items() if "-c" not in name})

    def compared() -> SensitivityReport:
        options = ScopeOptions(pool="p", runs=("old", "new"))
        with sqlite_store.read() as connection:
            return report_sensitivity(connection, options, metric=parse_metric("P@2"))

    before = compared()
    assert (before.leader, before.verdict) == ("old", Verdict.REFUSED)
    # Old leads by 8 places, and 9 relevant ones of the 20 unknown would put new ahead.
    assert (before.least_flips, before.available) == (9, 20)
    sample = SampleOptions(Comparison("p", ("old", "new"), 2), votes=6)
    draw_sample(sqlite_store, "audit", sample, ask_for_sample)
    statement = sa.text(
        "SELECT evidence.external_id FROM draw JOIN item ON item.id = draw.item_id "
        "JOIN evidence ON evidence.id = item.evidence_id"
    )
    with sqlite_store.read() as connection:
        drawn = [str(name) for (name,) in connection.execute(statement)]
    label(sqlite_store, tmp_path, {name: everything[name] for name in drawn}, name="auditors")
    after = compared()
    assert after.leader == "old"
    row = after.rows[1]
    assert row.basis.value == "estimate"
    assert "6 answers" in row.note
    assert row.high is not None
    assert row.high < 0
    # With all labels it is 0.2 for old and 0.45 for new.
    assert row.low is not None
    assert row.low <= 0.2 - 0.45 <= row.high
    assert after.verdict is Verdict.REVERSED
    assert after.next is None
