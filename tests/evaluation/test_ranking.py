"""Measures of rankings: against trec_eval, against every way to fill in what is unknown."""

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
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, Judged, P, R

from labeler.errors import UsageError
from labeler.evaluation.gain import GainRule, ndcg_at
from labeler.evaluation.metrics import Metric, measure, parse_metric
from labeler.evaluation.ranking import (
    judged_coverage_at,
    precision_at,
    recall_at,
    reciprocal_rank,
    returned_at,
)
from labeler.formats.findings import Findings
from labeler.formats.ranking import ranked
from labeler.formats.trec import read_qrels, read_run
from tests.judged import TOP_GAIN, judged
from tests.shared import data_dir

STATES = st.lists(st.sampled_from([1, 0, -1]), max_size=12)
CUTOFFS = st.integers(1, 15)


def oracle(grades: list[int], missed: list[int], cutoff: int) -> dict[str, float]:
    """Ask ir_measures; pytrec_eval, which is trec_eval itself, stands behind it."""
    places = {f"d{place:02d}": grade for place, grade in enumerate(grades)}
    qrels = {name: grade for name, grade in places.items() if grade != -1}
    qrels |= {f"missed{number}": grade for number, grade in enumerate(missed)}
    run = {name: float(-place) for place, name in enumerate(places)}
    wanted = [P @ cutoff, R @ cutoff, RR, Judged @ cutoff, ir_measures.nDCG @ cutoff]
    found = ir_measures.calc_aggregate(wanted, {"q": qrels}, {"q": run})
    return {str(name): value for name, value in found.items()}


@given(
    rows=st.lists(
        st.tuples(
            st.lists(st.sampled_from([3, 2, 1, 0, -1]), min_size=1, max_size=12),
            st.lists(st.sampled_from([3, 2, 1, 0]), max_size=4),
        ).filter(lambda row: set(row[0]) != {-1} or row[1]),
        min_size=1,
        max_size=3,
    ),
    cutoff=CUTOFFS,
)
def test_agrees_with_ir_measures(rows: list[tuple[list[int], list[int]]], cutoff: int) -> None:
    ranking = judged(
        [[min(grade, 1) for grade in grades] for grades, _ in rows],
        gains=[[float(grade) for grade in grades] for grades, _ in rows],
        missed=[sum(grade > 0 for grade in missed) for _, missed in rows],
        missed_gains=[[float(grade) for grade in missed] for _, missed in rows],
    )
    recall, ndcg = recall_at(ranking, cutoff), ndcg_at(ranking, cutoff)
    for number, (grades, missed) in enumerate(rows):
        known = oracle(grades, missed, cutoff)
        assert precision_at(ranking, cutoff).value[number] == pytest.approx(known[f"P@{cutoff}"])
        assert reciprocal_rank(ranking).value[number] == pytest.approx(known["RR"])
        coverage = judged_coverage_at(ranking, cutoff)[number]
        assert coverage == pytest.approx(known[f"Judged@{cutoff}"])
        if any(grade > 0 for grade in grades + missed):
            assert recall.value[number] == pytest.approx(known[f"R@{cutoff}"])
            assert ndcg.value[number] == pytest.approx(known[f"nDCG@{cutoff}"])
        else:
            assert np.isnan(recall.value[number])
            assert np.isnan(ndcg.value[number])


@given(
    states=st.lists(st.sampled_from([1, 0, -1]), max_size=6),
    missed=st.integers(0, 2),
    elsewhere=st.integers(0, 2),
    cutoff=st.integers(1, 8),
)
def test_bounds_are_what_the_unknown_items_allow(
    states: list[int], missed: int, elsewhere: int, cutoff: int
) -> None:
    """Every way to fill in what is unknown gives a value inside, and both ends are reached."""
    ranking = judged([states], missed=[missed], unknown_elsewhere=[elsewhere])
    choices = [(code,) if code != -1 else (0, 1) for code in states]
    for name in (f"P@{cutoff}", f"MRR@{cutoff}", f"recall@{cutoff}"):
        metric = parse_metric(name)
        values = [
            measure(metric, judged([list(one)], missed=[missed + more])).value[0]
            for one in product(*choices)
            for more in range(elsewhere + 1)
        ]
        defined = [value for value in values if not np.isnan(value)]
        found = measure(metric, ranking)
        if defined:
            assert found.lower[0] == pytest.approx(min(defined))
            assert found.upper[0] == pytest.approx(max(defined))
        else:
            assert np.isnan(found.lower[0])
            assert np.isnan(found.upper[0])


