"""The recorded judges of TREC DL 2019, imported as assessors, and the published table of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeler.formats.scale_file import scale_named
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import TREC
from labeler.records.scales import AssessorKind
from labeler.reports.agreement import AgreementReport, report_agreement
from labeler.reports.answers import Repeats
from labeler.reports.common_scale import common_scale
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.shared import data_dir

# The exam judge rates from 0 to 5; its first four levels are those of the people.
EXAM = """
name = "exam-0-5"
levels = [
    {code = 5, name = "rating 5", grade = "fully_relevant", gain = 5.0},
    {code = 4, name = "rating 4", grade = "fully_relevant", gain = 4.0},
    {code = 3, name = "perfectly_relevant", grade = "fully_relevant", gain = 3.0},
    {code = 2, name = "highly_relevant", grade = "partially_relevant", gain = 2.0},
    {code = 1, name = "related", grade = "not_relevant", gain = 1.0},
    {code = 0, name = "irrelevant", grade = "not_relevant", gain = 0.0},
]
"""


def expected_table() -> list[dict[str, Any]]:
    content = json.loads((data_dir("trec-dl-2019") / "judge_agreement.json").read_text())
    return [one for one in content["judges"] if any("kappa" in name for name in one)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The queries, the labels of the people of NIST, and those of the 14 judges with labels.

    Without the corpus: agreement goes by ids, and importing 9,139 passages would take as long.
    """
    folder = data_dir("trec-dl-2019")
    own = tmp_path_factory.mktemp("dl2019")
    exam = own / "exam.toml"
    exam.write_text(EXAM)
    with open_store(Location(str(own / "queue.db")), create=True) as store:
        import_queries(store, [folder / "queries.jsonl"], QueryOptions())
        people = LabelOptions(scale="trec-0-3", assessor="nist")
        import_labels(store, [folder / "qrels.txt"], people)
        for name in [one["judge"] for one in expected_table()]:
            scale = "binary" if name.endswith("binary") else "trec-0-3"
            options = LabelOptions(
                scale=str(exam) if "exam" in name else scale,
                assessor=name,
                kind=AssessorKind.LLM,
            )
            import_labels(store, [folder / "judges" / f"{name}.txt"], options)
        yield store


def against_nist(store: Store, repeats: Repeats) -> AgreementReport:
    with store.read() as connection:
        return report_agreement(connection, against="nist", repeats=repeats)


def test_the_scale_of_the_exam_judge_continues_that_of_the_people(own_folder: Path) -> None:
    path = own_folder / "exam.toml"
    path.write_text(EXAM)
    exam = scale_named(str(path))
    assert common_scale([TREC, exam]) is exam


def test_the_published_table_to_three_decimals(project: Store) -> None:
    table = expected_table()
    assert len(table) == 14
    # The table says that the last of repeated rows counts; its numbers are those of the first.
    found = {one.second: one for one in against_nist(project, Repeats.FIRST).pairs}
    assert found.keys() == {one["judge"] for one in table}
    for row in table:
        one = found[row["judge"]]
        assert one.common == row["covered"]
        assert one.first_alone.nothing == row["missing"]
        assert {str(level.code): level.labels for level in one.second_labels} == row["labels"]
        (relevance,) = [value for name, value in row.items() if name.startswith("kappa_bin")]
        assert one.relevance.kappa.value == pytest.approx(relevance, abs=5e-4), row["judge"]
        if "kappa" not in row:
            assert one.levels_not_compared == "different scales (binary, trec-0-3)"
            continue
        assert one.levels is not None
        values = (one.levels.exact, one.levels.kappa, one.levels.quadratic_kappa)
        expected = [row[name] for name in ("exact_agree", "kappa", "qw_kappa")]
        assert [value.value for value in values] == pytest.approx(expected, abs=5e-4), row["judge"]


def test_repeats_are_told_and_the_last_counts_by_default(project: Store) -> None:
    report = against_nist(project, Repeats.LAST)
    (notice,) = report.notices
    assert notice.startswith("llama3.2.umbrela gave different labels to 8,")
    assert notice.endswith("items; the last counts")
    last = {one.second: one.levels for one in report.pairs}
    first = {one.second: one.levels for one in against_nist(project, Repeats.FIRST).pairs}
    assert [name for name, levels in first.items() if levels != last[name]] == ["llama3.2.umbrela"]


def test_each_kappa_has_an_interval_around_it(project: Store) -> None:
    for one in against_nist(project, Repeats.LAST).pairs:
        kappa = one.relevance.kappa
        assert kappa.low is not None
        assert kappa.value is not None
        assert kappa.high is not None
        assert one.queries == 43
        assert kappa.low < kappa.value < kappa.high
        assert 0.05 < kappa.high - kappa.low < 0.3
