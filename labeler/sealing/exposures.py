"""Exposures: which texts went to which generator, each record with the digest of the one before.

A record is written before a text is sent. So whoever holds the last digest can tell whether a
record was taken out or changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.splits import Exposure
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction

__all__ = ["NewExposure", "broken_exposures", "exposure_digest", "record_exposures"]

_EXPOSURE, _DOCUMENT = table(Exposure), table(Document)


@dataclass(frozen=True, slots=True)
class NewExposure:
    """A text that is about to be shown.

    Attributes:
        document_id: The document that it comes from.
        document: The document's id in the corpus.
        text_digest: The SHA-256 of the text.
        generator: Who is shown it: the assessor's name and the digest of its settings.
    """

    document_id: int
    document: str
    text_digest: str
    generator: str


def exposure_digest(previous: str | None, split_id: int, one: NewExposure) -> str:
    """Digest a record together with the digest of the one before it."""
    content = [previous, split_id, one.document, one.text_digest, one.generator]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def record_exposures(tx: WriteTransaction, split_id: int, shown: Sequence[NewExposure]) -> int:
    """Append the exposures that aren't on record yet, and tell how many.

    The same text is shown to the same generator once, however many requests hold it.
    """
    digests = sorted({one.text_digest for one in shown})
    statement = sa.select(
        _EXPOSURE.c.document_id, _EXPOSURE.c.text_digest, _EXPOSURE.c.generator
    ).where(
        _EXPOSURE.c.split_id == split_id,
        is_one_of(tx.connection, _EXPOSURE.c.text_digest, digests),
    )
    known = {tuple(row) for row in tx.connection.execute(statement)}
    last = sa.select(_EXPOSURE.c.digest).order_by(_EXPOSURE.c.id.desc()).limit(1)
    previous = tx.connection.execute(last).scalar()
    added = 0
    for one in shown:
        key = (one.document_id, one.text_digest, one.generator)
        if key in known:
            continue
        known.add(key)
        digest = exposure_digest(previous, split_id, one)
        tx.connection.execute(
            sa.insert(_EXPOSURE).values(
                split_id=split_id,
                document_id=one.document_id,
                text_digest=one.text_digest,
                generator=one.generator,
                previous_digest=previous,
                digest=digest,
                revision_id=tx.revision_id,
            )
        )
        previous = digest
        added += 1
    return added


def broken_exposures(connection: Connection) -> list[int]:
    """List the records whose digest isn't that of their content and the record before them."""
    statement = (
        sa.select(_EXPOSURE, _DOCUMENT.c.external_id)
        .join(_DOCUMENT, _DOCUMENT.c.id == _EXPOSURE.c.document_id)
        .order_by(_EXPOSURE.c.id)
    )
    broken: list[int] = []
    previous: str | None = None
    for row in connection.execute(statement):
        one = NewExposure(row.document_id, row.external_id, row.text_digest, row.generator)
        if row.previous_digest != previous or row.digest != exposure_digest(
            row.previous_digest, row.split_id, one
        ):
            broken.append(int(row.id))
        previous = row.digest
    return broken
