"""What requests to models took, by the ledger: requests, tokens, money, time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.providers.chat import Ended
from labeler.providers.failures import FAILURES, failure_name
from labeler.records import table
from labeler.records.ledger import Attempt, Job, Response
from labeler.records.pools import Pool
from labeler.records.scales import Assessor
from labeler.reports.number_rows import read_numbers
from labeler.store.bulk import is_one_of
from labeler.store.registry import pool_named

__all__ = [
    "Cost",
    "CostReport",
    "JobCosts",
    "ModelCosts",
    "Spent",
    "costs_by_judge",
    "report_costs",
]

_JOB, _ATTEMPT, _RESPONSE = table(Job), table(Attempt), table(Response)
_BILLED = frozenset(kind.name for kind in FAILURES if kind.may_be_billed)
_FAILED = (Ended.REFUSED.value, Ended.TRUNCATED.value, Ended.FAILED.value)
_UNUSABLE = "unusable_answer"
"""Names the failure of a last answer that doesn't fit the schema; nothing more is stored of it."""
_BEGINNING = 120
"""Characters of a failure that are read: its name stands first."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What responses cost.

    Attributes:
        known: US dollars, of the responses whose cost is known; None when it is of none of them.
        unknown: Responses whose cost is unknown.
    """

    known: float | None
    unknown: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What some requests took.

    Attributes:
        requests: HTTP requests, and lines of provider batches.
        answers: Those answered with an answer that can be used.
        reasked: Those whose answer couldn't be used, so that the model was asked again.
        failures: The others, by what they ended in: ``refused``, ``truncated``, ``failed``.
        failed_for: The same by the name of the failure, most frequent first.
        perhaps_billed: Those among them without a response which the provider may charge all the
            same, such as a timeout: no cost is known of them.
        prompt_tokens: As the providers counted.
        completion_tokens: As the providers counted.
        without_tokens: Responses of which no provider told the tokens.
        cost: In US dollars, of every response, used or not.
        median_ms: The median time of a response in milliseconds, or None.
        p95_ms: The time below which 95 of 100 responses lie, or None.
        first: When the first request was sent, in UTC.
        last: When the last one was.
    """

    requests: int
    answers: int
    reasked: int
    failures: Mapping[str, int]
    failed_for: Mapping[str, int]
    perhaps_billed: int
    prompt_tokens: int
    completion_tokens: int
    without_tokens: int
    cost: Cost
    median_ms: float | None
    p95_ms: float | None
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class JobCosts:
    """What one job took.

    Attributes:
        kind: What sort of job it is, such as ``judge``.
        pool: The pool, or None when it is about none.
        judge: The judge, or None when it is nobody's.
        digest: The judge's digest, or None.
        model: The model that was asked.
        answered_by: The models that answered, as the provider names them.
        spent: What it took.
    """

    kind: str
    pool: str | None
    judge: str | None
    digest: str | None
    model: str
    answered_by: tuple[str, ...]
    spent: Spent


@dataclass(frozen=True, slots=True)
class ModelCosts:
    """What one model took, over all jobs; see `JobCosts`."""

    model: str
    answered_by: tuple[str, ...]
    spent: Spent


@dataclass(frozen=True, slots=True)
class CostReport:
    """What requests took.

    Attributes:
        pool: The pool that is meant, or None for all jobs.
        jobs: Job by job, in the order in which they were begun.
        models: Model by model, by name.
        total: All of them.
    """

    pool: str | None
    jobs: tuple[JobCosts, ...]
    models: tuple[ModelCosts, ...]
    total: Spent


@dataclass
class _Tally:
    """Sums while they grow; two of them add up."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failed_for: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    models: set[str] = field(default_factory=set)
    times: list[datetime] = field(default_factory=list)
    latencies: list[NDArray[np.float64]] = field(default_factory=list)

    def spent(self) -> Spent:
        responses, priced = self.sums["responses"], self.sums["priced"]
        answers = self.outcomes[Ended.ANSWERED.value]
        latencies = np.concatenate(self.latencies) if self.latencies else np.empty(0)
        middle, high = np.percentile(latencies, [50, 95]) if latencies.size else (None, None)
        return Spent(
            requests=self.outcomes.total(),
            answers=answers,
            reasked=self.outcomes["reasked"],
            failures={name: self.outcomes[name] for name in _FAILED if self.outcomes[name]},
            failed_for=dict(self.failed_for.most_common()),
            perhaps_billed=sum(self.failed_for[name] for name in _BILLED),
            prompt_tokens=self.sums["prompt_tokens"],
            completion_tokens=self.sums["completion_tokens"],
            without_tokens=responses - self.sums["counted"],
            cost=Cost(None if responses and not priced else self.cost, responses - priced),
            median_ms=None if middle is None else float(middle),
            p95_ms=None if high is None else float(high),
            first=min(self.times).isoformat(timespec="seconds") if self.times else None,
            last=max(self.times).isoformat(timespec="seconds") if self.times else None,
        )


def _added(tallies: Iterable[_Tally]) -> _Tally:
    whole = _Tally()
    for one in tallies:
        whole.outcomes += one.outcomes
        whole.failed_for += one.failed_for
        whole.sums += one.sums
        whole.cost += one.cost
        whole.models |= one.models
        whole.times += one.times
        whole.latencies += one.latencies
    return whole


