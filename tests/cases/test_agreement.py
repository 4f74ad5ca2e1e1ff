"""Public cases of agreement: two raters, a change of mind, one label in use, labels too alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.project import Project
from tests.shared import case_dir


def the_pair(project: Project) -> dict[str, Any]:
    """Give the one pair of assessors that the project has."""
    (pair,) = project.json("report", "agreement")["pairs"]
    assert isinstance(pair, dict)
    return pair


def import_pairs(project: Project, name: str) -> None:
    """Import a table of case 63: a column for each rater, an empty cell where one has no label."""
    lines = (case_dir("63") / name).read_text().splitlines()
    rows = [
        {"query_id": f"q{number}", "doc_id": f"d{number}", "rater": rater, "label": label}
        for number, first, second in (line.split("\t") for line in lines[1:])
        for rater, label in (("a", first), ("b", second))
    ]
    Path("l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project.do("import", "labels", "l.jsonl")


def test_54_a_skip_is_counted_apart_and_not_as_a_label(project: Project) -> None:
    project.do("import", "labels", case_dir("54") / "annotations.tsv")
    pair = the_pair(project)
    assert (pair["first"], pair["second"], pair["common"]) == ("r1", "r2", 0)
    # r1 has labels on d1 and d3, r2 on d2, which r1 skipped.
    assert pair["first_alone"] == {"nothing": 2, "abstained": 0, "failed": 0, "undecided": 0}
    assert pair["second_alone"] == {"nothing": 0, "abstained": 1, "failed": 0, "undecided": 0}


def test_61_two_raters_are_compared_where_both_have_a_label(project: Project) -> None:
    project.do("import", "labels", case_dir("61") / "annotations.tsv")
    pair = the_pair(project)
    assert (pair["first"], pair["second"]) == ("anna", "bo")
    assert (pair["common"], pair["differing"]) == (1, 1)
    assert (pair["first_alone"]["nothing"], pair["second_alone"]["nothing"]) == (1, 0)


@pytest.mark.parametrize("turned", [False, True])
def test_62_a_later_label_takes_the_place_of_the_earlier(project: Project, turned: bool) -> None:
    head, *rows = (case_dir("62") / "annotations.tsv").read_text().splitlines()
    Path("a.tsv").write_text("\n".join([head, *(rows[::-1] if turned else rows)]) + "\n")
    project.do("import", "labels", "a.tsv")
    report = project.json("report", "agreement")
    assert [one["name"] for one in report["assessors"]] == ["anna", "bo"]
    (pair,) = report["pairs"]
    assert (pair["common"], pair["differing"]) == (1, 0)
    assert pair["levels"]["exact"]["value"] == 1.0


def test_63_two_raters_with_one_label_in_use(project: Project) -> None:
    import_pairs(project, "two-raters.tsv")
    pair = the_pair(project)
    assert (pair["common"], pair["levels"]["exact"]["value"]) == (3, 1.0)
    for name in ("kappa", "quadratic_kappa", "alpha_nominal", "alpha_ordinal", "ac1"):
        found = pair["levels"][name]
        assert (found["value"], found["undefined"]) == (None, "one label in use")
    told = project.do("report", "agreement")
    assert "kappa undefined, one label in use: a x b" in told.out
    assert "nan" not in told.out


def test_63_one_pair_shared(project: Project) -> None:
    import_pairs(project, "one-shared.tsv")
    pair = the_pair(project)
    assert (pair["common"], pair["differing"]) == (1, 1)
    assert pair["levels"]["exact"]["value"] == 0.0
    assert pair["levels"]["kappa"]["value"] == 0.0
    assert (pair["first_alone"]["nothing"], pair["second_alone"]["nothing"]) == (1, 1)


def test_63_no_pair_shared(project: Project) -> None:
    import_pairs(project, "none-shared.tsv")
    pair = the_pair(project)
    assert (pair["common"], pair["queries"], pair["levels"]) == (0, 0, None)
    assert pair["levels_not_compared"] == "no pair labelled by both"
    assert pair["relevance"]["kappa"]["undefined"] == "no pair labelled by both"
    assert "no pair labelled by both" in project.do("report", "agreement").out


def test_64_labels_that_never_differ_are_pointed_at(project: Project) -> None:
    project.do("import", "labels", case_dir("64") / "annotations.tsv", "--scale", "trec-0-3")
    report = project.json("report", "agreement")
    (pair,) = report["pairs"]
    assert (pair["common"], pair["differing"]) == (60, 0)
    assert pair["levels"]["alpha_ordinal"]["value"] == 1.0
    (people,) = report["groups"]
    assert (people["items"], people["members"]) == (60, ["r1", "r2"])
    assert (people["alpha_nominal"]["value"], people["alpha_ordinal"]["value"]) == (1.0, 1.0)
    assert "not one of the 60 labels of r1 and r2 differs" in project.do("report", "agreement").err
