"""Job, attempt, response: written for every HTTP request, read before another one is made."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.providers.chat import ChatRequest, Ended, Reply, Try
from labeler.providers.reading import UnreadableAnswer
from labeler.providers.validation import validated
from labeler.records import table
from labeler.records.ledger import Attempt, Job, JobState, Response
from labeler.records.project import Text
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.registry import store_texts

__all__ = [
    "KnownAnswer",
    "answers_to",
    "find_job",
    "job_digest",
    "job_key",
    "note_progress",
    "store_tries",
]

_ATTEMPT, _RESPONSE, _JOB, _TEXT = table(Attempt), table(Response), table(Job), table(Text)


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """An answer that the project has paid for before."""

    response_id: int
    raw: str
    logprobs: Mapping[str, float]

    def reply(self, request: ChatRequest) -> Reply | None:
        """Read it as the reply to its request; None when it can't be read any more."""
        try:
            fields = validated(self.raw, request.shape)
        except (UnreadableAnswer, ValueError):
            return None
        return Reply(Ended.ANSWERED, fields=fields, logprobs=self.logprobs)


def answers_to(connection: Connection, digests: Sequence[str]) -> dict[str, list[KnownAnswer]]:
    """Read the answers to requests, in the order in which they came.

    An answer whose text was erased keeps its place, so that samples keep their numbers, and reads
    as nothing.
    """
    statement = (
        sa.select(_ATTEMPT.c.request_digest, _RESPONSE.c.id, _RESPONSE.c.logprobs, _TEXT.c.body)
        .join(_RESPONSE, _RESPONSE.c.attempt_id == _ATTEMPT.c.id)
        .outerjoin(_TEXT, _TEXT.c.id == _RESPONSE.c.raw_id)
        .where(
            is_one_of(connection, _ATTEMPT.c.request_digest, digests),
            _ATTEMPT.c.outcome == Ended.ANSWERED.value,
        )
        .order_by(_ATTEMPT.c.id)
    )
    found: dict[str, list[KnownAnswer]] = defaultdict(list)
    for digest, response, logprobs, body in connection.execute(statement):
        values = json.loads(logprobs) if logprobs else {}
        found[digest].append(KnownAnswer(int(response), body or "", values))
    return found


def job_digest(*parts: str) -> str:
    """Digest what a job is about, so that it is found again."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def find_job(connection: Connection, digest: str) -> int | None:
    """Find a job by its digest; None where there is no such job."""
    found = connection.execute(sa.select(_JOB.c.id).where(_JOB.c.digest == digest)).scalar()
    return None if found is None else int(found)


def job_key(
    connection: Connection,
    *,
    kind: str,
    digest: str,
    pool_id: int | None,
    assessor_id: int | None,
    settings: Mapping[str, Any] | None = None,
    at: Any,
) -> int:
    """Find a job or begin it; a job that goes on keeps the settings that it was begun with."""
    found = find_job(connection, digest)
    if found is not None:
        return found
    statement = sa.insert(_JOB).values(
        kind=kind,
        digest=digest,
        state=JobState.RUNNING.value,
        pool_id=pool_id,
        assessor_id=assessor_id,
        total=0,
        done=0,
        failed=0,
        settings=None if settings is None else json.dumps(settings, sort_keys=True),
        started_at=at,
        updated_at=at,
    )
    return int(connection.execute(statement.returning(_JOB.c.id)).scalar_one())


def note_progress(
    connection: Connection,
    job_id: int,
    *,
    state: JobState,
    total: int,
    done: int,
    failed: int,
    at: Any,
) -> None:
    """Write down how far a job is."""
    values = {
        "state": state.value,
        "total": total,
        "done": done,
        "failed": failed,
        "updated_at": at,
    }
    connection.execute(sa.update(_JOB).where(_JOB.c.id == job_id).values(**values))


def store_tries(
    tx: WriteTransaction, job_id: int, tried: Sequence[tuple[str, Sequence[Try]]]
) -> list[int | None]:
    """Append the tries at some requests.

    Args:
        tx: The transaction.
        job_id: Their job.
        tried: The digest of each request, and its tries in order.

    Returns:
        For each request the key of its last response, or None when no model answered.
    """
    connection = tx.connection
    numbers = _next_numbers(connection, job_id, sorted({digest for digest, _ in tried}))
    rows, owners = [], []
    for place, (digest, tries) in enumerate(tried):
        for one in tries:
            rows.append(
                {
                    "job_id": job_id,
                    "request_digest": digest,
                    "number": numbers[digest],
                    "outcome": str(one.outcome),
                    "failure": one.failure,
                    "at": one.at,
                    "revision_id": tx.revision_id,
                }
            )
            owners.append((place, one))
            numbers[digest] += 1
    last: list[int | None] = [None] * len(tried)
    if not rows:
        return last
    attempts = _inserted(connection, _ATTEMPT, rows)
    answered = [
        (place, one, key)
        for (place, one), key in zip(owners, attempts, strict=True)
        if one.has_response
    ]
    texts = store_texts(connection, {one.raw for _, one, _ in answered if one.raw})
    responses = [_response_row(one, key, texts, tx.revision_id) for _, one, key in answered]
    if responses:
        keys = _inserted(connection, _RESPONSE, responses)
        for (place, _, _), key in zip(answered, keys, strict=True):
            last[place] = key
    return last


def _next_numbers(connection: Connection, job_id: int, digests: Sequence[str]) -> dict[str, int]:
    statement = (
        sa.select(_ATTEMPT.c.request_digest, sa.func.max(_ATTEMPT.c.number))
        .where(
            is_one_of(connection, _ATTEMPT.c.request_digest, digests),
            _ATTEMPT.c.job_id == job_id,
        )
        .group_by(_ATTEMPT.c.request_digest)
    )
    highest = {str(digest): int(number) for digest, number in connection.execute(statement)}
    return {digest: highest.get(digest, -1) + 1 for digest in digests}


def _inserted(connection: Connection, into: sa.Table, rows: list[dict[str, Any]]) -> list[int]:
    statement = sa.insert(into).returning(into.c.id, sort_by_parameter_order=True)
    return [int(key) for (key,) in connection.execute(statement, rows)]


def _response_row(
    one: Try, attempt_id: int, texts: Mapping[str, int], revision_id: int
) -> dict[str, Any]:
    return {
        "attempt_id": attempt_id,
        "number": 0,
        "model": one.model,
        "fingerprint": one.fingerprint,
        "prompt_tokens": one.prompt_tokens,
        "completion_tokens": one.completion_tokens,
        "cost": one.cost,
        "latency_ms": one.latency_ms,
        "finish_reason": one.finish_reason,
        "logprobs": json.dumps(dict(one.logprobs), sort_keys=True) if one.logprobs else None,
        "raw_id": texts.get(one.raw) if one.raw else None,
        "revision_id": revision_id,
    }
