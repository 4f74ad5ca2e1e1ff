"""Two recorded judges of TREC DL 2019: the comparison against a count of their files' lines."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from labeler.imports.labels import LabelOptions, import_labels
from labeler.labels import TREC, State, state_of
from labeler.records.scales import AssessorKind
from labeler.reports.judge_comparison import compare_judges
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.shared import data_dir

JUDGES = ("gpt-4.umbrela", "gpt-4o.umbrela")


def levels(path: Path) -> dict[tuple[str, str], int]:
    rows = (line.split() for line in path.read_text().splitlines() if line.strip())
    return {(query, document): int(level) for query, _, document, level in rows}


def relevant(level: int) -> bool:
    return state_of(TREC.level(level).grade) is State.RELEVANT


def test_two_recorded_judges(tmp_path: Path) -> None:
    folder = data_dir("trec-dl-2019")
    with open_store(Location(str(tmp_path / "queue.db")), create=True) as store:
        import_labels(
            store, [folder / "qrels.txt"], LabelOptions(scale="trec-0-3", assessor="nist")
        )
        for name in JUDGES:
            options = LabelOptions(scale="trec-0-3", assessor=name, kind=AssessorKind.LLM)
            import_labels(store, [folder / "judges" / f"{name}.txt"], options)
        with store.read() as connection:
            found = compare_judges(connection, *JUDGES, examples=3)
    first, second = (levels(folder / "judges" / f"{name}.txt") for name in JUDGES)
    people = levels(folder / "qrels.txt")
    common = first.keys() & second.keys()
    assert found.both == len(common)
    assert found.levels is not None
    pairs = Counter((first[key], second[key]) for key in common)
    assert [row[:4] for row in found.levels.counts[:4]] == [
        tuple(pairs[one, other] for other in (3, 2, 1, 0)) for one in (3, 2, 1, 0)
    ]
    assert found.levels.flips.flipped == sum(first[key] != second[key] for key in common)
    crossing = [key for key in common if relevant(first[key]) != relevant(second[key])]
    assert found.relevance.flips.flipped == len(crossing)
    assert found.people is not None
    assert found.people.items == len(common & people.keys())
    decided = [key for key in crossing if key in people]
    assert found.people.on_relevance.differing == len(decided)
    assert found.people.on_relevance.with_second == sum(
        relevant(people[key]) == relevant(second[key]) for key in decided
    )
    assert [one.boundary for one in found.examples] == ["across"] * 3
    published = json.loads((folder / "judge_agreement.json").read_text())["judges"]
    for name, judge in zip(JUDGES, (found.people.first, found.people.second), strict=True):
        (row,) = [one for one in published if one["judge"] == name]
        assert judge.levels is not None
        names = [key for key in row if "kappa" in key]
        values = [judge.levels.kappa.value, judge.levels.quadratic_kappa.value]
        values.append(judge.relevance.kappa.value)
        assert sorted(row[key] for key in names) == pytest.approx(
            sorted(value for value in values if value is not None), abs=5e-4
        )
