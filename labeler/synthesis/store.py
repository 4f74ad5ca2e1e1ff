"""Storing questions with what was found about them, and reading them back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.questions import (
    FilterSettings,
    FindingOutcome,
    Quarantine,
    Question,
    QuestionDraw,
    QuestionFinding,
    QuestionSource,
)
from labeler.sealing.split_in_force import FrozenSplit
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.registry import store_texts
from labeler.synthesis.filters import GUARDS, Finding
from labeler.synthesis.frozen import SourceKeys, Withheld
from labeler.synthesis.pack import PackChunk
from labeler.synthesis.tasks import QuestionTask
from labeler.synthesis.thresholds import SHIPPED, Thresholds
from labeler.synthesis.windows import EvidenceWindow

__all__ = [
    "MadeQuestion",
    "asked_chunks",
    "draw_for_people",
    "is_drawn",
    "known_questions",
    "question_digest",
    "store_findings",
    "store_question",
    "store_thresholds",
    "store_withheld",
    "thresholds_in_force",
]

_QUESTION, _SOURCE = table(Question), table(QuestionSource)
_FINDING, _DRAW, _SETTINGS = table(QuestionFinding), table(QuestionDraw), table(FilterSettings)


@dataclass(frozen=True)
class MadeQuestion:
    """A question that is ready to be stored.

    Attributes:
        task: What was asked for.
        text: The question.
        answer: The words that answer it, or empty.
        windows: The evidence in each source.
        prompt_digest: The digest of the prompt.
        request_digest: The digest of the request as it was sent.
        response_id: The response that holds it.
        log_probability: The mean over its tokens, or None.
        window_similarity: As it was measured, or None.
        language: The language that it should be in, or empty.
        at: When it was made.
    """

    task: QuestionTask
    text: str
    answer: str
    windows: tuple[EvidenceWindow | None, ...]
    prompt_digest: str
    request_digest: str
    response_id: int | None
    log_probability: float | None
    window_similarity: float | None
    language: str
    at: datetime


def question_digest(split_id: int, request_digest: str) -> str:
    """Identify a question by its split and the request that gave it."""
    return hashlib.sha256(f"{split_id}\n{request_digest}".encode()).hexdigest()


def known_questions(
    connection: Connection, split_id: int, request_digests: Sequence[str]
) -> set[str]:
    """Tell which requests have a question in a split already."""
    statement = sa.select(_QUESTION.c.request_digest).where(
        _QUESTION.c.split_id == split_id,
        is_one_of(connection, _QUESTION.c.request_digest, list(request_digests)),
    )
    return {str(digest) for (digest,) in connection.execute(statement)}


def asked_chunks(connection: Connection, split_id: int, but_job: int | None) -> dict[int, int]:
    """Count the questions from each chunk, by its key; those of one job are left out."""
    statement = (
        sa.select(_SOURCE.c.chunk_id, sa.func.count())
        .join(_QUESTION, _QUESTION.c.id == _SOURCE.c.question_id)
        .where(_QUESTION.c.split_id == split_id)
        .group_by(_SOURCE.c.chunk_id)
    )
    if but_job is not None:
        statement = statement.where(_QUESTION.c.job_id != but_job)
    return {int(key): int(count) for key, count in connection.execute(statement)}


def store_question(
    tx: WriteTransaction,
    split: FrozenSplit,
    made: MadeQuestion,
    sources: Sequence[tuple[PackChunk, SourceKeys]],
    *,
    assessor_id: int,
    job_id: int,
) -> tuple[int, int]:
    """Append a question with its sources; give its key and that of its text.

    Args:
        tx: The transaction.
        split: The split.
        made: The question.
        sources: Its chunks, with their keys in the project.
        assessor_id: Its generator.
        job_id: The job.
    """
    first, keys = sources[0][0], [key for _, key in sources]
    bodies = [made.text, *([made.answer] if made.answer else [])]
    texts = store_texts(tx.connection, bodies)
    conditions = {
        name: value
        for name, value in (
            ("product", first.product),
            ("region", first.region),
            ("date", first.date),
        )
        if value and made.task.kind.value == "conditional"
    }
    statement = sa.insert(_QUESTION).values(
        digest=question_digest(split.id, made.request_digest),
        split_id=split.id,
        group_id=keys[0].group_id,
        part=first.part,
        kind=made.task.kind.value,
        text_id=texts[made.text],
        answer_id=texts[made.answer] if made.answer else None,
        domain=first.domain,
        language=made.language or None,
        persona=made.task.persona or None,
        conditions=json.dumps(conditions, ensure_ascii=False, sort_keys=True),
        assessor_id=assessor_id,
        job_id=job_id,
        response_id=made.response_id,
        prompt_digest=made.prompt_digest,
        request_digest=made.request_digest,
        sample=0,
        log_probability=made.log_probability,
        window_similarity=made.window_similarity,
        made_at=made.at,
        revision_id=tx.revision_id,
    )
    question_id = int(tx.connection.execute(statement.returning(_QUESTION.c.id)).scalar_one())
    windows = made.windows or (None,) * len(keys)
    for place, (key, window) in enumerate(zip(keys, windows, strict=True)):
        tx.connection.execute(
            sa.insert(_SOURCE).values(
                question_id=question_id,
                place=place,
                document_id=key.document_id,
                chunk_id=key.chunk_id,
                text_id=key.text_id,
                window_start=None if window is None else window.start,
                window_end=None if window is None else window.end,
            )
        )
    return question_id, texts[made.text]


def store_findings(
    tx: WriteTransaction, question_id: int, text_id: int, findings: Sequence[Finding]
) -> None:
    """Append what filters and tags found about one wording; what is known already stays."""
    known = {
        (str(name), str(digest))
        for name, digest in tx.connection.execute(
            sa.select(_FINDING.c.name, _FINDING.c.filter_digest).where(
                _FINDING.c.question_id == question_id, _FINDING.c.text_id == text_id
            )
        )
    }
    rows: list[dict[str, Any]] = [
        {
            "question_id": question_id,
            "text_id": text_id,
            "number": number,
            "name": one.name,
            "filter_digest": one.digest,
            "outcome": one.outcome.value,
            "score": one.score,
            "detail": one.detail,
            "revision_id": tx.revision_id,
        }
        for number, one in enumerate(findings)
        if (one.name, one.digest) not in known
    ]
    if rows:
        tx.connection.execute(sa.insert(_FINDING), rows)


def is_drawn(digest: str, share: float) -> bool:
    """Tell whether a question is drawn at a share: decided by its digest alone."""
    place = int(hashlib.sha256(f"people\n{digest}".encode()).hexdigest()[:13], 16) / 16**13
    return place < share


def draw_for_people(
    tx: WriteTransaction,
    question_id: int,
    digest: str,
    findings: Sequence[Finding],
    shares: Mapping[str, float],
) -> bool:
    """Draw a question for people, by its digest, and tell whether it was drawn.

    One that only quality filters turned down is drawn too, so that they can be refitted; one that
    a guard turned down never is, since nobody may take it.

    Args:
        tx: The transaction.
        question_id: The question.
        digest: Its digest; decides the draw.
        findings: What filters found.
        shares: The inclusion probability of the strata ``accepted`` and ``rejected``.
    """
    failed = {one.name for one in findings if one.outcome is FindingOutcome.FAILED}
    stratum = "rejected" if failed else "accepted"
    share = shares.get(stratum, 0.0)
    if failed & GUARDS or not is_drawn(digest, share):
        return False
    tx.connection.execute(
        sa.insert(_DRAW).values(
            question_id=question_id,
            stratum=stratum,
            probability=share,
            revision_id=tx.revision_id,
        )
    )
    return True


def store_withheld(tx: WriteTransaction, split_id: int, withheld: Sequence[Withheld]) -> int:
    """Append what is quarantined and isn't on record yet; tell how many that are."""
    quarantine = table(Quarantine)
    statement = sa.select(quarantine.c.kind, quarantine.c.name).where(
        quarantine.c.split_id == split_id
    )
    known = {tuple(row) for row in tx.connection.execute(statement)}
    fresh = [one for one in withheld if (one.kind, one.name) not in known]
    for one in fresh:
        tx.connection.execute(
            sa.insert(quarantine).values(
                split_id=split_id,
                kind=one.kind,
                name=one.name,
                hits=one.hits,
                revision_id=tx.revision_id,
            )
        )
    return len(fresh)


def thresholds_in_force(connection: Connection, generator: str) -> Thresholds:
    """Give the thresholds that were last put in force for a generator, else the shipped ones."""
    statement = (
        sa.select(_SETTINGS.c.body)
        .where(_SETTINGS.c.generator == generator)
        .order_by(_SETTINGS.c.id.desc())
        .limit(1)
    )
    body = connection.execute(statement).scalar()
    return SHIPPED if body is None else Thresholds.from_json(str(body))


def store_thresholds(
    tx: WriteTransaction, generator: str, thresholds: Thresholds, fit: Mapping[str, Any]
) -> None:
    """Put thresholds in force for a generator; the ones in force already are left as they are."""
    if thresholds_in_force(tx.connection, generator) == thresholds:
        return
    body = json.dumps({**json.loads(thresholds.to_json()), "fit": dict(fit)}, sort_keys=True)
    digest = hashlib.sha256(f"{tx.revision_id}\n{body}".encode()).hexdigest()
    tx.connection.execute(
        sa.insert(_SETTINGS).values(
            generator=generator, digest=digest, body=body, revision_id=tx.revision_id
        )
    )
