"""A decision that missing labels reverse: BM25 against RepLLaMA on TREC DL 2019.

What people have labelled is what BM25 and BM25+RM3 brought to a pool of depth 20, so that half of
RepLLaMA's results are unknown. The frame is the part of the top 20 of six runs that NIST judged;
what NIST didn't judge is not relevant here, as it is to trec_eval.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from labeler.assessment.label_states import LabelSource, LabelStates
from labeler.draws.drawn_samples import DrawnSample, DrawnStratumItems
from labeler.evaluation.gate_checks import (
    CheckAnswer,
    Direction,
    Evidence,
    Requirement,
    Role,
    answer_check,
)
from labeler.evaluation.metrics import Kind, Metric
from labeler.evaluation.sampling import keyed_draw
from labeler.labels import Grade
from labeler.records.runs import Role as RunRole
from labeler.reports.completed_labels import complete_labels
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.gate_evidence import evidence_of_series
from labeler.reports.gate_series import measured_runs, sampled_runs
from labeler.retrieval.query_facts import QueryFacts
from labeler.retrieval.rankings import Ranking
from labeler.retrieval.runs import RunRef
from labeler.sampling.plan import strata_and_counts
from labeler.sampling.population import Comparison, Population
from labeler.sampling.strata import FrameUnit

BASELINE, CANDIDATE = "BM25", "REP_LLAMA"
POOLED = ("BM25", "BM25_RM3")
CUTOFF, DEPTH = 10, 20
RELEVANT_FROM = 2
"""The least NIST level that counts as relevant, as in the track's own binary measures."""
ASKED = Requirement(Role.AGGREGATE, 0.0, Direction.ABOVE, alpha=0.05)
PRECISION = Metric(Kind.PRECISION, CUTOFF)


@dataclass(frozen=True, eq=False)
class Reversal:
    """The fixture.

    Attributes:
        evaluated: All six runs with what is known.
        truth: Shape (items,): what NIST says of each item.
        in_frame: Shape (items,): the items that NIST judged.
    """

    evaluated: EvaluatedRuns
    truth: np.ndarray
    in_frame: np.ndarray

    @property
    def unknown(self) -> np.ndarray:
        """Places of the unknown items."""
        return np.flatnonzero(self.evaluated.labels.states == -1)

    def under_truth(self) -> EvaluatedRuns:
        """The same with every label known."""
        labels = replace(self.evaluated.labels, states=self.truth.astype(np.int8))
        return replace(self.evaluated, labels=labels)


def load_reversal(folder: Path) -> Reversal:
    """Read the runs in the order of their ranks, and NIST's labels."""
    levels = _levels(folder / "qrels.txt")
    runs = {path.stem: _tops(path, set(levels)) for path in sorted((folder / "posthoc").iterdir())}
    queries = sorted(levels)
    pairs = sorted(
        {
            (query, document)
            for tops in runs.values()
            for query in queries
            for document in tops[query]
        }
    )
    known = {(query, one) for name in POOLED for query in queries for one in runs[name][query]}
    query_key = {query: number for number, query in enumerate(queries, 1)}
    document_key = {name: n for n, name in enumerate(sorted({one for _, one in pairs}), 1)}
    truth = np.array([levels[query].get(one, 0) >= RELEVANT_FROM for query, one in pairs]).astype(
        int
    )
    in_frame = np.array([one in levels[query] for query, one in pairs])
    is_known = np.array([pair in known for pair in pairs])
    labels = _labels(
        np.array([query_key[query] for query, _ in pairs]),
        np.array([document_key[one] for _, one in pairs]),
        np.where(is_known | ~in_frame, truth, -1),
    )
    keys = np.array(list(query_key.values()), dtype=np.int64)
    refs = {
        name: RunRef(number, name, RunRole.BASELINE, 1, "dl19", "")
        for number, name in enumerate(runs, 1)
    }
    rankings = {
        name: _ranking(refs[name], keys, [[document_key[d] for d in tops[q]] for q in queries])
        for name, tops in runs.items()
    }
    evaluated = EvaluatedRuns(
        pool="top20",
        pool_id=1,
        snapshot_id=1,
        snapshot="dl19",
        revision=1,
        labels=labels,
        queries=keys,
        facts={int(key): QueryFacts(int(key), str(key)) for key in keys},
        clusters=keys,
        weights=np.ones(len(keys)),
        runs=refs,
        rankings=rankings,
    )
    # Items are ordered by query and key, which may differ from the order of names.
    order = np.lexsort((labels.evidence, labels.queries))
    return Reversal(
        replace(evaluated, labels=_reordered(labels, order)), truth[order], in_frame[order]
    )


def _reordered(labels: LabelStates, order: np.ndarray) -> LabelStates:
    return replace(
        labels,
        queries=labels.queries[order],
        evidence=labels.evidence[order],
        states=labels.states[order],
        gains=labels.gains[order],
    )