def report_costs(connection: Connection, pool: str | None = None) -> CostReport:
    """Tell what requests to models took, of one pool's jobs or of all; jobs that made none aside.

    Args:
        connection: A transaction's connection.
        pool: The pool's name.

    Raises:
        NotFoundError: When there is no such pool.
    """
    pools, assessor = table(Pool), table(Assessor)
    statement = (
        sa.select(
            _JOB.c.id,
            _JOB.c.kind,
            _JOB.c.settings,
            pools.c.name,
            assessor.c.name,
            assessor.c.digest,
        )
        .outerjoin(pools, pools.c.id == _JOB.c.pool_id)
        .outerjoin(assessor, assessor.c.id == _JOB.c.assessor_id)
        .order_by(_JOB.c.id)
    )
    if pool is not None:
        statement = statement.where(_JOB.c.pool_id == pool_named(connection, pool).id)
    described = connection.execute(statement).all()
    tallies = _tallies(connection, [row[0] for row in described])
    jobs: list[JobCosts] = []
    by_model: dict[str, list[_Tally]] = defaultdict(list)
    for key, kind, settings, in_pool, judge, digest in described:
        if key not in tallies:
            continue
        tally = tallies[key]
        model = _model(settings, tally)
        by_model[model].append(tally)
        answered_by = tuple(sorted(tally.models))
        jobs.append(JobCosts(kind, in_pool, judge, digest, model, answered_by, tally.spent()))
    models = {name: _added(parts) for name, parts in sorted(by_model.items())}
    return CostReport(
        pool=pool,
        jobs=tuple(jobs),
        models=tuple(
            ModelCosts(name, tuple(sorted(tally.models)), tally.spent())
            for name, tally in models.items()
        ),
        total=_added(models.values()).spent(),
    )


def costs_by_judge(connection: Connection) -> dict[int, Cost]:
    """Tell what the responses to each assessor's requests cost."""
    statement = (
        sa.select(
            _JOB.c.assessor_id,
            sa.func.sum(_RESPONSE.c.cost),
            sa.func.count(_RESPONSE.c.id) - sa.func.count(_RESPONSE.c.cost),
        )
        .join(_ATTEMPT, _ATTEMPT.c.job_id == _JOB.c.id)
        .join(_RESPONSE, _RESPONSE.c.attempt_id == _ATTEMPT.c.id)
        .where(_JOB.c.assessor_id.is_not(None))
        .group_by(_JOB.c.assessor_id)
    )
    return {key: Cost(known, unknown) for key, known, unknown in connection.execute(statement)}


def _model(settings: str | None, tally: _Tally) -> str:
    """Name the model that a job asked; where its settings don't say, those that answered."""
    asked = json.loads(settings).get("model") if settings else None
    return str(asked or ", ".join(sorted(tally.models)) or "unknown")


def _tallies(connection: Connection, jobs: Sequence[int]) -> dict[int, _Tally]:
    """Sum up the attempts and responses of some jobs; a job without any is left out."""
    tallies: dict[int, _Tally] = defaultdict(_Tally)
    columns = (_RESPONSE.c.prompt_tokens, _RESPONSE.c.completion_tokens, _RESPONSE.c.cost)
    statement = (
        sa.select(
            _ATTEMPT.c.job_id,
            _ATTEMPT.c.outcome,
            _RESPONSE.c.model,
            sa.func.count(),
            sa.func.min(_ATTEMPT.c.at),
            sa.func.max(_ATTEMPT.c.at),
            sa.func.count(_RESPONSE.c.id),
            *(function(column) for column in columns for function in (sa.func.sum, sa.func.count)),
        )
        .outerjoin(_RESPONSE, _RESPONSE.c.attempt_id == _ATTEMPT.c.id)
        .where(is_one_of(connection, _ATTEMPT.c.job_id, jobs))
        .group_by(_ATTEMPT.c.job_id, _ATTEMPT.c.outcome, _RESPONSE.c.model)
    )
    for job, outcome, model, count, first, last, responses, *rest in connection.execute(statement):
        prompt, counted, completion, _, cost, priced = rest
        tally = tallies[job]
        tally.outcomes[outcome] += count
        tally.times += [first, last]
        tally.models |= {model} if model else set()
        tally.cost += cost or 0.0
        tally.sums.update(
            responses=responses,
            prompt_tokens=prompt or 0,
            completion_tokens=completion or 0,
            counted=counted,
            priced=priced,
        )
    _add_failures(connection, tallies)
    _add_latencies(connection, tallies)
    return tallies


def _add_failures(connection: Connection, tallies: Mapping[int, _Tally]) -> None:
    said = sa.func.substr(_ATTEMPT.c.failure, 1, _BEGINNING)
    statement = (
        sa.select(_ATTEMPT.c.job_id, said, sa.func.count())
        .where(
            is_one_of(connection, _ATTEMPT.c.job_id, list(tallies)),
            _ATTEMPT.c.outcome.in_(_FAILED),
        )
        .group_by(_ATTEMPT.c.job_id, said)
    )
    for job, failure, count in connection.execute(statement):
        tallies[job].failed_for[failure_name(failure) if failure else _UNUSABLE] += count


def _add_latencies(connection: Connection, tallies: Mapping[int, _Tally]) -> None:
    """Read every latency: no percentile can be had of sums, nor of all databases."""
    statement = (
        sa.select(_ATTEMPT.c.job_id, _RESPONSE.c.latency_ms)
        .join(_RESPONSE, _RESPONSE.c.attempt_id == _ATTEMPT.c.id)
        .where(
            is_one_of(connection, _ATTEMPT.c.job_id, list(tallies)),
            _RESPONSE.c.latency_ms.is_not(None),
        )
    )
    rows = read_numbers(connection, statement, np.float64)
    for job in np.unique(rows[:, 0]):
        tallies[int(job)].latencies.append(rows[rows[:, 0] == job, 1])
