"""The report on runs over the cases: which rule each metric follows, and what is told beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.project import Project
from tests.cases.test_strictness import import_all, write
from tests.shared import case_dir


def values(report: dict[str, Any]) -> dict[str, float | None]:
    """Give the mean of each metric of the report's one run."""
    return {
        one["short"]: one["summary"]["macro"]["value"]
        for one in report["metrics"]
        if one["slice"] == "all"
    }


def measured(project: Project, case: str, *metrics: str) -> dict[str, Any]:
    folder = case_dir(case)
    project.do("import", "labels", folder / "qrels.txt")
    project.do("import", "runs", folder / "run.txt")
    return project.json("report", "recall", "--metric", *metrics)


def test_22_zeros_are_told_to_come_from_the_labels(project: Project) -> None:
    report = measured(project, "22", "P@5", "recall@5")
    assert values(report) == {"P@5": 0.0, "recall@5": None}
    recall = next(one for one in report["metrics"] if one["short"] == "recall@5")
    assert recall["summary"]["macro"]["reason"] == "no relevant evidence is known for any query"
    told = project.do("report", "recall")
    assert "no label is relevant" in told.err
    assert "undefined" in told.out


def test_23_ids_are_texts_and_leading_zeros_count(project: Project) -> None:
    folder = case_dir("23")
    project.do("import", "corpus", folder / "corpus.jsonl")
    project.do("import", "labels", folder / "qrels.txt")
    project.do("import", "runs", folder / "run-same.txt")
    assert values(project.json("report", "recall", "--metric", "MRR")) == {"MRR": 1.0}


def test_24_repeated_labels_count_once(project: Project) -> None:
    report = measured(project, "24", "recall@2")
    assert values(report) == {"recall@2": 1.0}
    assert report["slices"][0]["known_relevant"]["most"] == 2


def test_65_recall_divides_by_all_that_is_known(project: Project) -> None:
    report = measured(project, "65", "recall@1", "recall@3", "MRR", "P@3")
    assert values(report) == {
        "recall@1": 0.25,
        "recall@3": 0.5,
        "MRR": 1.0,
        "P@3": pytest.approx(2 / 3),
    }
    told = project.do("report", "recall", "--help").out
    assert "all that is known to be relevant" in " ".join(told.split())


def test_66_a_short_list_is_no_advantage(project: Project) -> None:
    report = measured(project, "66", "P@10", "P@3", "recall@10")
    assert values(report) == {
        "P@10": pytest.approx(0.1),
        "P@3": pytest.approx(1 / 3),
        "recall@10": 0.5,
    }
    of = {one["short"]: one for one in report["metrics"]}
    assert of["P@10"]["judged_coverage"] == pytest.approx(2 / 3)
    first = project.json("report", "recall", "--metric", "P@1")
    assert first["metrics"][0]["judged_coverage"] == 1.0
    assert of["P@10"]["returned"] == pytest.approx(0.3)


def test_what_was_not_recorded_is_said_and_not_counted_as_none(project: Project) -> None:
    import_all(project)
    latency = write("latency.tsv", "query_id\tsystem\tlatency_ms\nq1\tt\t3.5\nq2\tt\t4.5\n")
    rows = "q1 Q0 d2 1 2.0 t\nq2 Q0 d1 1 1.0 t\n"
    project.do("import", "runs", write("t.txt", rows), "--latency", latency)
    out = project.do("report", "recall", "--metric", "P@1").out
    assert "timed out" in out
    assert "0 of 0" not in out
    out = project.do("report", "compare", "--runs", "s", "--runs", "t", "--against", "s").out
    assert "t differs in  nothing that `import runs --config` told" in out
