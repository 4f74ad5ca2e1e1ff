"""What is written down of providers' batches: before they are submitted, and as they go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.ledger import BatchState, Job, ProviderBatch, ProviderBatchLine
from labeler.store.bulk import insert_rows, is_one_of

__all__ = [
    "KnownBatch",
    "batches_under_way",
    "close_batch",
    "is_in_state",
    "lines_of",
    "lines_under_way",
    "note_submitted",
    "plan_batch",
]

_BATCH, _LINE, _JOB = table(ProviderBatch), table(ProviderBatchLine), table(Job)
_UNDER_WAY = (BatchState.PLANNED.value, BatchState.SUBMITTED.value)


@dataclass(frozen=True, slots=True)
class KnownBatch:
    """A batch that is planned or submitted.

    Attributes:
        id: Its key here.
        job_id: The job that it works for.
        key: What marks it at the provider.
        external_id: The provider's name for it; None while it isn't known to be submitted.
        total: How many lines it has.
        created_at: When it was planned.
    """

    id: int
    job_id: int
    key: str
    external_id: str | None
    total: int
    created_at: datetime


def plan_batch(
    connection: Connection,
    job_id: int,
    *,
    key: str,
    provider: str,
    endpoint: str | None,
    lines: Sequence[tuple[str, int]],
    at: datetime,
) -> KnownBatch:
    """Write down a batch that is about to be submitted.

    Args:
        connection: A write transaction's connection.
        job_id: The job that it works for.
        key: What will mark it at the provider; no other batch has it.
        provider: Who works on it.
        endpoint: The provider's address where it isn't the usual one.
        lines: The digest and the sample number of each request.
        at: The time.
    """
    statement = sa.insert(_BATCH).values(
        job_id=job_id,
        key=key,
        state=BatchState.PLANNED.value,
        provider=provider,
        endpoint=endpoint,
        total=len(lines),
        created_at=at,
        updated_at=at,
    )
    batch = int(connection.execute(statement.returning(_BATCH.c.id)).scalar_one())
    rows = ((batch, digest, sample) for digest, sample in lines)
    insert_rows(connection, _LINE, ("batch_id", "request_digest", "sample"), rows)
    return KnownBatch(batch, job_id, key, None, len(lines), at)


def batches_under_way(connection: Connection, job_digest: str) -> list[KnownBatch]:
    """Read a job's batches that are planned or submitted, oldest first."""
    statement = (
        sa.select(
            _BATCH.c.id,
            _BATCH.c.job_id,
            _BATCH.c.key,
            _BATCH.c.external_id,
            _BATCH.c.total,
            _BATCH.c.created_at,
        )
        .join(_JOB, _JOB.c.id == _BATCH.c.job_id)
        .where(_JOB.c.digest == job_digest, _BATCH.c.state.in_(_UNDER_WAY))
        .order_by(_BATCH.c.id)
    )
    return [KnownBatch(*row) for row in connection.execute(statement)]


def lines_under_way(connection: Connection, digests: Sequence[str]) -> frozenset[str]:
    """Tell which requests are lines of a batch that is planned or submitted, whatever its job."""
    under_way = sa.select(_BATCH.c.id).where(_BATCH.c.state.in_(_UNDER_WAY))
    keys = [int(key) for (key,) in connection.execute(under_way)]
    if not keys:
        return frozenset()
    statement = (
        sa.select(_LINE.c.request_digest)
        .where(_LINE.c.batch_id.in_(keys), is_one_of(connection, _LINE.c.request_digest, digests))
        .distinct()
    )
    return frozenset(str(digest) for (digest,) in connection.execute(statement))


def lines_of(connection: Connection, batch_id: int) -> list[tuple[str, int]]:
    """Read the digest and the sample number of each request of a batch, in this order."""
    statement = (
        sa.select(_LINE.c.request_digest, _LINE.c.sample)
        .where(_LINE.c.batch_id == batch_id)
        .order_by(_LINE.c.request_digest, _LINE.c.sample)
    )
    return [(str(digest), int(sample)) for digest, sample in connection.execute(statement)]


def is_in_state(connection: Connection, batch_id: int, state: BatchState) -> bool:
    """Tell whether a batch is still where this process left it, or another took it up."""
    statement = sa.select(_BATCH.c.state).where(_BATCH.c.id == batch_id)
    return bool(connection.execute(statement).scalar_one() == state.value)


def note_submitted(
    connection: Connection, batch_id: int, external_id: str, file_id: str | None, at: datetime
) -> None:
    """Write down the provider's name for a batch."""
    values = {
        "state": BatchState.SUBMITTED.value,
        "external_id": external_id,
        "file_id": file_id,
        "updated_at": at,
    }
    connection.execute(sa.update(_BATCH).where(_BATCH.c.id == batch_id).values(**values))


def close_batch(connection: Connection, batch_id: int, state: BatchState, at: datetime) -> None:
    """Write down that nothing more comes of a batch."""
    statement = sa.update(_BATCH).where(_BATCH.c.id == batch_id)
    connection.execute(statement.values(state=state.value, updated_at=at))
