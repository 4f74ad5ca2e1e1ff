from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ir_measures import RR, Judged, P, R

from labeler.errors import UsageError
from labeler.evaluation.ranking import (
    Bounds,
    judged_coverage_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from labeler.formats.findings import Findings
from labeler.formats.ranking import ranked
from labeler.formats.trec import read_qrels, read_run
from labeler.labels import StateCode
from tests.shared import data_dir

STATES = st.lists(st.sampled_from([1, 0, -1]), max_size=12)
CUTOFFS = st.integers(1, 15)


def oracle(states: list[int], missed: int, cutoff: int) -> dict[str, float]:
    """Ask ir_measures; pytrec_eval, which is trec_eval itself, stands behind it."""
    places = {f"d{place:02d}": code for place, code in enumerate(states)}
    qrels = {name: code for name, code in places.items() if code != -1}
    qrels |= {f"missed{number}": 1 for number in range(missed)}
    run = {name: float(-place) for place, name in enumerate(places)}
    wanted = [P @ cutoff, R @ cutoff, RR, Judged @ cutoff]
    found = ir_measures.calc_aggregate(wanted, {"q": qrels}, {"q": run})
    return {str(measure): value for measure, value in found.items()}


@given(states=STATES.filter(bool), missed=st.integers(0, 3), cutoff=CUTOFFS)
def test_agrees_with_ir_measures(states: list[int], missed: int, cutoff: int) -> None:
    assume(set(states) != {-1} or missed)  # ir_measures leaves out a query without judgments
    known = oracle(states, missed, cutoff)
    relevant = states.count(1) + missed
    assert precision_at(states, cutoff).lower == pytest.approx(known[f"P@{cutoff}"])
    assert reciprocal_rank(states).lower == pytest.approx(known["RR"])
    assert judged_coverage_at(states, cutoff) == pytest.approx(known[f"Judged@{cutoff}"])
    recall = recall_at(states, relevant, cutoff)
    if relevant:
        assert recall == pytest.approx(known[f"R@{cutoff}"])
    else:
        assert recall is None


@given(states=st.lists(st.sampled_from([1, 0, -1]), max_size=6), cutoff=st.integers(1, 8))
def test_bounds_are_what_the_unknown_places_allow(states: list[int], cutoff: int) -> None:
    """Every way to fill the unknown places in gives a value inside, and both ends are reached."""
    choices = [(code,) if code != -1 else (0, 1) for code in states]
    filled = [list(one) for one in product(*choices)]
    for measure in (precision_at, reciprocal_rank):
        values = [measure(one, cutoff).identified for one in filled]
        assert measure(states, cutoff) == Bounds(
            min(value for value in values if value is not None),
            max(value for value in values if value is not None),
        )


def test_what_is_undefined_is_none_and_what_is_empty_is_zero() -> None:
    assert recall_at([0, -1], 0, 5) is None
    assert judged_coverage_at([], 5) is None
    assert precision_at([], 5) == Bounds(0.0, 0.0)
    assert reciprocal_rank([]) == Bounds(0.0, 0.0)
    assert recall_at([], 2, 5) == 0.0


def test_a_short_list_divides_precision_by_the_cutoff_and_coverage_by_what_came() -> None:
    states = np.array([StateCode.RELEVANT, StateCode.NOT_RELEVANT, StateCode.UNKNOWN])
    assert precision_at(states, 10) == Bounds(0.1, 0.2)
    assert judged_coverage_at(states, 10) == pytest.approx(2 / 3)


@pytest.mark.parametrize("states", [[True, False], [0, 2], [1.0, 0.0], [[1, 0]]])
def test_only_state_codes_are_taken(states: list[int]) -> None:
    for measure in (precision_at, reciprocal_rank, judged_coverage_at):
        with pytest.raises(UsageError, match="-1 unknown"):
            measure(states, 3)


def test_refuses_cutoffs_below_one_and_too_few_known() -> None:
    with pytest.raises(UsageError, match="1 or more"):
        precision_at([1], 0)
    with pytest.raises(UsageError, match="2 places are relevant, but only 1"):
        recall_at([1, 0, 1], 1, 1)


# -- published values ----------------------------------------------------------------------------

Judged_ = Mapping[str, Mapping[str, int]]
Rankings = Mapping[str, list[str]]


@cache
def read_fixture(qrels: Path, run: Path) -> tuple[Judged_, Rankings]:
    """Read grades by query and document, and the documents of a run in the order of trec_eval."""
    findings = Findings()
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in read_qrels(qrels, findings) or ():
        grades[row.query][row.document] = int(row.value)
    columns = read_run(run, findings)
    assert columns is not None, findings.faults
    order = ranked(columns, "score")
    return grades, {name: order.documents_of(code) for code, name in enumerate(columns.queries)}


def value_of(
    measure: str, documents: list[str], grades: Mapping[str, int], threshold: int
) -> float | None:
    states = [-1 if name not in grades else int(grades[name] >= threshold) for name in documents]
    name, _, cutoff = measure.replace("@", "_").rpartition("_")
    relevant = sum(grade >= threshold for grade in grades.values())
    match name:
        case "P":
            return precision_at(states, int(cutoff)).lower
        case "recall":
            return recall_at(states, relevant, int(cutoff))
        case "recip":
            return reciprocal_rank(states).lower
        case "Judged":
            return judged_coverage_at(states, int(cutoff))
    return None


def published(kind: str) -> Iterator[dict[str, object]]:
    lines = (data_dir("reference") / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for vector in map(json.loads, lines):
        measure = vector["measure"]
        wanted = measure.startswith(("P_", "recall_", "Judged@")) or measure == "recip_rank"
        if wanted and kind in vector:
            yield vector


def test_agrees_with_the_published_output_of_trec_eval() -> None:
    folder = data_dir("reference")
    checked = 0
    for vector in published("qrels"):
        grades, rankings = read_fixture(folder / str(vector["qrels"]), folder / str(vector["run"]))
        flags, measure = str(vector["flags"]), str(vector["measure"])
        threshold = 2 if "-l2" in flags else 1
        deepest = 100 if "-M100" in flags else None
        queries = list(grades) if "-c" in flags else [name for name in grades if name in rankings]
        if vector["query"] != "all":
            queries = [str(vector["query"])]
        values = [
            value_of(measure, rankings.get(query, [])[:deepest], grades[query], threshold)
            for query in queries
        ]
        # trec_eval counts an undefined recall as 0.
        mean = sum(value or 0.0 for value in values) / len(values)
        assert round(mean, 4) == pytest.approx(vector["value"], abs=1e-4), vector
        checked += 1
    assert checked > 200


def test_agrees_with_the_published_values_of_judged() -> None:
    checked = 0
    for vector in published("qrels_inline"):
        grades = vector["qrels_inline"]
        rows = vector["run_inline"]
        assert isinstance(grades, dict)
        assert isinstance(rows, dict)
        query = str(vector["query"])
        by_score = sorted(rows[query], key=lambda row: -row[2])
        documents = [row[0] for row in by_score]
        value = value_of(str(vector["measure"]), documents, grades[query], 1)
        assert value == pytest.approx(vector["value"], abs=1e-4), vector
        checked += 1
    assert checked > 3
