"""Every report is logged, says what changed since the one before, and is a page that loads nothing.

A report that is rebuilt says what it said.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.cli.app import run
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.records import table
from labeler.records.evaluations import Evaluation, EvaluationValue
from labeler.reports.report_log import log_report, plain
from labeler.store.database import Store
from tests.small import fill, pooled, write_jsonl, write_run

SECOND = {"q1": ["c12", "c01"], "q2": ["c06"]}
COMMANDS = {
    "recall": ["--metric", "P@2", "recall@2"],
    "coverage": ["--k", "2"],
    "sensitivity": ["lexical", "second", "--metric", "P@2"],
    "compare": ["--runs", "lexical", "second", "--metric", "P@2"],
    "misses": ["lexical", "--k", "1"],
}


def shown(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["report", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(autouse=True)
def _at_hand(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELER_DB", sqlite_store.location.address)


@pytest.fixture
def labelled(sqlite_store: Store, own_folder: Path) -> Store:
    pooled(sqlite_store, own_folder)
    import_runs(
        sqlite_store, [write_run(own_folder / "second.run", "second", SECOND)], RunOptions()
    )
    rows: list[dict[str, object]] = [
        {"query_id": "q1", "document_id": "c01", "label": "fully_relevant"},
        {"query_id": "q1", "document_id": "c12", "label": "partially_relevant"},
        {"query_id": "q2", "document_id": "c06", "label": "not_relevant"},
    ]
    import_labels(sqlite_store, [write_jsonl(own_folder / "l.jsonl", rows)], LabelOptions())
    return sqlite_store


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_is_logged_with_its_numbers(
    command: str, labelled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shown([command, *COMMANDS[command], "--pool", "p"], capsys)
    assert found["changed"] == []
    logged, value = table(Evaluation), table(EvaluationValue)
    with labelled.read() as connection:
        (row,) = connection.execute(sa.select(logged)).all()
        values = connection.execute(sa.select(value)).all()
    assert (row.id, row.command) == (found["evaluation"], f"report {command}")
    assert (row.pool_id, row.snapshot_id) == (1, 1)
    assert row.label_revision == found["conditions"]["revision"]
    assert {one.evaluation_id for one in values} == {row.id}
    assert len(values) == len({(one.run_id, one.metric, one.slice) for one in values}) > 0
    assert run(["report", "trend", "--metric", values[0].metric]) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_what_changed_since_the_report_before_is_told_on_top(
    command: str, labelled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, *COMMANDS[command]]
    first = shown([*words, "--pool", "p"], capsys)
    assert shown([*words, "--pool", "p"], capsys)["changed"] == []
    create_pool(labelled, "deep", PoolOptions(depth=2, rubric=default_rubric()))
    assert run(["report", *words, "--pool", "deep"]) == 0
    top = capsys.readouterr().out.splitlines()[0]
    assert top.startswith(f"changed since evaluation {first['evaluation'] + 1} of ")
    assert "pool: p " in top
    # Rebuilt for the time of the first report, it is held against nothing, as that was.
    at = str(first["conditions"]["revision"])
    rebuilt = shown([*words, "--pool", "p", "--as-of", at], capsys)
    changing = {"evaluation"}
    assert {k: v for k, v in rebuilt.items() if k not in changing} == {
        k: v for k, v in first.items() if k not in changing
    }
    # What was rebuilt is not what the next report is held against.
    assert shown([*words, "--pool", "deep"], capsys)["changed"] == []


def test_reports_on_other_runs_are_no_report_before(
    labelled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    create_pool(labelled, "deep", PoolOptions(depth=2, rubric=default_rubric()))
    shown(["recall", "--pool", "p", "--runs", "lexical"], capsys)
    assert shown(["recall", "--pool", "deep", "--runs", "second"], capsys)["changed"] == []
    changed = shown(["recall", "--pool", "deep", "--runs", "lexical"], capsys)["changed"]
    assert len(changed) == 1


def test_a_report_of_no_run_is_logged_and_held_against_the_one_before(
    sqlite_store: Store,
) -> None:
    conditions: dict[str, object] = {"labels": "of judges", "revision": 1, "pool": "a"}
    about = ("judge@1", "judge@2")
    first = log_report(sqlite_store, "report drift", conditions, result={}, subjects=about)
    then = conditions | {"pool": "b"}
    second = log_report(sqlite_store, "report drift", then, result={}, subjects=about[:1])
    other = log_report(sqlite_store, "report drift", conditions, result={}, subjects=("another",))
    assert first.changed == other.changed == ()
    assert [one.split(", ", 1)[1] for one in second.changed] == ["pool: a before, b now"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_holds_all_it_needs_and_escapes_what_it_shows(
    command: str, sqlite_store: Store, own_folder: Path
) -> None:
    fill(sqlite_store, own_folder)
    name = "<b>&'\"x"
    more: list[dict[str, object]] = [{"_id": "q<i>", "text": "about c01"}]
    import_queries(sqlite_store, [write_jsonl(own_folder / "more.jsonl", more)], QueryOptions())
    for run_name in (name, "other"):
        path = write_run(own_folder / "x.run", "x", {"q<i>": ["c02", "c01"]})
        import_runs(sqlite_store, [path], RunOptions(name=run_name))
    labels: list[dict[str, object]] = [
        {"query_id": "q<i>", "document_id": "c01", "label": "fully_relevant"}
    ]
    import_labels(sqlite_store, [write_jsonl(own_folder / "l.jsonl", labels)], LabelOptions())
    options = {
        "recall": ["--runs", name],
        "coverage": ["--runs", name, "other"],
        "sensitivity": [name, "other"],
        "compare": ["--runs", name, "other"],
        "misses": [name, "--k", "1"],
    }
    assert run(["report", command, *options[command], "--html", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page
    assert not any(word in page for word in ("http:", "https:", "<script", "url(", "<link", "<img"))


@dataclass(frozen=True)
class Numbers:
    values: tuple[float, ...]
    by_name: dict[str, float]


def test_numbers_without_a_value_are_null() -> None:
    found = plain(Numbers((1.0, float("inf"), float("nan")), {"a": float("-inf")}))
    assert found == {"values": [1.0, None, None], "by_name": {"a": None}}


def test_another_gain_is_another_condition(
    labelled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["recall", "--pool", "p", "--metric", "nDCG@2"]
    assert shown(words, capsys)["conditions"]["gains"].startswith("of the scale")
    (changed,) = shown([*words, "--gain", "exponential"], capsys)["changed"]
    assert "gains: of the scale native before, 2^g - 1, g of the scale native now" in changed
