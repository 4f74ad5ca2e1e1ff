"""A run cut at other candidate depths and score thresholds, measured on development queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.label_states import LabelSource
from labeler.errors import UsageError
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.ranking import judged_coverage_at
from labeler.records import table
from labeler.records.runs import Hit
from labeler.records.splits import SplitPart
from labeler.reports.evaluated import EvaluatedRuns, origin_notices, read_evaluated
from labeler.reports.gate_series import coverage_cutoff
from labeler.retrieval.collapse import collapse
from labeler.retrieval.rankings import Ranking, evidence_of_chunks
from labeler.sealing.sealed import TOPIC_UNMEASURED
from labeler.sealing.split_in_force import read_membership, split_of_snapshot

__all__ = ["GridCell", "GridOptions", "GridReport", "read_grid"]

_EVERYTHING = 2**31


@dataclass(frozen=True, slots=True)
class GridOptions:
    """What is tried.

    Attributes:
        pool: The pool whose queries and labels count.
        run: The run that is cut.
        metrics: The metrics, each with its cutoff K.
        candidates: Numbers N of candidates; None keeps all of them.
        thresholds: Least scores; None keeps every hit.
        first_stage: The run whose first N are the candidates that `run` ordered again; the run
            itself by default.
        source: Whose labels count.
    """

    pool: str
    run: str
    metrics: tuple[Metric, ...]
    candidates: tuple[int | None, ...] = (None,)
    thresholds: tuple[float | None, ...] = (None,)
    first_stage: str | None = None
    source: LabelSource = LabelSource.HUMAN


@dataclass(frozen=True, slots=True)
class GridCell:
    """One setting with what it gives.

    Attributes:
        candidates: N, or None for all.
        threshold: The least score, or None.
        metric: The metric's name.
        value: The mean, or None where it is undefined.
        lowest: The mean with every unknown label at its worst.
        highest: The mean with every unknown label at its best.
        coverage: The share of judged places, or None.
        returned: Mean results per query.
    """

    candidates: int | None
    threshold: float | None
    metric: str
    value: float | None
    lowest: float | None
    highest: float | None
    coverage: float | None
    returned: float

    @property
    def setting(self) -> str:
        """The setting in words."""
        candidates = "all candidates" if self.candidates is None else f"N={self.candidates}"
        return candidates if self.threshold is None else f"{candidates}, score>={self.threshold}"


@dataclass(frozen=True, slots=True)
class GridReport:
    """A grid.

    Attributes:
        run: The run.
        first_stage: Where candidates come from.
        pool: The pool whose queries and labels count.
        snapshot: Its snapshot.
        queries: Development queries.
        split: The split that says which those are.
        labels: Whose labels count.
        revision: The revision of the labels.
        cells: By candidates, threshold and metric.
        notices: What a reader should know besides.
    """

    run: str
    first_stage: str
    pool: str
    snapshot: str
    queries: int
    split: str
    labels: str
    revision: int
    cells: tuple[GridCell, ...]
    notices: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, object]:
        """What its numbers rest on."""
        names = ("pool", "snapshot", "split", "labels", "revision")
        return {name: getattr(self, name) for name in names}


def read_grid(connection: Connection, options: GridOptions) -> GridReport:
    """Measure a run at every setting, on the development queries of the frozen split.

    Raises:
        NotFoundError: When a name isn't there, or no query of the pool is of the dev part.
        UsageError: When no split is frozen: settings chosen on sealed queries would be tuned on
            them.
    """
    names = [options.run, *([options.first_stage] if options.first_stage else [])]
    whole = read_evaluated(connection, options.pool, names, options.source)
    split = split_of_snapshot(connection, whole.snapshot_id)
    if split is None:
        raise UsageError(
            "no split is frozen, so nothing tells which queries settings may be chosen on",
            hint="`labeler split freeze NAME` makes one",
        )
    membership = read_membership(connection, split)
    dev = {key for key, place in membership.queries.items() if place.counts_as is SplitPart.DEV}
    evaluated = read_evaluated(connection, options.pool, names, options.source, only=dev)
    hits = _hits(connection, evaluated, options.run)
    stage = options.first_stage or options.run
    allowed = hits if stage == options.run else _hits(connection, evaluated, stage)
    carried = evidence_of_chunks(
        connection,
        evaluated.snapshot_id,
        [run.key for run in evaluated.runs.values()],
        make=False,
    )
    cells: list[GridCell] = []
    for candidates, threshold in product(options.candidates, options.thresholds):
        kept = {
            query: _cut(found, allowed.get(query, []), candidates, threshold)
            for query, found in hits.items()
        }
        ranking = _ranking(evaluated.rankings[options.run], kept, carried)
        cells += _cells(options, evaluated, ranking, candidates, threshold)
    return GridReport(
        run=options.run,
        first_stage=stage,
        pool=evaluated.pool,
        snapshot=evaluated.snapshot,
        queries=len(evaluated.queries),
        split=split.name,
        labels=options.source.value,
        revision=evaluated.revision,
        cells=tuple(cells),
        notices=(
            *origin_notices(evaluated),
            *(() if split.topic_measured else (TOPIC_UNMEASURED,)),
        ),
    )


_Hits = list[tuple[int, float | None]]


def _hits(connection: Connection, evaluated: EvaluatedRuns, run: str) -> dict[int, _Hits]:
    """Give the chunks of each query with their scores, best first."""
    hit = table(Hit)
    statement = (
        sa.select(hit.c.query_id, hit.c.chunk_id, hit.c.score)
        .where(hit.c.run_id == evaluated.runs[run].key)
        .order_by(hit.c.query_id, hit.c.rank)
    )
    wanted = set(evaluated.queries.tolist())
    found: dict[int, _Hits] = defaultdict(list)
    for query, rows in groupby(connection.execute(statement), key=lambda row: row.query_id):
        if query in wanted:
            found[int(query)] = [(int(row.chunk_id), row.score) for row in rows]
    return dict(found)


def _cut(found: _Hits, stage: _Hits, candidates: int | None, threshold: float | None) -> list[int]:
    """Keep the chunks that are among the first N of the stage, and score enough."""
    among = {chunk for chunk, _ in stage[:candidates]}
    return [
        chunk
        for chunk, score in found
        if chunk in among and (threshold is None or (score is not None and score >= threshold))
    ]


def _ranking(
    of: Ranking, kept: Mapping[int, Sequence[int]], carried: Mapping[int, Sequence[int]]
) -> Ranking:
    ranked = [
        [one.evidence for one in collapse(kept.get(query, ()), carried, _EVERYTHING)[0]]
        for query in of.queries.tolist()
    ]
    lengths = [len(one) for one in ranked]
    return replace(
        of,
        starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        evidence=np.array([one for part in ranked for one in part], dtype=np.int64),
    )


def _cells(
    options: GridOptions,
    evaluated: EvaluatedRuns,
    ranking: Ranking,
    candidates: int | None,
    threshold: float | None,
) -> list[GridCell]:
    cut = replace(evaluated, rankings={options.run: ranking})
    judged = cut.judged(options.run)
    cells = []
    for metric in options.metrics:
        measured = measure(metric, judged)
        cells.append(
            GridCell(
                candidates=candidates,
                threshold=threshold,
                metric=metric.full_name(options.source.value),
                value=_mean(measured.value),
                lowest=_mean(measured.lower),
                highest=_mean(measured.upper),
                coverage=_mean(judged_coverage_at(judged, coverage_cutoff(metric))),
                returned=float(judged.returned.mean()),
            )
        )
    return cells


def _mean(values: np.ndarray) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