@given(
    rows=st.lists(st.sampled_from([3.0, 1.0, 0.0, None]), max_size=6),
    missed=st.lists(st.sampled_from([3.0, 2.0, 0.0]), max_size=3),
    cutoff=st.integers(1, 7),
    rule=st.sampled_from(["linear", "exponential"]),
)
def test_bounds_of_ndcg_are_over_all_flips_to_the_top_gain(
    rows: list[float | None], missed: list[float], cutoff: int, rule: GainRule
) -> None:
    def of(gains: list[float | None]) -> float:
        states = [-1 if gain is None else int(gain > 0) for gain in gains]
        ranking = judged(
            [states],
            gains=[[gain or 0.0 for gain in gains]],
            missed_gains=[missed],
            missed=[sum(gain > 0 for gain in missed)],
        )
        return float(ndcg_at(ranking, cutoff, rule).value[0])

    states = [-1 if gain is None else int(gain > 0) for gain in rows]
    found = ndcg_at(
        judged(
            [states],
            gains=[[gain or 0.0 for gain in rows]],
            missed_gains=[missed],
            missed=[sum(gain > 0 for gain in missed)],
        ),
        cutoff,
        rule,
    )
    # Left unknown, a place has no gain and is no part of the ideal.
    choices: list[tuple[float | None, ...]] = [
        (gain,) if gain is not None or place >= cutoff else (None, TOP_GAIN)
        for place, gain in enumerate(rows)
    ]
    values = [value for one in product(*choices) if not np.isnan(value := of(list(one)))]
    if not values:
        assert np.isnan(found.lower[0])
        assert np.isnan(found.upper[0])
        return
    assert found.lower[0] == pytest.approx(min(values))
    assert found.upper[0] == pytest.approx(max(values))


@given(states=STATES, cutoff=CUTOFFS)
def test_judged_only_is_what_a_list_without_unknown_places_gives(
    states: list[int], cutoff: int
) -> None:
    ranking = judged([states], missed=[1])
    condensed = [code for code in states if code != -1]
    shorter = judged([condensed], missed=[1])
    for name in (f"MRR@{cutoff}", "MRR", f"nDCG@{cutoff}"):
        metric = parse_metric(name)
        found = measure(metric, ranking).judged_only[0]
        if condensed:
            assert found == pytest.approx(measure(metric, shorter).value[0])
        else:
            assert np.isnan(found)
    recall = recall_at(ranking, cutoff).judged_only[0]
    assert recall == pytest.approx(recall_at(shorter, cutoff).value[0])
    top = [code for code in states[:cutoff] if code != -1]
    share = precision_at(ranking, cutoff).judged_only[0]
    if top:
        assert share == pytest.approx(top.count(1) / len(top))
    else:
        assert np.isnan(share)


def test_what_is_undefined_is_no_number_and_what_is_empty_is_zero() -> None:
    nothing_known, nothing_returned = judged([[0, -1]]), judged([[]], missed=[2])
    assert np.isnan(recall_at(nothing_known, 5).value[0])
    assert np.isnan(ndcg_at(nothing_known, 5).value[0])
    assert np.isnan(judged_coverage_at(nothing_returned, 5)[0])
    for name in ("P@5", "MRR", "recall@5", "nDCG@5"):
        assert measure(parse_metric(name), nothing_returned).value[0] == 0.0
    assert returned_at(nothing_returned, 5)[0] == 0.0


def test_a_short_list_divides_precision_by_the_cutoff_and_coverage_by_what_came() -> None:
    ranking = judged([[1, 0, -1]])
    found = precision_at(ranking, 10)
    assert (found.lower[0], found.upper[0]) == (0.1, 0.2)
    assert judged_coverage_at(ranking, 10)[0] == pytest.approx(2 / 3)
    assert returned_at(ranking, 10)[0] == pytest.approx(0.3)


def test_parts_and_wholes_add_up_to_the_micro_average() -> None:
    found = recall_at(judged([[1, 1], [0]], missed=[0, 6]), 5)
    assert found.value.tolist() == [1.0, 0.0]
    assert found.part.sum() / found.whole.sum() == pytest.approx(2 / 8)


