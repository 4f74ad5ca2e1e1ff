"""The checks of a gate, each with what is known about it, its answer, and what to do."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.evaluation.gate_checks import (
    Answer,
    Evidence,
    Requirement,
    answer_check,
    confidence_for,
    needs_exact_limits,
)
from labeler.evaluation.metrics import Metric, parse_metric
from labeler.records import table
from labeler.records.pools import PoolRun
from labeler.records.query_log import QueryLog
from labeler.records.runs import RunQuery
from labeler.reports.agreement import report_agreement
from labeler.reports.answers import PEOPLE
from labeler.reports.completed_labels import CompletedLabels, read_answered_sample
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.gate_advice import Advice, Judged, Surroundings, advise
from labeler.reports.gate_evidence import (
    Sampled,
    evidence_of_latency,
    evidence_of_series,
    inner_confidence,
)
from labeler.reports.gate_file import Check, GateFile
from labeler.reports.gate_flips import CheckFlips, check_flips
from labeler.reports.gate_limits import exact_limits, sampled_positives
from labeler.reports.gate_pooled import evidence_of_pooled_recall
from labeler.reports.gate_series import measured_runs, placed_runs, sampled_runs
from labeler.reports.scenarios import Chances, chances_of_items

__all__ = ["CheckResult", "check_results"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check with its answer.

    Attributes:
        name: What the check is called.
        metric: The metric's name, which says whose labels it takes.
        slice: The queries that it is over.
        role: What hangs on it.
        rule: The boundary and direction in words.
        boundary: The boundary.
        value: The metric, or the difference, or None where it is undefined.
        low: The lower limit of the interval that decides, or None.
        high: The upper limit, or None where there is none.
        confidence: Of the interval.
        interval_by: How the interval was made.
        lowest: The value with every unknown label at its worst, or None.
        highest: The value with every unknown label at its best, or None.
        ceiling: The most that any ranking could reach, or None.
        coverage: The share of judged places, or None.
        queries: Queries that count.
        clusters: Clusters that they belong to.
        sampled: Relevant items of these queries in the sample that was used, or None.
        least_flips: The least number of unknown items that would have to be relevant to carry the
            value across the boundary, or its lower bound; None when no number does, or where no
            label matters.
        most_flips: Its upper bound; equal where the number is exact.
        available: Unknown items that could be among them, or None where no label matters.
        chance_of_flips: The probability that at least so many are relevant, under calibrated
            probabilities taken as independent; no less than that of a reversal. None without.
        no_chance: Why there is none, or None.
        answer: What the check comes to.
        causes: Why it is neither pass nor fail.
        why: The same in a sentence.
        commands: What collects what is missing.
    """

    name: str
    metric: str
    slice: str
    role: str
    rule: str
    boundary: float
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    interval_by: str
    lowest: float | None
    highest: float | None
    ceiling: float | None
    coverage: float | None
    queries: int
    clusters: int
    sampled: int | None
    least_flips: int | None
    most_flips: int | None
    available: int | None
    chance_of_flips: float | None
    no_chance: str | None
    answer: Answer
    causes: tuple[str, ...]
    why: str
    commands: tuple[str, ...]


def check_results(
    connection: Connection,
    gate: GateFile,
    evaluated: EvaluatedRuns,
    completed: CompletedLabels | None,
    as_of: int | None,
) -> list[CheckResult]:
    """Answer every check of a gate, all at one revision of the labels.

    Args:
        connection: A transaction's connection.
        gate: The rules.
        evaluated: The runs with what is known.
        completed: What a sample makes of unknown labels, or None.
        as_of: The revision of the labels; None is the present.

    Raises:
        NotFoundError: When a slice has no query.
    """
    agreement = None
    if any(check.asked.least_agreement is not None for check in gate.checks):
        agreement = _agreement_of_people(connection, gate.pool, as_of)
    around = Surroundings(
        gate=gate,
        pooled_depths=_pooled_depths(connection, evaluated),
        sample=read_answered_sample(connection, evaluated.pool_id, as_of),
        completed=completed,
        has_query_log=bool(
            connection.execute(sa.select(sa.func.count()).select_from(table(QueryLog))).scalar()
        ),
    )
    known = _KnownOfPool(completed, agreement, chances_of_items(connection, evaluated, as_of))
    judged = []
    for check in gate.checks:
        found = _evidence(connection, gate, check, evaluated, known)
        flips = _flips(gate, check, evaluated, known.chances)
        if flips is not None:
            found = replace(found, reversal=flips.reversal, chance_of_flips=flips.chance)
        judged.append(Judged(check, found, flips, answer_check(check.asked, found)))
    advice = advise(judged, around)
    return [_result(gate, one, told) for one, told in zip(judged, advice, strict=True)]


@dataclass(frozen=True, eq=False)
class _KnownOfPool:
    """What is known beside the labels in force: a sample, how far people agree, probabilities."""

    completed: CompletedLabels | None
    agreement: float | None
    chances: Chances


def _flips(
    gate: GateFile, check: Check, evaluated: EvaluatedRuns, chances: Chances
) -> CheckFlips | None:
    if not check.metric.is_of_labels or check.metric.is_pooled:
        return None
    runs = gate.candidate, gate.baseline if check.against_baseline else None
    metric = parse_metric(str(check.metric))
    inside = evaluated.in_slice(check.slice)
    return check_flips(evaluated, check.asked, metric, runs, inside, chances)


