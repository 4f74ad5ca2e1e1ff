"""The report on runs: numbers, what stands beside them, earlier revisions, what changed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from labeler.assessment.label_states import LabelSource
from labeler.assessment.rubric import default_rubric
from labeler.cli.app import run
from labeler.errors import NotFoundError
from labeler.evaluation.metrics import parse_metric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.reports.metric_rows import MetricRow
from labeler.reports.recall import RecallReport, report_recall
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store
from tests.small import fill, pooled, write_jsonl

LABELS: list[dict[str, object]] = [
    {"query_id": "q1", "document_id": "c01", "label": "fully_relevant"},
    {"query_id": "q1", "document_id": "c03", "label": "not_relevant"},
    {"query_id": "q1", "document_id": "c12", "label": "partially_relevant"},
    {"query_id": "q2", "document_id": "c07", "label": "cannot_judge"},
    {"query_id": "q2", "document_id": "c06", "label": "not_relevant"},
]


def label(store: Store, folder: Path, rows: list[dict[str, object]] = LABELS) -> int:
    report = import_labels(store, [write_jsonl(folder / "labels.jsonl", rows)], LabelOptions())
    assert report.revision is not None
    return report.revision


def recall(store: Store, metrics: str = "P@2 MRR recall@2 nDCG@2", **options: Any) -> RecallReport:
    own = ("per_query", "required_cutoff", "domain_cutoff")
    more = {key: options.pop(key) for key in own if key in options}
    with store.read() as connection:
        return report_recall(
            connection,
            ScopeOptions(**options),
            metrics=[parse_metric(one) for one in metrics.split()],
            **more,
        )


def row(report: RecallReport, run_name: str, short: str, of: str = "all") -> MetricRow:
    return next(
        one for one in report.metrics if (one.run, one.short, one.slice) == (run_name, short, of)
    )


def test_values_stand_beside_what_they_rest_on(sqlite_store: Store, tmp_path: Path) -> None:
    fill(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path)
    report = recall(sqlite_store)
    assert report.conditions.queries == 2  # q3 has no label
    # lexical: q1 return-30 (relevant), c03 (not), c04; q2 pin (unknown), reset (not), c07.
    precision = row(report, "lexical", "P@2")
    assert precision.metric == "P@2[unknown=0][human]"
    assert precision.summary.macro.value == pytest.approx((1 / 2 + 0) / 2)
    assert precision.summary.upper == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert precision.unknown == 1
    assert precision.candidate_only == 1
    assert precision.judged_coverage == pytest.approx(3 / 4)
    # q1 knows 2 relevant facts and q2 none: P@2 can't pass (2/2 + 0) / 2.
    assert precision.ceiling == pytest.approx(1 / 2)
    found = row(report, "lexical", "recall@2")
    assert found.metric == "known_label_recall@2[human]"
    assert found.summary.macro.value == pytest.approx(1 / 2)
    assert found.summary.undefined == 1
    assert found.undefined is not None
    # dense has 'c07', which people couldn't judge, on the second place of q2.
    assert row(report, "dense", "P@2").abstained == 1
    assert report.slices[0].known_relevant is not None
    assert report.slices[0].known_relevant.most == 2.0
    assert report.slices[0].abstained == 1


def test_a_pool_says_which_queries_and_items_count(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path)
    report = recall(sqlite_store, pool="p")
    assert report.conditions.queries == 3
    assert report.conditions.labelled_queries == 2
    assert "top 3 of dense, lexical" in report.conditions.frame
    assert any("1 of 3 queries have no label" in one for one in report.notices)
    # c12 was found by dense for q3 only, so for q1 it is no item of the pool.
    assert row(report, "lexical", "recall@2").summary.macro.value == pytest.approx(1.0)


def test_an_earlier_revision_is_rebuilt_exactly(store: Store, tmp_path: Path) -> None:
    pooled(store, tmp_path)
    before = label(store, tmp_path)
    first = asdict(recall(store, pool="p", per_query=True))
    label(store, tmp_path, [{"query_id": "q3", "document_id": "c10", "label": "full"}])
    changed: list[dict[str, object]] = [
        {"_id": "q1", "text": "returns within 30 days", "domain": "returns", "weight": 5}
    ]
    file = write_jsonl(tmp_path / "again.jsonl", changed)
    import_queries(store, [file], QueryOptions(update=True))
    assert asdict(recall(store, pool="p", per_query=True)) != first
    assert asdict(recall(store, pool="p", per_query=True, as_of=before)) == first


def test_runs_and_pools_of_later_revisions_are_not_there(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    before = label(sqlite_store, tmp_path)
    file = tmp_path / "late.run"
    file.write_text("q1 Q0 c03 1 1.0 late\n")
    import_runs(sqlite_store, [file], RunOptions())
    assert "late" in {one.run for one in recall(sqlite_store).metrics}
    assert "late" not in {one.run for one in recall(sqlite_store, as_of=before).metrics}
    create_pool(sqlite_store, "late", PoolOptions(depth=1, rubric=default_rubric()))
    with pytest.raises(NotFoundError, match="at revision"):
        recall(sqlite_store, pool="late", as_of=before)
    for pool in (None, "p"):
        with pytest.raises(NotFoundError, match="no revision"):
            recall(sqlite_store, as_of=10_000, pool=pool)


def test_a_run_without_results_for_a_query_counts_it_as_empty(
    sqlite_store: Store, tmp_path: Path
) -> None:
    fill(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path)
    file = tmp_path / "half.run"
    file.write_text("q1 Q0 c01 1 1.0 half\n")
    import_runs(sqlite_store, [file], RunOptions())
    report = recall(sqlite_store, runs=("half", "dense"))
    assert row(report, "half", "P@2").summary.macro.value == pytest.approx(1 / 4)
    assert any("half has nothing for 1 of 2 queries" in one for one in report.notices)


def test_slices_needs_and_serving_come_with_the_queries(store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path)
    queries: list[dict[str, object]] = [
        {
            "_id": "q1",
            "text": "returns within 30 days",
            "domain": "support",
            "slices": ["hard"],
            "required_evidence": [["return-30"], ["c04", "c08"]],
        },
        {"_id": "q2", "text": "reset the router", "domain": "devices"},
    ]
    file = write_jsonl(tmp_path / "again.jsonl", queries)
    import_queries(store, [file], QueryOptions(update=True))
    served: list[dict[str, object]] = [
        {"query_id": query, "run": "served", "doc_id": "c01", "rank": 1, "score": 1.0}
        | {"latency_ms": 100 + 50 * place, "cost": 0.25}
        for place, query in enumerate(["q1", "q2", "q3"])
    ]
    import_runs(store, [write_jsonl(tmp_path / "served.jsonl", served)], RunOptions())
    label(store, tmp_path)
    report = recall(store)
    assert [one.slice for one in report.slices] == [
        "all",
        "domain:devices",
        "domain:support",
        "hard",
    ]
    needs = {(one.run, one.slice): one for one in report.needs}
    assert needs["lexical", "all"].required_evidence_coverage.value == pytest.approx(1.0)
    assert needs["served", "hard"].required_evidence_coverage.value == pytest.approx(1 / 2)
    first = {(one.run, one.slice): one for one in recall(store, required_cutoff=1).needs}
    assert first["lexical", "all"].required_evidence_coverage.value == pytest.approx(1 / 2)
    # Every passage of the corpus is of the domain 'support'.
    assert needs["lexical", "domain:support"].domain_accuracy.value == pytest.approx(1.0)
    assert needs["lexical", "domain:devices"].domain_accuracy.value == pytest.approx(0.0)
    serving = next(one for one in report.serving if one.run == "served")
    assert (serving.p50.value, serving.p95.value) == (100.0, 150.0)
    assert serving.cost == pytest.approx(0.5)
    assert serving.p95.high is None


def test_only_relevant_labels_of_people_count_unless_told(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path, LABELS[1:2])
    report = recall(sqlite_store, source=LabelSource.HUMAN_AUTO)
    assert all(one.metric.endswith("[human+auto]") for one in report.metrics)
    assert any("no label is relevant" in one for one in report.notices)


def test_without_any_label_the_next_step_is_told(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    with pytest.raises(NotFoundError, match="has a label") as caught:
        recall(sqlite_store)
    assert "labeler review" in (caught.value.hint or "")


def test_what_changed_since_a_named_report_is_told(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pooled(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path)
    words = ["report", "recall", "--db", sqlite_store.location.address, "--json", "--pool"]
    assert run([*words, "p"]) == 0
    earlier = tmp_path / "earlier.json"
    earlier.write_text(capsys.readouterr().out)
    words = ["report", "recall", "--before", str(earlier), *words[2:]]
    create_pool(sqlite_store, "q", PoolOptions(depth=2, rubric=default_rubric()))
    # The latest report is of the other pool; the one that is named is what this is held against.
    assert run([*words, "q"]) == 0
    (changed,) = json.loads(capsys.readouterr().out)["changed"]
    assert changed.startswith("pool: p ")
    assert run([*words, "p"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == []
    earlier.write_text("[]")
    assert run([*words, "p"]) == 1


def test_the_command_prints_what_the_report_holds(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pooled(sqlite_store, tmp_path)
    label(sqlite_store, tmp_path)
    database = str(tmp_path / "queue.db")
    words = ["report", "recall", "--pool", "p", "--metric", "P@2", "recall@2"]
    words += ["--slices", "--per-query", "--db", database]
    assert run(words) == 0
    told = capsys.readouterr().out
    assert "P@2[unknown=0][human]" in told
    assert "known_label_recall@2[human]" in told
    assert "undefined" in told
    assert "0.333" in told
    assert run([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["conditions"]["labels"] == "human"
    assert {one["query"] for one in content["queries"]} == {"q1", "q2", "q3"}
    assert run([*words[:2], "--metric", "P@x", "--db", database]) == 2
