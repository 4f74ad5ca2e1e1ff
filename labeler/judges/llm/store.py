"""Storing what a language model answered: attempts, responses and judgments in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from labeler.assessment.verdict import CIRCULAR, Verdict
from labeler.judges.llm.judge import LlmJudge, Question
from labeler.judges.llm.pool import PoolToJudge
from labeler.judges.llm.report import CLOSED, LlmReport
from labeler.providers.chat import Try
from labeler.providers.ledger import answers_to, job_digest, job_key, note_progress, store_tries
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.ledger import Job, JobState
from labeler.records.scales import AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import assessor_key, scale_key, store_texts

__all__ = [
    "Answered",
    "JobProgress",
    "judge_job",
    "judge_job_digest",
    "note_end",
    "store_answers",
]


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer on one item, ready to be stored.

    Attributes:
        question: What was asked.
        verdict: What came of it.
        sample: The number of the answer among the item's.
        place: Which answered attempt at the request it is, counted from 0.
        at: When it was answered.
    """

    question: Question
    verdict: Verdict
    sample: int
    place: int
    at: datetime


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is, in items."""

    state: JobState
    total: int
    done: int
    failed: int

    @classmethod
    def of(cls, report: LlmReport, pool: PoolToJudge, state: JobState) -> JobProgress:
        """Tell it from a run's counts: done is what has an answer, failed what has none."""
        lost = sum(report.lost.values())
        # At the end it is known how many of the items can be judged.
        total = report.items if state is JobState.DONE else len(pool.items)
        return cls(state, total, report.finished - lost - report.waiting, lost)


def judge_job_digest(pool: PoolToJudge, judge: LlmJudge) -> str:
    """Identify the job of judging a pool by a judge, whatever examples it was begun with."""
    settings = json.dumps(judge.settings, sort_keys=True)
    occasion = [] if judge.occasion == 1 else [f"occasion {judge.occasion}"]
    return job_digest("judge", pool.digest, settings, *occasion)


def judge_job(tx: WriteTransaction, pool: PoolToJudge, judge: LlmJudge) -> tuple[int, int]:
    """Give the keys of the assessor and of its job, making them where they aren't there."""
    assessor = assessor_key(tx, AssessorKind.LLM, judge.name, judge.digest)
    job = job_key(
        tx.connection,
        kind="judge",
        digest=judge_job_digest(pool, judge),
        pool_id=pool.pool_id,
        assessor_id=assessor,
        settings={**judge.settings, "examples": [one.item_id for one in judge.examples]},
        at=tx.clock(),
    )
    return assessor, job


def store_answers(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    tried: Sequence[tuple[str, Sequence[Try]]],
    answers: Sequence[Answered],
    *,
    progress: JobProgress | None,
    circular: bool,
) -> None:
    """Append answers, all or none of them.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        tried: Each request that was sent since the last call: its digest and its tries.
        answers: What was answered about items since then.
        progress: How far the job is; None where another process tells.
        circular: Whether the judge shares a model with a pooled run.
    """
    with store.write(f"judge run {pool.name} --judge {judge.name}") as tx:
        assessor, job = judge_job(tx, pool, judge)
        store_tries(tx, job, tried)
        _store_judgments(tx, judge, assessor, answers, circular=circular)
        if progress is not None:
            note_progress(
                tx.connection,
                job,
                state=progress.state,
                total=progress.total,
                done=progress.done,
                failed=progress.failed,
                at=tx.clock(),
            )


def note_end(
    store: Store, pool: PoolToJudge, judge: LlmJudge, report: LlmReport, state: JobState
) -> None:
    """Write down how a run ended, where its job was begun and that isn't written already."""
    progress = JobProgress.of(report, pool, state)
    job = table(Job)
    columns = (job.c.id, job.c.state, job.c.total, job.c.done, job.c.failed)
    statement = sa.select(*columns).where(job.c.digest == judge_job_digest(pool, judge))
    with store.read() as connection:
        row = connection.execute(statement).first()
    if row is None or tuple(row[1:]) == astuple(progress):
        return
    with store.work() as connection:
        note_progress(connection, int(row.id), **asdict(progress), at=store.clock())