def _levels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, level = line.split()
        found[query][document] = int(level)
    return found


def _tops(path: Path, queries: set[str]) -> Mapping[str, list[str]]:
    ranked: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, rank, *_ = line.split()
        if query in queries:
            ranked[query].append((int(rank), document))
    return {query: [name for _, name in sorted(ranked[query])[:DEPTH]] for query in queries}


def _labels(queries: np.ndarray, evidence: np.ndarray, states: np.ndarray) -> LabelStates:
    return LabelStates(
        source=LabelSource.HUMAN,
        least=Grade.PARTIALLY_RELEVANT,
        items=np.arange(1, len(states) + 1),
        queries=queries,
        evidence=evidence,
        states=states.astype(np.int8),
        gains=np.where(states == -1, np.nan, states).astype(np.float64),
        abstained=np.zeros(0, dtype=np.int64),
        scales=(),
        gain_rule="of grades",
        top_gain=1.0,
    )


def _ranking(run: RunRef, queries: np.ndarray, evidence: list[list[int]]) -> Ranking:
    lengths = [len(one) for one in evidence]
    return Ranking(
        run=run,
        order="rank",
        queries=queries,
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        evidence=np.array([one for part in evidence for one in part], dtype=np.int64),
    )


def mean_precision(evaluated: EvaluatedRuns, run: str) -> float:
    """Give a run's P@10 with every unknown result not relevant."""
    return float(measured_runs(evaluated, PRECISION, run, None).series.value.mean())


def evidence_before(reversal: Reversal) -> Evidence:
    """Gather what is known of the difference before anybody audits."""
    measured = measured_runs(reversal.evaluated, PRECISION, CANDIDATE, BASELINE)
    return replace(
        evidence_of_series(ASKED, measured.series, None, None), coverage_gap=measured.coverage_gap
    )


def audited(reversal: Reversal, votes: int, seed: int) -> CheckAnswer:
    """Draw unknown items, have NIST answer them, and decide."""
    evaluated = reversal.evaluated
    sample, states = _drawn(reversal, votes, seed)
    labels = replace(evaluated.labels, states=states)
    completed = complete_labels(labels, sample, seed=seed)
    assert completed is not None
    voted = replace(evaluated, labels=labels)
    measured = measured_runs(voted, PRECISION, CANDIDATE, BASELINE)
    sampled = sampled_runs(voted, completed, PRECISION, CANDIDATE, BASELINE)
    return answer_check(
        replace(ASKED, least_positives=0),
        evidence_of_series(ASKED, measured.series, sampled, None),
    )


def _drawn(reversal: Reversal, votes: int, seed: int) -> tuple[DrawnSample, np.ndarray]:
    """Draw as `labeler sample draw` does, and answer with NIST's labels."""
    labels = reversal.evaluated.labels
    parts, counts = strata_and_counts(_population(reversal), votes)
    states = labels.states.copy()
    strata = []
    for part, count in zip(parts, counts, strict=True):
        drawn = [int(key) for key in keyed_draw(f"{seed}", [str(i) for i in part.items], count)]
        places = np.searchsorted(labels.items, np.array(drawn, dtype=np.int64))
        states[places] = reversal.truth[places]
        strata.append(DrawnStratumItems(part.name, frozenset(part.items), frozenset(drawn)))
    return DrawnSample("audit", (CANDIDATE, BASELINE), "the unknown items", tuple(strata)), states


def _population(reversal: Reversal) -> Population:
    labels, runs = reversal.evaluated.labels, (CANDIDATE, BASELINE)
    tops = {run: _top_items(reversal, run) for run in runs}
    units: list[FrameUnit] = []
    known: Counter[tuple[str, ...]] = Counter()
    relevant: Counter[tuple[str, ...]] = Counter()
    for item, state in zip(labels.items.tolist(), labels.states.tolist(), strict=True):
        retrieved = tuple(run for run in runs if item in tops[run])
        if state == -1:
            units.append(FrameUnit(item, retrieved))
        else:
            known[retrieved] += 1
            relevant[retrieved] += state == 1
    return Population(
        pool_id=1,
        comparison=Comparison("top20", runs, CUTOFF),
        queries=len(reversal.evaluated.queries),
        depth=DEPTH,
        units=tuple(units),
        known=known,
        known_relevant=relevant,
        abstained=0,
        without_text=0,
        score_version=None,
        is_calibrated=False,
    )


def _top_items(reversal: Reversal, run: str) -> set[int]:
    evaluated = reversal.evaluated
    ranking = evaluated.rankings[run]
    top = ranking.ranks <= CUTOFF
    places = evaluated.labels.places(ranking.query_of_places[top], ranking.evidence[top])
    return set(evaluated.labels.items[places].tolist())
