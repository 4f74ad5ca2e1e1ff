"""Measure how long metrics take, beside ir_measures.

python -m tests.benchmarks.bench_metrics [rounds]

The 63 runs of TREC DL 2021 with its labels: P@5, P@10, MRR, recall@20 and nDCG@10 for every query
of every run, with relevance from 2 on. Both get what they take in memory, so that reading is left
out: ir_measures its dictionaries, ours arrays of queries, documents and scores in the order of the
file, which it puts in order, holds against the labels and measures, with bounds. Every value is
compared. Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import RR, P, R, nDCG
from numpy.typing import NDArray

from labeler.assessment.label_states import LabelSource, LabelStates
from labeler.evaluation.metrics import DEFAULT_METRICS, Metric, measure
from labeler.evaluation.ranking import Known
from labeler.formats.findings import Findings
from labeler.formats.trec import read_qrels, read_run
from labeler.labels import TREC, Grade, StateCode, state_of
from labeler.records.runs import Role
from labeler.reports.judged_rankings import judged_ranking, known_of
from labeler.retrieval.rankings import Ranking
from labeler.retrieval.runs import RunRef
from tests.benchmarks.measuring import Row, collection, cpu_seconds, print_rows

_THEIRS = [P(rel=2) @ 5, P(rel=2) @ 10, RR(rel=2), R(rel=2) @ 20, nDCG @ 10]
_LEAST = 2


@dataclass(frozen=True, eq=False)
class Arrays:
    """One run as arrays in the order of its file; documents are numbered by their names."""

    name: str
    queries: NDArray[np.int64]
    documents: NDArray[np.int64]
    scores: NDArray[np.float32]


Dictionary = Mapping[str, Mapping[str, float]]


def main() -> None:
    """Print both times, their ratio, and that the values are equal."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    folder = collection("trec-dl-2021")
    findings = Findings()
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in read_qrels(folder / "qrels.txt", findings) or ():
        grades[row.query][row.document] = int(row.value)
    runs = [read_run(path, findings) for path in sorted((folder / "runs").glob("*.run"))]
    names = sorted(
        {name for run in runs if run is not None for name in run.documents}.union(*grades.values()),
        key=lambda name: name.encode(),
    )
    number = {name: place for place, name in enumerate(names, 1)}
    query_number = {name: place for place, name in enumerate(sorted(grades), 1)}
    arrays, dictionaries = [], {}
    for run in runs:
        assert run is not None
        name = Path(run.path).stem
        queries = np.array([query_number[one] for one in run.queries])[run.query_codes]
        documents = np.array([number[one] for one in run.documents])[run.document_codes]
        arrays.append(Arrays(name, queries, documents, run.scores.astype(np.float32)))
        of: dict[str, dict[str, float]] = defaultdict(dict)
        for query, document, score in zip(
            run.query_codes.tolist(), run.document_codes.tolist(), run.scores.tolist(), strict=True
        ):
            of[run.queries[query]][run.documents[document]] = score
        dictionaries[name] = dict(of)
    labels = label_states(grades, query_number, number)
    differing = compare(arrays, dictionaries, grades, labels, query_number)
    theirs = cpu_seconds(lambda: by_ir_measures(dictionaries, grades), rounds=rounds)
    ours = cpu_seconds(lambda: by_labeler(arrays, labels), rounds=rounds)
    print_rows(
        f"{len(arrays)} runs, {sum(len(one.scores) for one in arrays):,} places, 5 metrics",
        "ir_measures, CPU of the fastest round",
        [
            Row("ir_measures", f"{1000 * theirs:,.0f} ms", 1.0),
            Row("labeler", f"{1000 * ours:,.0f} ms", ours / theirs),
            Row("values that differ", f"{differing:,}"),
        ],
    )


def label_states(
    grades: Mapping[str, Mapping[str, int]],
    queries: Mapping[str, int],
    documents: Mapping[str, int],
) -> LabelStates:
    """Give the labels as arrays, as a project gives them."""
    rows = sorted(
        (queries[query], documents[name], grade)
        for query, of in grades.items()
        for name, grade in of.items()
    )
    levels = [TREC.level(grade) for _, _, grade in rows]
    codes = [StateCode[state_of(level.grade).name] for level in levels]
    return LabelStates(
        source=LabelSource.HUMAN,
        least=Grade.PARTIALLY_RELEVANT,
        items=np.arange(1, len(rows) + 1),
        queries=np.array([row[0] for row in rows]),
        evidence=np.array([row[1] for row in rows]),
        states=np.array(codes, dtype=np.int8),
        gains=np.array([level.gain for level in levels]),
        abstained=np.zeros(0, dtype=np.int64),
        scales=(TREC,),
        gain_rule="of the scale",
        top_gain=3.0,
    )


def in_order(run: Arrays) -> Ranking:
    """Put a run in the order of trec_eval."""
    order = np.lexsort((-run.documents, -run.scores, run.queries))
    queries = run.queries[order]
    unique, starts = np.unique(queries, return_index=True)
    ref = RunRef(0, run.name, Role.CANDIDATE, 0, "", "")
    ends = np.append(starts, len(queries)).astype(np.int64)
    return Ranking(ref, "score", unique, ends, run.documents[order])


def by_labeler(runs: list[Arrays], labels: LabelStates) -> dict[str, dict[Metric, list[float]]]:
    """Measure every run; values by query, ascending."""
    queries = np.unique(labels.queries)
    known: Known = known_of(labels, queries)
    found = {}
    for run in runs:
        judged = judged_ranking(in_order(run), labels, queries, known)
        found[run.name] = {one: measure(one, judged).value.tolist() for one in DEFAULT_METRICS}
    return found


def by_ir_measures(
    runs: Mapping[str, Dictionary], grades: Mapping[str, Mapping[str, int]]
) -> dict[str, list[ir_measures.Metric]]:
    """Measure every run; values query by query."""
    evaluator = ir_measures.evaluator(_THEIRS, grades)
    return {name: list(evaluator.iter_calc(run)) for name, run in runs.items()}


def compare(
    arrays: list[Arrays],
    dictionaries: Mapping[str, Dictionary],
    grades: Mapping[str, Mapping[str, int]],
    labels: LabelStates,
    numbers: Mapping[str, int],
) -> int:
    """Count the values in which both differ; an undefined one is 0 there."""
    ours, differing = by_labeler(arrays, labels), 0
    of = dict(zip(map(str, _THEIRS), DEFAULT_METRICS, strict=True))
    checked = 0
    for name, values in by_ir_measures(dictionaries, grades).items():
        for one in values:
            mine = ours[name][of[str(one.measure)]][numbers[one.query_id] - 1]
            differing += abs((0.0 if np.isnan(mine) else mine) - one.value) > 1e-6
            checked += 1
    print(f"{checked:,} values compared")
    return differing


if __name__ == "__main__":
    main()
