"""Texts, scales, rubrics, assessors and policies: found by their content, or appended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Table

from labeler.errors import NotFoundError
from labeler.labels import SHIPPED_SCALES, Grade, Level, Scale
from labeler.records import table
from labeler.records.corpus import IDS_ONLY, Snapshot
from labeler.records.pools import Pool
from labeler.records.project import Text
from labeler.records.scales import (
    Assessor,
    AssessorKind,
    Policy,
    RubricRecord,
    ScaleLevel,
    ScaleRecord,
)
from labeler.store.bulk import insert_rows, is_one_of
from labeler.store.database import WriteTransaction

__all__ = [
    "assessor_key",
    "policy_key",
    "pool_named",
    "rubric_key",
    "scale_key",
    "scale_of",
    "snapshots_by_name",
    "store_texts",
    "text_digest",
]

_TEXT, _SCALE, _LEVEL = table(Text), table(ScaleRecord), table(ScaleLevel)


def text_digest(body: str) -> str:
    """Digest a text: the SHA-256 of its UTF-8 form."""
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def store_texts(connection: Connection, bodies: Iterable[str]) -> dict[str, int]:
    """Store texts once each and give their keys, by the text itself."""
    by_digest = {text_digest(body): body for body in bodies}
    digests = list(by_digest)
    found: dict[str, int] = {}

    def find(wanted: list[str]) -> None:
        for start in range(0, len(wanted), 10_000):
            part = wanted[start : start + 10_000]
            statement = sa.select(_TEXT.c.digest, _TEXT.c.id).where(
                is_one_of(connection, _TEXT.c.digest, part)
            )
            found.update((str(digest), int(key)) for digest, key in connection.execute(statement))

    find(digests)
    missing = [digest for digest in digests if digest not in found]
    insert_rows(
        connection, _TEXT, ["digest", "body"], ((digest, by_digest[digest]) for digest in missing)
    )
    find(missing)
    return {body: found[digest] for digest, body in by_digest.items()}


def snapshots_by_name(connection: Connection) -> dict[str, int]:
    """Give the snapshots that may be meant where none is named, by name, oldest first.

    The empty one that ids stand on steps back as soon as there is another.
    """
    snapshot = table(Snapshot)
    rows = connection.execute(sa.select(snapshot.c.name, snapshot.c.id).order_by(snapshot.c.id))
    found = {str(name): int(key) for name, key in rows}
    real = {name: key for name, key in found.items() if name != IDS_ONLY}
    return real or found


def pool_named(connection: Connection, name: str) -> Any:
    """Find a pool's row by its name.

    Raises:
        NotFoundError: When there is none.
    """
    pool = table(Pool)
    row = connection.execute(sa.select(pool).where(pool.c.name == name)).first()
    if row is None:
        names = [str(one) for (one,) in connection.execute(sa.select(pool.c.name))]
        raise NotFoundError(
            f"there is no pool '{name}'",
            hint=f"there is {', '.join(names)}" if names else "`labeler pool create` makes one",
        )
    return row


def _one_key(tx: WriteTransaction, into: Table, key: dict[str, Any], more: dict[str, Any]) -> int:
    """Find one row by its natural key, or append it."""
    conditions = [into.c[name] == value for name, value in key.items()]
    found = tx.connection.execute(sa.select(into.c.id).where(*conditions)).scalar()
    if found is not None:
        return int(found)
    statement = sa.insert(into).values(**key, **more, revision_id=tx.revision_id)
    return int(tx.connection.execute(statement.returning(into.c.id)).scalar_one())


def scale_key(tx: WriteTransaction, scale: Scale) -> tuple[int, dict[int, int]]:
    """Store a scale with its levels; give its key and the keys of its levels by code."""
    scale_id = _one_key(tx, _SCALE, {"digest": scale.digest}, {"name": scale.name})
    levels = {
        level.code: _level_key(tx, scale_id, level)
        for level in sorted(scale.levels, key=lambda level: level.order)
    }
    return scale_id, levels


def _level_key(tx: WriteTransaction, scale_id: int, level: Level) -> int:
    key = [_LEVEL.c.scale_id == scale_id, _LEVEL.c.code == level.code]
    found = tx.connection.execute(sa.select(_LEVEL.c.id).where(*key)).scalar()
    if found is not None:
        return int(found)
    statement = sa.insert(_LEVEL).values(
        scale_id=scale_id,
        code=level.code,
        name=level.name,
        grade=level.grade.value,
        gain=level.gain,
        position=level.order,
    )
    return int(tx.connection.execute(statement.returning(_LEVEL.c.id)).scalar_one())


def scale_of(connection: Connection, scale_id: int) -> Scale:
    """Read a scale back.

    Raises:
        NotFoundError: When the project has no such scale.
    """
    found = connection.execute(sa.select(_SCALE).where(_SCALE.c.id == scale_id)).first()
    if found is None:
        raise NotFoundError(f"the project has no scale number {scale_id}")
    for shipped in SHIPPED_SCALES.values():
        if shipped.digest == found.digest:
            # With its spellings, which are no part of what is stored.
            return shipped
    rows = connection.execute(
        sa.select(_LEVEL).where(_LEVEL.c.scale_id == scale_id).order_by(_LEVEL.c.position)
    )
    return Scale(
        found.name,
        tuple(Level(row.code, row.name, Grade(row.grade), row.gain, row.position) for row in rows),
    )


def rubric_key(tx: WriteTransaction, *, name: str, digest: str, body: str, scale: Scale) -> int:
    """Store one version of a rubric and give its key."""
    scale_id, _ = scale_key(tx, scale)
    more = {"name": name, "scale_id": scale_id, "body": body}
    return _one_key(tx, table(RubricRecord), {"digest": digest}, more)


def assessor_key(tx: WriteTransaction, kind: AssessorKind, name: str, digest: str = "") -> int:
    """Store an assessor and give the key."""
    return _one_key(tx, table(Assessor), {"kind": kind.value, "name": name, "digest": digest}, {})


def policy_key(tx: WriteTransaction, *, name: str, digest: str, body: str) -> int:
    """Store a policy as it is applied and give its key."""
    return _one_key(tx, table(Policy), {"digest": digest}, {"name": name, "body": body})
