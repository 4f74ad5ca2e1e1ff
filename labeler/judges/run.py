"""A judge over a pool: block by block, each stored before the next, going on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind import Block
from labeler.assessment.reading import blocks_of
from labeler.assessment.verdict import CIRCULAR, NOT_SUSPICIOUS, Judge, Verdict
from labeler.labels import Outcome
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.ledger import Job, JobState
from labeler.records.pools import Candidate, PoolRun
from labeler.records.runs import Run
from labeler.records.scales import AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import judgments_in_force
from labeler.store.registry import assessor_key, pool_named, scale_key, store_texts

__all__ = [
    "JudgeReport",
    "PooledBlocks",
    "judge_pool",
    "models_of_runs",
    "read_pool_blocks",
    "shares_model",
]

_JUDGMENT, _JOB = table(Judgment), table(Job)
_SECONDS_BETWEEN_COMMITS = 2.0

Advance = Callable[[int, int], None]
"""Told how many items are done, of how many."""


@dataclass(frozen=True, slots=True)
class PooledBlocks:
    """A pool as judges are given it.

    Attributes:
        pool_id: The pool.
        digest: The pool's digest.
        blocks: One a query, items shuffled.
        unavailable: How many candidates can't be judged, since a text is missing.
        models: What the pooled runs name as their configuration, at any stage.
    """

    pool_id: int
    digest: str
    blocks: tuple[Block, ...]
    unavailable: int
    models: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What came of judging a pool.

    Attributes:
        items: Candidates with a text.
        known: Items that this judge, as it is now, had judged before.
        outcomes: The items judged now, by outcome.
        grades: The same, by grade.
        flagged: How many of them carry a suspicious sign: a flag that says something of the
            passage. That it was cut is none.
        circular: Whether a pooled run names a model that the judge rests on.
        unavailable: Candidates that can't be judged.
    """

    judge: str
    judge_digest: str
    items: int
    known: int
    outcomes: dict[str, int]
    grades: dict[str, int]
    flagged: int
    circular: Literal["circular", "independent"]
    unavailable: int

    @property
    def failed(self) -> int:
        """How many items ended in neither a level nor an abstention."""
        answered = (Outcome.JUDGED.value, Outcome.ABSTAINED.value)
        return sum(count for outcome, count in self.outcomes.items() if outcome not in answered)


def read_pool_blocks(connection: Connection, name: str) -> PooledBlocks:
    """Read a pool as blocks.

    Raises:
        NotFoundError: When there is no such pool.
    """
    candidate = table(Candidate)
    row = pool_named(connection, name)
    statement = sa.select(candidate.c.item_id).where(candidate.c.pool_id == row.id)
    items = [int(key) for (key,) in connection.execute(statement)]
    blocks = tuple(blocks_of(connection, items, seed=row.digest))
    available = sum(len(block.items) for block in blocks)
    models = models_of_runs(connection, row.id)
    return PooledBlocks(row.id, row.digest, blocks, len(items) - available, models)


def models_of_runs(connection: Connection, pool_id: int) -> frozenset[str]:
    """Name the models of a pool's runs, at any stage."""
    run, part = table(Run), table(PoolRun)
    columns = [run.c[f"{stage}_config"] for stage in ("retrieval", "reranking", "generation")]
    statement = (
        sa.select(*columns).join(part, part.c.run_id == run.c.id).where(part.c.pool_id == pool_id)
    )
    return frozenset(name for row in connection.execute(statement) for name in row if name)


def shares_model(
    models: AbstractSet[str], of_runs: AbstractSet[str]
) -> Literal["circular", "independent"]:
    """Tell whether a pooled run names a model of the judge in its configuration.

    Labels are then marked `circular`: the judge favours what that run finds.
    """
    shared = any(model.casefold() in name.casefold() for model in models for name in of_runs)
    return "circular" if shared else "independent"


def judge_pool(
    store: Store,
    pooled: PooledBlocks,
    judge: Judge,
    kind: AssessorKind,
    *,
    advance: Advance = lambda _done, _total: None,
    monotonic: Callable[[], float],
) -> JudgeReport:
    """Have every block judged that this judge hasn't judged yet.

    Answers are stored every two seconds; a run that is stopped at any point goes on where it
    stopped, and what was answered is never asked again.

    Args:
        store: The project.
        pooled: The pool's blocks.
        judge: The judge.
        kind: What sort of assessor it is.
        advance: Told the progress.
        monotonic: A clock for the time between two commits, in seconds.
    """
    total = sum(len(block.items) for block in pooled.blocks)
    with store.read() as connection:
        waiting = _unanswered(connection, pooled.blocks, judge)
    known = total - sum(len(block.items) for block, _ in waiting)
    counts: Counter[str] = Counter()
    grades: Counter[str] = Counter()
    flagged, done = 0, known
    circular = shares_model(judge.models, pooled.models)
    answered: list[tuple[Block, str, list[Verdict], datetime]] = []
    committed = monotonic()
    advance(done, total)
    try:
        for block, digest in waiting:
            verdicts = judge.judge(block)
            counts.update(verdict.outcome.value for verdict in verdicts)
            grades.update(verdict.level.grade.value for verdict in verdicts if verdict.level)
            flagged += sum(not NOT_SUSPICIOUS.issuperset(verdict.flags) for verdict in verdicts)
            if circular == "circular":
                verdicts = [replace(one, flags=(*one.flags, CIRCULAR)) for one in verdicts]
            answered.append((block, digest, verdicts, store.clock()))
            done += len(verdicts)
            advance(done, total)
            if monotonic() - committed >= _SECONDS_BETWEEN_COMMITS:
                _store(store, pooled, judge, kind, answered, (done, total))
                answered = []
                committed = monotonic()
    finally:
        # Also when a person stops the run: what was answered is kept.
        if answered:
            _store(store, pooled, judge, kind, answered, (done, total))
    return JudgeReport(
        judge=judge.name,
        judge_digest=judge.digest,
        items=total,
        known=known,
        outcomes=dict(counts),
        grades=dict(grades),
        flagged=flagged,
        circular=circular,
        unavailable=pooled.unavailable,
    )