def test_only_state_codes_are_taken() -> None:
    for states in ([True, False], [0, 2], [1.0, 0.0]):
        with pytest.raises(UsageError, match="-1 unknown"):
            judged([states])  # type: ignore[list-item]  # what is refused


def test_refuses_cutoffs_below_one_and_too_few_known() -> None:
    ranking = judged([[1]])
    for function in (precision_at, recall_at, reciprocal_rank, judged_coverage_at, ndcg_at):
        with pytest.raises(UsageError, match="1 or more"):
            function(ranking, 0)
    with pytest.raises(UsageError, match="more relevant places are ranked"):
        recall_at(judged([[1, 0, 1]], missed=[-1]), 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("P@5", "P@5[unknown=0]"),
        ("mrr", "MRR[unknown=0]"),
        ("RR@10", "MRR@10[unknown=0]"),
        ("recall@20", "known_label_recall@20"),
        ("R@20", "known_label_recall@20"),
        ("known_label_recall@20", "known_label_recall@20"),
        ("ndcg@10", "nDCG@10[known-ideal]"),
        ("nDCG@10[known-ideal]", "nDCG@10[known-ideal]"),
    ],
)
def test_metrics_are_read_by_name(text: str, name: str) -> None:
    metric = parse_metric(text)
    assert metric.name == name
    assert parse_metric(metric.short) == metric
    assert parse_metric(metric.name) == metric
    assert metric.full_name("human") == f"{name}[human]"


@pytest.mark.parametrize("text", ["P", "P@0", "recall", "map@5", "", "P@-3", "nDCG@1.5"])
def test_what_is_no_metric_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_metric(text)


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
    name: str, documents: list[str], grades: Mapping[str, int], threshold: int
) -> float | None:
    states = [-1 if name not in grades else int(grades[name] >= threshold) for name in documents]
    ranked_names = set(documents)
    missed = [grade for name, grade in grades.items() if name not in ranked_names]
    ranking = judged(
        [states],
        gains=[[float(max(grades.get(name, 0), 0)) for name in documents]],
        missed=[sum(grade >= threshold for grade in missed)],
        missed_gains=[[float(max(grade, 0)) for grade in missed]],
    )
    if name.startswith("Judged@"):
        return float(judged_coverage_at(ranking, int(name.removeprefix("Judged@")))[0])
    kind, _, cutoff = name.rpartition("_")
    known = {"P": "P", "recall": "recall", "ndcg_cut": "nDCG"}
    metric: Metric = parse_metric("MRR" if kind == "recip" else f"{known[kind]}@{cutoff}")
    value = float(measure(metric, ranking).value[0])
    return None if np.isnan(value) else value


def published(kind: str) -> Iterator[dict[str, object]]:
    lines = (data_dir("reference") / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for vector in map(json.loads, lines):
        name = vector["measure"]
        wanted = name.startswith(("P_", "recall_", "ndcg_cut_", "Judged@")) or name == "recip_rank"
        if wanted and kind in vector:
            yield vector


def test_agrees_with_the_published_output_of_trec_eval() -> None:
    folder = data_dir("reference")
    checked = dict.fromkeys(["P", "recall", "recip", "ndcg_cut"], 0)
    for vector in published("qrels"):
        grades, rankings = read_fixture(folder / str(vector["qrels"]), folder / str(vector["run"]))
        flags, name = str(vector["flags"]), str(vector["measure"])
        threshold = 2 if "-l2" in flags else 1
        deepest = 100 if "-M100" in flags else None
        queries = list(grades) if "-c" in flags else [name for name in grades if name in rankings]
        if vector["query"] != "all":
            queries = [str(vector["query"])]
        values = [
            value_of(name, rankings.get(query, [])[:deepest], grades[query], threshold)
            for query in queries
        ]
        # trec_eval counts an undefined recall as 0.
        mean = sum(value or 0.0 for value in values) / len(values)
        assert round(mean, 4) == pytest.approx(vector["value"], abs=1e-4), vector
        checked[name.rpartition("_")[0]] += 1
    assert min(checked.values()) > 10, checked
    assert sum(checked.values()) > 200


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