def _evidence(
    connection: Connection,
    gate: GateFile,
    check: Check,
    evaluated: EvaluatedRuns,
    known: _KnownOfPool,
) -> Evidence:
    inside = evaluated.in_slice(check.slice)
    if check.metric.is_latency:
        latencies = _latencies(connection, evaluated, gate.candidate, inside)
        return evidence_of_latency(check.asked, latencies, check.metric.quantile)
    second = gate.baseline if check.against_baseline else None
    if not check.metric.is_of_labels:
        series = placed_runs(connection, evaluated, check.metric, gate.candidate, second)
        return evidence_of_series(check.asked, series.of(inside), None, known.agreement)
    if check.metric.is_pooled:
        runs, cutoff = (gate.candidate, second), check.metric.cutoff or 1
        sets, people = known.completed, known.agreement
        return evidence_of_pooled_recall(check.asked, evaluated, runs, cutoff, inside, sets, people)
    metric = parse_metric(str(check.metric))
    measured = measured_runs(evaluated, metric, gate.candidate, second)
    sampled = None
    if known.completed is not None:
        runs = gate.candidate, second
        sampled = _sampled(evaluated, known.completed, check.asked, metric, runs, inside)
    found = evidence_of_series(check.asked, measured.series.of(inside), sampled, known.agreement)
    return replace(found, coverage_gap=measured.coverage_gap)


def _sampled(
    evaluated: EvaluatedRuns,
    completed: CompletedLabels,
    asked: Requirement,
    metric: Metric,
    runs: tuple[str, str | None],
    inside: NDArray[np.bool_],
) -> Sampled | None:
    """Measure under the label sets of the sample; None where these can't tell the metric."""
    if completed.untold(metric) is not None:
        return None
    positives = sampled_positives(evaluated, completed, inside)
    limits = None
    if needs_exact_limits(asked.role, positives):
        inner = inner_confidence(confidence_for(asked.role, asked.alpha))
        limits = exact_limits(evaluated, completed, metric, runs, inside, confidence=inner)
    named = [run for run in runs if run is not None]
    sets = completed.split_by_tops(evaluated, named, metric.cutoff)
    found = sampled_runs(evaluated, sets, metric, *runs).of(inside)
    return replace(found, positives=positives, limits=limits)


def _result(gate: GateFile, judged: Judged, advice: Advice) -> CheckResult:
    check, found, flips, answer = judged.check, judged.found, judged.flips, judged.answer
    name = str(check.metric)
    if check.metric.is_pooled:
        name = f"{name}[within the pool][{gate.labels}]"
    elif check.metric.is_of_labels:
        name = parse_metric(name).full_name(gate.labels)
    if check.against_baseline:
        name = f"{name} of {gate.candidate} less {gate.baseline}"
    interval = found.interval
    return CheckResult(
        name=check.name,
        metric=name,
        slice=check.slice,
        role=check.asked.role.value,
        rule=f"{check.asked.direction.value} {check.asked.boundary:g}",
        boundary=check.asked.boundary,
        value=None if found.value is None else _finite(found.value),
        low=None if interval is None else _finite(interval.low),
        high=None if interval is None else _finite(interval.high),
        confidence=confidence_for(check.asked.role, check.asked.alpha),
        interval_by=found.interval_by.value,
        lowest=found.lowest,
        highest=found.highest,
        ceiling=found.ceiling,
        coverage=found.coverage,
        queries=found.queries,
        clusters=found.clusters,
        sampled=found.positives,
        least_flips=None if flips is None else flips.reversal.least,
        most_flips=None if flips is None else flips.reversal.most,
        available=None if flips is None else flips.reversal.available,
        chance_of_flips=None if flips is None else flips.chance,
        no_chance=None if flips is None else flips.no_chance,
        answer=answer.answer,
        causes=tuple(cause.value for cause in answer.causes),
        why=advice.why,
        commands=advice.commands,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _agreement_of_people(connection: Connection, pool: str, as_of: int | None) -> float | None:
    """Give Krippendorff's alpha of people on relevant or not, or None where two never overlap."""
    try:
        report = report_agreement(connection, pool=pool, as_of=as_of)
    except NotFoundError:
        return None
    for group in report.groups:
        if group.group == PEOPLE:
            return group.alpha_relevance.value
    return None


def _pooled_depths(connection: Connection, evaluated: EvaluatedRuns) -> dict[str, int]:
    part = table(PoolRun)
    statement = sa.select(part.c.run_id, part.c.depth).where(part.c.pool_id == evaluated.pool_id)
    depths = {int(run): int(depth) for run, depth in connection.execute(statement)}
    return {name: depths.get(run.key, 0) for name, run in evaluated.runs.items()}


def _latencies(
    connection: Connection, evaluated: EvaluatedRuns, run: str, inside: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Give the latencies in milliseconds; a query that timed out took longer than any other."""
    asked = table(RunQuery)
    statement = sa.select(asked.c.query_id, asked.c.latency_ms, asked.c.timed_out).where(
        asked.c.run_id == evaluated.runs[run].key
    )
    wanted = set(evaluated.queries[inside].tolist())
    found = [
        math.inf if timed_out else float(latency)
        for query, latency, timed_out in connection.execute(statement)
        if query in wanted and (timed_out or latency is not None)
    ]
    return np.array(found, dtype=np.float64)
