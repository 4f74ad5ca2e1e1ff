"""Samples as they are stored: the design, the strata by phase, what was drawn."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import ConflictError, NotFoundError
from labeler.labels import Grade
from labeler.records import table
from labeler.records.pools import Pool
from labeler.records.sampling import Draw, Frame, FrameItem, SampleDesign, Stratum
from labeler.sampling.population import Comparison
from labeler.store.database import WriteTransaction

__all__ = [
    "OUTSIDE",
    "Design",
    "StoredSample",
    "StoredStratum",
    "add_design",
    "read_sample",
    "sample_names",
]

OUTSIDE = "outside"
"""The kind of a sample of pairs that no pool holds."""

_DESIGN, _FRAME, _STRATUM = table(SampleDesign), table(Frame), table(Stratum)
_PART, _DRAW = table(FrameItem), table(Draw)


@dataclass(frozen=True, slots=True)
class Design:
    """What a sample is to tell, and what its strata are.

    Attributes:
        kind: ``pool`` for a pool's unknown items, ``outside`` for pairs that it doesn't hold.
        comparison: The pool, the runs and k.
        queries: Queries of the pool.
        retrieved: The runs that have a stratum's items in their top k, by the stratum's name.
        rates: The share of relevant items that was expected, likewise.
        worth: What allocation took a relevant item to be worth, likewise.
        least_variance: What allocation assumed at the least.
    """

    kind: str
    comparison: Comparison
    queries: int
    retrieved: Mapping[str, tuple[str, ...]]
    rates: Mapping[str, float]
    worth: Mapping[str, float]
    least_variance: float

    def to_json(self) -> str:
        """Write it canonically."""
        return json.dumps(
            {
                "kind": self.kind,
                "pool": self.comparison.pool,
                "runs": list(self.comparison.runs),
                "k": self.comparison.k,
                "least": self.comparison.least.value,
                "queries": self.queries,
                "retrieved": {name: list(runs) for name, runs in self.retrieved.items()},
                "rates": dict(self.rates),
                "worth": dict(self.worth),
                "least_variance": self.least_variance,
            },
            sort_keys=True,
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, body: str) -> Design:
        """Read what `to_json` wrote."""
        read: dict[str, Any] = json.loads(body)
        return cls(
            read["kind"],
            Comparison(read["pool"], tuple(read["runs"]), read["k"], Grade(read["least"])),
            read["queries"],
            {name: tuple(runs) for name, runs in read["retrieved"].items()},
            read["rates"],
            read["worth"],
            read["least_variance"],
        )


@dataclass(frozen=True, slots=True)
class StoredStratum:
    """A stratum with all of its draws.

    Attributes:
        name: What is in it.
        size: Its items before the first draw.
        items: Its items; of a sample outside the pool, those drawn.
        drawn: What was drawn, by phase.
    """

    name: str
    size: int
    items: tuple[int, ...]
    drawn: Mapping[int, tuple[int, ...]]

    @property
    def all_drawn(self) -> tuple[int, ...]:
        """What was drawn in all phases."""
        return tuple(item for phase in sorted(self.drawn) for item in self.drawn[phase])


@dataclass(frozen=True, slots=True)
class StoredSample:
    """A sample.

    Attributes:
        name: Its name.
        frame_id: Its frame's key.
        frame: The frame in words.
        digest: The frame's digest.
        pool_id: The pool's key.
        seed: The seed of its draws.
        score_version: The scores that strata are made of, or None.
        design: What it is to tell.
        strata: Its strata, by name.
        phases: The revision of each phase's draw, from phase 1 on.
    """

    name: str
    frame_id: int
    frame: str
    digest: str
    pool_id: int
    seed: str
    score_version: str | None
    design: Design
    strata: tuple[StoredStratum, ...]
    phases: Mapping[int, int]


def add_design(tx: WriteTransaction, name: str, frame_id: int, design: Design) -> None:
    """Append a sample's design.

    Raises:
        ConflictError: When there is a sample of that name.
    """
    known = sa.select(_DESIGN.c.id).where(_DESIGN.c.name == name)
    if tx.connection.execute(known).first() is not None:
        raise ConflictError(
            f"there is a sample '{name}' already",
            hint=f"--continue draws more for it; --name makes another one; "
            f"`labeler sample status {name}` tells how far it is",
        )
    tx.connection.execute(
        sa.insert(_DESIGN).values(
            frame_id=frame_id, name=name, body=design.to_json(), revision_id=tx.revision_id
        )
    )


def sample_names(connection: Connection) -> list[str]:
    """List the samples, oldest first."""
    rows = connection.execute(sa.select(_DESIGN.c.name).order_by(_DESIGN.c.id))
    return [str(name) for (name,) in rows]


def read_sample(connection: Connection, name: str) -> StoredSample:
    """Read a sample with its strata and draws.

    Raises:
        NotFoundError: When there is none of that name.
    """
    statement = (
        sa.select(
            _DESIGN.c.frame_id,
            _DESIGN.c.body,
            _FRAME.c.description,
            _FRAME.c.digest,
            table(Pool).c.id,
        )
        .join(_FRAME, _FRAME.c.id == _DESIGN.c.frame_id)
        .join(table(Pool), table(Pool).c.id == _FRAME.c.pool_id)
        .where(_DESIGN.c.name == name)
    )
    row = connection.execute(statement).first()
    if row is None:
        names = sample_names(connection)
        raise NotFoundError(
            f"there is no sample '{name}'",
            hint=f"there is {', '.join(names)}"
            if names
            else "`labeler sample draw POOL` makes one",
        )
    frame_id, body, words, digest, pool_id = row
    strata = connection.execute(
        sa.select(_STRATUM).where(_STRATUM.c.frame_id == frame_id).order_by(_STRATUM.c.id)
    ).all()
    return StoredSample(
        name=name,
        frame_id=int(frame_id),
        frame=str(words),
        digest=str(digest),
        pool_id=int(pool_id),
        seed=strata[0].seed,
        score_version=strata[0].score_version,
        design=Design.from_json(body),
        strata=_strata(connection, int(frame_id), strata),
        phases={int(one.phase): int(one.revision_id) for one in strata},
    )


def _strata(
    connection: Connection, frame_id: int, rows: Sequence[Any]
) -> tuple[StoredStratum, ...]:
    def by_stratum(of: sa.Table) -> dict[int, list[int]]:
        statement = (
            sa.select(of.c.stratum_id, of.c.item_id)
            .join(_STRATUM, _STRATUM.c.id == of.c.stratum_id)
            .where(_STRATUM.c.frame_id == frame_id)
            .order_by(of.c.id)
        )
        found: dict[int, list[int]] = defaultdict(list)
        for stratum, item in connection.execute(statement):
            found[int(stratum)].append(int(item))
        return found

    items, draws = by_stratum(_PART), by_stratum(_DRAW)
    drawn: dict[str, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for row in rows:
        drawn[row.name][int(row.phase)] = tuple(draws[row.id])
    return tuple(
        StoredStratum(row.name, int(row.size), tuple(items[row.id]), drawn[row.name])
        for row in rows
        if row.phase == 1
    )
