from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.cli.app import run
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.metrics import parse_metric
from labeler.records import table
from labeler.records.evaluations import EvaluationValue
from labeler.reports.compared_runs import (
    Adjustment,
    ComparedRuns,
    ComparisonOptions,
    ComparisonReport,
    Finding,
)
from labeler.reports.comparison import compare_runs
from labeler.reports.comparison_page import comparison_page
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store
from tests.gated import QUERIES, fill_gated, graded, label

P2 = (parse_metric("P@2"),)


def _compare(store: Store, *slices: str, **more: object) -> ComparisonReport:
    options = ComparisonOptions(
        ScopeOptions(pool="p", runs=("old", "new")),
        metrics=P2,
        slices=slices or ("all",),
        **more,  # type: ignore[arg-type]
    )
    with store.read() as connection:
        return compare_runs(connection, options)[0]


def _only(report: ComparisonReport) -> ComparedRuns:
    (one,) = report.comparisons
    return one


def test_a_difference_is_told_with_its_intervals(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"a": 3, "b": 20, "c": 18}))
    one = _only(_compare(store))
    # Each query gains a half where c is relevant and a is not: 15 of 20, and loses it nowhere.
    assert (one.run, one.against, one.finding) == ("new", "old", Finding.BETTER)
    assert one.found.value == pytest.approx(0.375)
    assert (one.found.wins, one.found.losses) == (15, 0)
    assert one.micro == pytest.approx(0.375)
    assert one.lowest == pytest.approx(0.375)
    assert one.highest == pytest.approx(0.375)
    turned = _only(_compare(store, against="new"))
    assert turned.finding is Finding.WORSE
    assert turned.found.value == pytest.approx(-0.375)


def test_uneven_judgments_refuse_and_name_the_command(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    known = {name: g for name, g in graded({"a": 10, "b": 20}).items() if "-c" not in name}
    label(store, own_folder, known)
    one = _only(_compare(store))
    assert one.finding is Finding.JUDGMENTS_FIRST
    assert (one.coverage, one.other_coverage) == (0.5, 1.0)
    assert one.lowest == pytest.approx(-0.25)
    assert one.highest == pytest.approx(0.25)
    assert one.command == "labeler sample plan p --runs new --runs old --k 2"


def test_unknown_labels_that_cannot_change_the_sign_refuse_nothing(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    known = {
        name: g for name, g in graded({"c": 20}).items() if "-a" not in name or int(name[1:3]) > 4
    }
    label(store, own_folder, known)
    one = _only(_compare(store))
    assert abs((one.coverage or 0) - (one.other_coverage or 0)) > 0.05
    assert one.finding is Finding.BETTER


def test_a_difference_that_unknown_labels_could_turn_round_is_one_of_what_is_judged(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    known = graded({"a": 0, "b": 0, "c": 20})
    label(store, own_folder, {name: g for name, g in known.items() if int(name[1:3]) < 10})
    one = _only(_compare(store))
    assert (one.coverage, one.other_coverage) == pytest.approx((9 / 20, 9 / 20))
    assert one.adjusted_p is not None
    assert one.adjusted_p < 0.05
    assert (one.lowest or 0.0) < 0.0 < (one.highest or 0.0)
    assert one.finding is Finding.BETTER_SO_FAR
    assert _only(_compare(store, against="new")).finding is Finding.WORSE_SO_FAR


def test_several_comparisons_share_one_error(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"a": 14, "b": 20, "c": 18}))
    alone = _only(_compare(store))
    twice = _compare(store, "all", "domain:support")
    assert twice.declared == 2
    assert twice.comparisons[0].adjusted_p == pytest.approx(2 * (alone.adjusted_p or 0))
    together = _only(_compare(store, adjustment=Adjustment.MAX_T))
    assert together.adjusted_interval is not None
    assert together.adjusted_p is not None


def test_names_that_are_not_there_are_told(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    with pytest.raises(NotFoundError, match="slice"):
        _compare(store, "domain:nothing")
    with pytest.raises(UsageError, match="two runs"):
        _compare(store, against="other")


def test_the_command_logs_what_it_said(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"a": 3, "b": 20, "c": 18}))
    words = ["report", "compare", "--pool", "p", "--runs", "old", "--runs", "new"]
    words += ["--metric", "P@2", "--html", "c.html", "--db", store.location.address]
    assert run(words) == 0
    assert "better" in capsys.readouterr().out
    assert Path("c.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    value = table(EvaluationValue)
    with store.read() as connection:
        rows = connection.execute(sa.select(value.c.metric, value.c.value, value.c.queries)).all()
    assert sorted(tuple(row) for row in rows) == [
        ("P@2[unknown=0][human]", pytest.approx(0.575), len(QUERIES)),
        ("P@2[unknown=0][human]", pytest.approx(0.95), len(QUERIES)),
    ]


def test_a_page_escapes_what_it_shows(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"a": 3, "b": 20, "c": 18}))
    report = _compare(store)
    assert "&lt;b&gt;" not in comparison_page(report)
    evil = ComparisonReport(
        report.conditions, report.adjustment, 1, {}, report.comparisons, ("<b>bold</b>",)
    )
    assert "<b>" not in comparison_page(evil)
    assert "&lt;b&gt;" in comparison_page(evil)