def request_digest(block: Block, judge: Judge) -> str:
    """Identify what a judge is asked: its block, and all that decides its answers."""
    return hashlib.sha256(f"{block.digest}\n{judge.digest}".encode()).hexdigest()


def _unanswered(
    connection: Connection, blocks: Sequence[Block], judge: Judge
) -> list[tuple[Block, str]]:
    digests = [request_digest(block, judge) for block in blocks]
    statement = sa.select(_JUDGMENT.c.request_digest, _JUDGMENT.c.item_id).where(
        is_one_of(connection, _JUDGMENT.c.request_digest, digests), judgments_in_force()
    )
    answered = {(str(digest), int(item)) for digest, item in connection.execute(statement)}
    return [
        (block, digest)
        for block, digest in zip(blocks, digests, strict=True)
        if any((digest, item.item_id) not in answered for item in block.items)
    ]


def _store(
    store: Store,
    pooled: PooledBlocks,
    judge: Judge,
    kind: AssessorKind,
    answered: Sequence[tuple[Block, str, list[Verdict], datetime]],
    progress: tuple[int, int],
) -> None:
    with store.write(f"judge run {judge.name}") as tx:
        assessor = assessor_key(tx, kind, judge.name, judge.digest)
        rows: list[dict[str, Any]] = []
        for block, digest, verdicts, at in answered:
            sample = _next_sample(tx, digest, assessor)
            _, levels = scale_key(tx, block.rubric.scale)
            texts = store_texts(
                tx.connection,
                {text for verdict in verdicts for text in (verdict.quote, verdict.reason) if text},
            )
            rows += [
                {
                    "item_id": verdict.item_id,
                    "assessor_id": assessor,
                    "outcome": verdict.outcome.value,
                    "level_id": None if verdict.level is None else levels[verdict.level.code],
                    "confidence": verdict.confidence,
                    "calibration": verdict.calibrated,
                    "probabilities": _json(
                        {grade.value: p for grade, p in verdict.probabilities.items()}
                    ),
                    "signals": _json(dict(verdict.signals)),
                    "flags": _json(list(verdict.flags)),
                    "quote_id": texts.get(verdict.quote),
                    "reason_id": texts.get(verdict.reason),
                    "request_digest": digest,
                    "sample": sample,
                    "occasion": Occasion.FIRST.value,
                    "judged_at": at,
                    "revision_id": tx.revision_id,
                }
                for verdict in verdicts
            ]
        tx.connection.execute(sa.insert(_JUDGMENT), rows)
        _record_job(tx, pooled, judge, assessor, progress)


def _next_sample(tx: WriteTransaction, digest: str, assessor: int) -> int:
    """Number a block's answers: withdrawn ones keep their number, and the new ones the next."""
    statement = sa.select(sa.func.max(_JUDGMENT.c.sample)).where(
        _JUDGMENT.c.request_digest == digest, _JUDGMENT.c.assessor_id == assessor
    )
    highest = tx.connection.execute(statement).scalar()
    return 0 if highest is None else int(highest) + 1


def _record_job(
    tx: WriteTransaction,
    pooled: PooledBlocks,
    judge: Judge,
    assessor: int,
    progress: tuple[int, int],
) -> None:
    done, total = progress
    digest = hashlib.sha256(f"{pooled.digest}\n{judge.digest}".encode()).hexdigest()
    values = {
        "state": (JobState.DONE if done == total else JobState.RUNNING).value,
        "total": total,
        "done": done,
        "updated_at": tx.clock(),
    }
    changed = tx.connection.execute(sa.update(_JOB).where(_JOB.c.digest == digest).values(**values))
    if not changed.rowcount:
        statement = sa.insert(_JOB).values(
            kind="judge",
            digest=digest,
            pool_id=pooled.pool_id,
            assessor_id=assessor,
            failed=0,
            started_at=values["updated_at"],
            **values,
        )
        tx.connection.execute(statement)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
