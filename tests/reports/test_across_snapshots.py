"""Runs of two snapshots compared: each on its own, labels carried where the text is the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labeler.assessment.label_states import LabelSource, LabelStates
from labeler.assessment.rubric import default_rubric
from labeler.cli.app import run
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.metrics import parse_metric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade
from labeler.pools.create import PoolOptions, create_pool
from labeler.reports.across_snapshots import carried_over
from labeler.reports.compared_runs import ComparedRuns, ComparisonOptions, ComparisonReport, Finding
from labeler.reports.comparison import compare_runs
from labeler.reports.comparison_page import comparison_page
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store
from tests.small import write_jsonl, write_run

QUERIES = [f"q{number:02d}" for number in range(10)]
SNAPSHOTS = ("jan", "feb")


def _text(name: str, snapshot: str) -> str:
    # b's text is another one in February, and d is there in February only.
    changed = snapshot == "feb" and name.endswith("b")
    return f"passage {name}" + " rewritten" * changed


def _fill(store: Store, folder: Path, *, names: tuple[str, str] = ("old", "new")) -> None:
    """Import two snapshots with a run each: a and b in January, a, c and d in February."""
    queries: list[dict[str, object]] = [{"_id": one, "text": f"about {one}"} for one in QUERIES]
    import_queries(store, [write_jsonl(folder / "q.jsonl", queries)], QueryOptions())
    ranked = {"jan": "ab", "feb": "dca"}
    for snapshot, letters, name in zip(SNAPSHOTS, ("abc", "abcd"), names, strict=True):
        rows: list[dict[str, object]] = [
            {"_id": f"{query}-{one}", "text": _text(f"{query}-{one}", snapshot)}
            for query in QUERIES
            for one in letters
        ]
        path = write_jsonl(folder / f"{snapshot}.jsonl", rows)
        import_corpus(store, [path], CorpusOptions(snapshot=snapshot))
        results = {query: [f"{query}-{one}" for one in ranked[snapshot]] for query in QUERIES}
        file = write_run(folder / f"{snapshot}.run", name, results)
        import_runs(store, [file], RunOptions(snapshot=snapshot))


def _pool(store: Store, snapshot: str) -> None:
    options = PoolOptions(depth=3, rubric=default_rubric(), snapshot=snapshot)
    create_pool(store, snapshot, options)


def _label(store: Store, folder: Path, snapshot: str, letters: str, label: str) -> None:
    rows: list[dict[str, object]] = [
        {"query_id": query, "document_id": f"{query}-{one}", "label": label}
        for query in QUERIES
        for one in letters
    ]
    path = write_jsonl(folder / f"{snapshot}-{letters}.jsonl", rows)
    import_labels(store, [path], LabelOptions(snapshot=snapshot))


def _compare(store: Store, metric: str = "P@2", **more: object) -> ComparisonReport:
    options = ComparisonOptions(
        ScopeOptions(runs=("old", "new")),
        metrics=(parse_metric(metric),),
        **more,  # type: ignore[arg-type]
    )
    with store.read() as connection:
        return compare_runs(connection, options)[0]


def _only(report: ComparisonReport) -> ComparedRuns:
    (one,) = report.comparisons
    return one


@pytest.fixture
def judged(store: Store, own_folder: Path) -> Store:
    """January is labelled (a relevant, b not); in February c and d are, c is relevant."""
    _fill(store, own_folder)
    for snapshot in SNAPSHOTS:
        _pool(store, snapshot)
    _label(store, own_folder, "jan", "a", "fully_relevant")
    _label(store, own_folder, "jan", "b", "not_relevant")
    _label(store, own_folder, "feb", "c", "fully_relevant")
    _label(store, own_folder, "feb", "d", "not_relevant")
    return store


def test_each_run_is_measured_on_its_own_snapshot_with_labels_carried_over(judged: Store) -> None:
    report = _compare(judged, "P@3")
    one = _only(report)
    # Old: a of a, b. New: c, and a by the label of January, of d, c, a.
    assert one.found.first == pytest.approx(2 / 3)
    assert one.found.second == pytest.approx(1 / 3)
    assert (one.run, one.against, one.finding) == ("new", "old", Finding.BETTER)
    assert one.coverage == one.other_coverage == 1.0
    assert report.conditions.snapshot == "jan and feb"
    differ = report.across
    assert differ is not None
    assert (differ.before, differ.after) == SNAPSHOTS
    # a is a candidate of both; b has another text now; c and d are new.
    assert (differ.both, differ.only_before, differ.only_after) == (10, 10, 20)
    # Nobody labelled the new b; d isn't there in January, and c was there with the same text.
    assert (differ.labels_lost, differ.labels_new) == (10, 10)


def test_known_relevant_evidence_of_either_counts_where_its_text_is(judged: Store) -> None:
    one = _only(_compare(judged, "recall@2"))
    # a and c are relevant on both: in January too, where c was never pooled.
    assert one.found.second == pytest.approx(1 / 2)
    assert one.found.first == pytest.approx(1 / 2)
    turned = _only(_compare(judged, "recall@2", against="new"))
    assert turned.run == "old"
    assert turned.found.value == pytest.approx(0.0)


def test_what_is_not_judged_yet_asks_for_judgments_first(
    sqlite_store: Store, own_folder: Path
) -> None:
    _fill(sqlite_store, own_folder)
    _pool(sqlite_store, "jan")
    _label(sqlite_store, own_folder, "jan", "ab", "fully_relevant")
    with pytest.raises(NotFoundError, match="snapshot feb") as caught:
        _compare(sqlite_store)
    assert "labeler pool create NAME --runs new --snapshot feb" in (caught.value.hint or "")
    _label(sqlite_store, own_folder, "feb", "b", "fully_relevant")
    one = _only(_compare(sqlite_store))
    assert one.finding is Finding.JUDGMENTS_FIRST
    assert one.command == "labeler pool create NAME --depth 2 --runs new --snapshot feb"
    _pool(sqlite_store, "feb")
    pooled = _only(_compare(sqlite_store))
    assert pooled.finding is Finding.JUDGMENTS_FIRST
    assert pooled.command == "labeler sample plan feb --runs new --k 2"
    # Both unknown places could be relevant, or none of them: a difference of -1 to 0.
    assert (pooled.lowest, pooled.highest) == (-1.0, 0.0)


def test_a_run_of_one_name_on_both_snapshots_is_compared_with_itself(
    sqlite_store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _fill(sqlite_store, own_folder, names=("prod", "prod"))
    for snapshot in SNAPSHOTS:
        _pool(sqlite_store, snapshot)
    _label(sqlite_store, own_folder, "jan", "ab", "fully_relevant")
    _label(sqlite_store, own_folder, "feb", "cd", "not_relevant")
    words = ["report", "compare", "--runs", "prod", "--metric", "P@2"]
    words += ["--db", sqlite_store.location.address]
    assert run([*words, "--html", "c.html"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("the snapshots differ: jan before, feb after")
    assert "prod@feb - prod@jan" in told
    assert "the snapshots differ" in Path("c.html").read_text(encoding="utf-8")
    assert run([*words, "--against", "prod@feb", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["across"]["before"] == "feb"
    assert content["comparisons"][0]["found"]["value"] == pytest.approx(1.0)
    assert run(["report", "trend", "--run", "prod", "--db", sqlite_store.location.address]) == 0
    assert "report compare" in capsys.readouterr().out
    # One snapshot alone is as before.
    assert run([*words, "--snapshot", "jan"]) == 2
    assert "takes two runs" in capsys.readouterr().err


def test_three_snapshots_are_refused(judged: Store, own_folder: Path) -> None:
    rows: list[dict[str, object]] = [{"_id": "q00-a", "text": "passage q00-a"}]
    path = write_jsonl(own_folder / "mar.jsonl", rows)
    import_corpus(judged, [path], CorpusOptions(snapshot="mar"))
    file = write_run(own_folder / "mar.run", "newer", {"q00": ["q00-a"]})
    import_runs(judged, [file], RunOptions(snapshot="mar"))
    options = ComparisonOptions(ScopeOptions(runs=("old", "new*")))
    with judged.read() as connection, pytest.raises(UsageError, match="of jan, feb, mar"):
        compare_runs(connection, options)


def test_the_page_says_that_snapshots_differ(judged: Store) -> None:
    page = comparison_page(_compare(judged))
    assert "the snapshots differ: jan before, feb after" in page


def _states(keys: list[tuple[int, int]], states: list[int], abstained: list[int]) -> LabelStates:
    return LabelStates(
        source=LabelSource.HUMAN,
        least=Grade.PARTIALLY_RELEVANT,
        items=np.arange(1, len(keys) + 1),
        queries=np.array([query for query, _ in keys]),
        evidence=np.array([evidence for _, evidence in keys]),
        states=np.array(states, dtype=np.int8),
        gains=np.array([float(one) if one >= 0 else np.nan for one in states]),
        abstained=np.array(abstained, dtype=np.int64),
        scales=(),
        gain_rule="",
        top_gain=1.0,
    )


def test_labels_are_carried_in_order_and_own_ones_stand() -> None:
    own = _states([(1, 5), (2, 3), (3, 1)], [0, -1, -1], abstained=[2])
    other = _states([(1, 5), (1, 9), (2, 1), (2, 2), (2, 4)], [1, 1, 0, 1, -1], abstained=[])
    found = carried_over(own, other, np.array([1, 4, 5, 9]))
    keys = list(zip(found.queries.tolist(), found.evidence.tolist(), strict=True))
    assert keys == [(1, 5), (1, 9), (2, 1), (2, 3), (3, 1)]
    # Evidence 2 has another text, and nothing is known of (2, 4).
    assert found.states.tolist() == [0, 1, 0, -1, -1]
    assert found.abstained.tolist() == [4]
    assert found.places(np.array([2, 3]), np.array([1, 1])).tolist() == [2, 4]
    assert carried_over(own, other, np.array([], dtype=np.int64)) is own
