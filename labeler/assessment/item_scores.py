"""The scores of a pool's items: written by a fit of the label model, read by whoever routes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.records import table
from labeler.records.scores import Calibration, ScoreVersion
from labeler.store.database import WriteTransaction

__all__ = ["ItemScores", "add_scores", "latest_scores", "scores_by_digest"]

_VERSION = table(ScoreVersion)
_GRADES = 3


@dataclass(frozen=True, eq=False)
class ItemScores:
    """One score version: the probability of each grade for every item of a pool.

    Attributes:
        name: What the fit is called.
        calibration: Whether it was fitted on enough human labels.
        model: Canonical JSON of the fit.
        labels: Human labels that it was fitted on.
        queries: Queries that they belong to.
        item_ids: Shape (items,), ascending.
        probabilities: Shape (items, 3), worst grade first; each row adds to 1.
        digest: Names the version; the SHA-256 of all the above.
    """

    name: str
    calibration: Calibration
    model: str
    labels: int
    queries: int
    item_ids: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.probabilities.shape != (len(self.item_ids), _GRADES):
            raise UsageError(
                f"{len(self.item_ids)} items and probabilities of {self.probabilities.shape}"
            )
        if (np.diff(self.item_ids) <= 0).any():
            raise UsageError("the items of a score version are ascending, and each comes once")

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that the version holds."""
        parts = (self.name, self.calibration.value, self.model, f"{self.labels} {self.queries}")
        content = hashlib.sha256("\n".join(parts).encode("utf-8"))
        content.update(_bytes(self.item_ids, "<i8"))
        content.update(_bytes(self.probabilities, "<f8"))
        return content.hexdigest()

    @property
    def is_calibrated(self) -> bool:
        """Whether enough human labels stand behind the probabilities."""
        return self.calibration is Calibration.CALIBRATED

    def expected_right(self, items: Collection[int]) -> float | None:
        """Give the mean probability of the most probable grade over some items, in [1/3, 1].

        Items that have no scores are left out; None where none of them has.
        """
        chosen = np.isin(self.item_ids, np.fromiter(items, dtype=np.int64))
        return float(self.probabilities[chosen].max(axis=1).mean()) if chosen.any() else None

    def by_item(self) -> dict[int, tuple[float, float, float]]:
        """Give the probabilities of each item, worst grade first."""
        rows = zip(self.item_ids.tolist(), self.probabilities.tolist(), strict=True)
        return {item: (row[0], row[1], row[2]) for item, row in rows}


def add_scores(tx: WriteTransaction, pool_id: int, scores: ItemScores) -> int:
    """Append a score version, unless the very same one is there, and give its key."""
    found = tx.connection.execute(
        sa.select(_VERSION.c.id).where(_VERSION.c.digest == scores.digest)
    ).scalar()
    if found is not None:
        return int(found)
    statement = sa.insert(_VERSION).values(
        pool_id=pool_id,
        name=scores.name,
        digest=scores.digest,
        calibration=scores.calibration,
        model=scores.model,
        labels=scores.labels,
        queries=scores.queries,
        item_ids=_bytes(scores.item_ids, "<i8"),
        probabilities=_bytes(scores.probabilities, "<f8"),
        revision_id=tx.revision_id,
    )
    return int(tx.connection.execute(statement.returning(_VERSION.c.id)).scalar_one())


def latest_scores(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> ItemScores | None:
    """Read the latest score version of a pool, or None when there is none.

    Args:
        connection: An open connection.
        pool_id: The pool.
        as_of: The latest one of this revision or before; of all by default.
    """
    where = [_VERSION.c.pool_id == pool_id]
    if as_of is not None:
        where.append(_VERSION.c.revision_id <= as_of)
    return _read(connection, where)


def scores_by_digest(connection: Connection, digest: str) -> ItemScores | None:
    """Read the score version with a digest, or None when there is none."""
    return _read(connection, [_VERSION.c.digest == digest])


def _read(connection: Connection, where: list[sa.ColumnElement[bool]]) -> ItemScores | None:
    statement = sa.select(_VERSION).where(*where).order_by(_VERSION.c.id.desc()).limit(1)
    row = connection.execute(statement).first()
    if row is None:
        return None
    return ItemScores(
        name=row.name,
        calibration=Calibration(row.calibration),
        model=row.model,
        labels=row.labels,
        queries=row.queries,
        item_ids=np.frombuffer(row.item_ids, dtype="<i8").astype(np.int64),
        probabilities=np.frombuffer(row.probabilities, dtype="<f8")
        .astype(np.float64)
        .reshape(-1, _GRADES),
    )


def _bytes(values: NDArray[np.int64] | NDArray[np.float64], kind: str) -> bytes:
    return np.ascontiguousarray(values, dtype=kind).tobytes()