def _store_judgments(
    tx: WriteTransaction,
    judge: LlmJudge,
    assessor: int,
    answers: Sequence[Answered],
    *,
    circular: bool,
) -> None:
    if not answers:
        return
    # Two items with the same text share one request, so the response is looked up by what was
    # asked, at the place that the answer has among those to the same request.
    responses = answers_to(
        tx.connection, sorted({one.question.requests[0].digest for one in answers})
    )
    texts = store_texts(
        tx.connection,
        {text for one in answers for text in (one.verdict.quote, one.verdict.reason) if text},
    )
    levels = {
        rubric.scale.digest: scale_key(tx, rubric.scale)[1]
        for rubric in {one.question.rubric.digest: one.question.rubric for one in answers}.values()
    }
    occasion = _occasion(judge)
    there = _judged_meanwhile(tx, assessor, answers, occasion)
    rows = []
    for one in answers:
        if (one.question.item.item_id, one.question.digest, one.sample) in there:
            continue
        verdict = one.verdict
        known = responses.get(one.question.requests[0].digest, [])
        is_closed = verdict.outcome in CLOSED
        if not is_closed and occasion is Occasion.SENTINEL:
            continue  # It stays an attempt, and the item is asked about again.
        response = known[one.place].response_id if is_closed and one.place < len(known) else None
        level_ids = levels[one.question.rubric.scale.digest]
        flagged = replace(verdict, flags=(*verdict.flags, CIRCULAR)) if circular else verdict
        row = _row(tx, one, flagged, assessor, level_ids, texts, response)
        rows.append(row | {"occasion": occasion.value})
    if rows:
        tx.connection.execute(sa.insert(table(Judgment)), rows)


def _occasion(judge: LlmJudge) -> Occasion:
    return Occasion.FIRST if judge.occasion == 1 else Occasion.SENTINEL


def _judged_meanwhile(
    tx: WriteTransaction, assessor: int, answers: Sequence[Answered], occasion: Occasion
) -> set[tuple[int, str, int]]:
    """Tell what another run of the same judge has stored since this one looked."""
    judgment = table(Judgment)
    columns = (judgment.c.item_id, judgment.c.request_digest, judgment.c.sample)
    statement = sa.select(*columns).where(
        is_one_of(
            tx.connection,
            judgment.c.request_digest,
            sorted({one.question.digest for one in answers}),
        ),
        judgment.c.assessor_id == assessor,
        judgment.c.occasion == occasion.value,
    )
    return {(int(i), str(d), int(s)) for i, d, s in tx.connection.execute(statement)}


def _row(
    tx: WriteTransaction,
    answer: Answered,
    verdict: Verdict,
    assessor: int,
    levels: dict[int, int],
    texts: dict[str, int],
    response: int | None,
) -> dict[str, Any]:
    probabilities = {grade.value: p for grade, p in verdict.probabilities.items()}
    return {
        "item_id": verdict.item_id,
        "assessor_id": assessor,
        "outcome": verdict.outcome.value,
        "level_id": None if verdict.level is None else levels[verdict.level.code],
        "confidence": verdict.confidence,
        "calibration": verdict.calibrated,
        "probabilities": json.dumps(probabilities, sort_keys=True),
        "signals": json.dumps(dict(verdict.signals), sort_keys=True, allow_nan=False),
        "flags": json.dumps(list(verdict.flags)),
        "quote_id": texts.get(verdict.quote),
        "reason_id": texts.get(verdict.reason),
        "response_id": response,
        "request_digest": answer.question.digest,
        "sample": answer.sample,
        "judged_at": answer.at,
        "revision_id": tx.revision_id,
    }
