"""What was drawn at random from a pool's unknown items: strata with their items, as stored."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.sampling import Draw, Frame, FrameItem, SampleDesign, Stratum

__all__ = ["DrawnSample", "DrawnStratumItems", "latest_sample"]

_DESIGN, _FRAME, _STRATUM = table(SampleDesign), table(Frame), table(Stratum)
_IN_POOL = "pool"


@dataclass(frozen=True, slots=True)
class DrawnStratumItems:
    """A stratum of a sample.

    Attributes:
        name: What is in it.
        items: Its items before the first draw.
        drawn: Those that were drawn, in any phase.
    """

    name: str
    items: frozenset[int]
    drawn: frozenset[int]


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """A sample of a pool's unknown items.

    Attributes:
        name: Its name.
        runs: The runs that it was made to compare.
        frame: The population in words.
        strata: Its strata.
    """

    name: str
    runs: tuple[str, ...]
    frame: str
    strata: tuple[DrawnStratumItems, ...]


def latest_sample(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> DrawnSample | None:
    """Read the latest sample of a pool's own items, or None when there is none.

    Args:
        connection: A transaction's connection.
        pool_id: The pool.
        as_of: A revision; None is the present.
    """
    statement = (
        sa.select(_DESIGN.c.name, _DESIGN.c.body, _DESIGN.c.frame_id, _FRAME.c.description)
        .join(_FRAME, _FRAME.c.id == _DESIGN.c.frame_id)
        .where(_FRAME.c.pool_id == pool_id)
        .order_by(_DESIGN.c.id.desc())
    )
    if as_of is not None:
        statement = statement.where(_DESIGN.c.revision_id <= as_of)
    for row in connection.execute(statement):
        body = json.loads(row.body)
        if body["kind"] == _IN_POOL:
            strata = _strata(connection, row.frame_id, as_of)
            return DrawnSample(row.name, tuple(body["runs"]), row.description, strata)
    return None


def _strata(
    connection: Connection, frame_id: int, as_of: int | None
) -> tuple[DrawnStratumItems, ...]:
    statement = sa.select(_STRATUM).where(_STRATUM.c.frame_id == frame_id).order_by(_STRATUM.c.id)
    if as_of is not None:
        statement = statement.where(_STRATUM.c.revision_id <= as_of)
    rows = connection.execute(statement).all()
    items, draws = (_by_stratum(connection, frame_id, of) for of in (FrameItem, Draw))
    drawn: Mapping[str, set[int]] = defaultdict(set)
    # A later phase stands in a stratum of the same name, which holds what was left of it.
    for row in rows:
        drawn[row.name].update(draws[row.id])
    return tuple(
        DrawnStratumItems(row.name, frozenset(items[row.id]), frozenset(drawn[row.name]))
        for row in rows
        if row.phase == 1
    )


def _by_stratum(
    connection: Connection, frame_id: int, of: type[FrameItem | Draw]
) -> Mapping[int, list[int]]:
    part = table(of)
    statement = (
        sa.select(part.c.stratum_id, part.c.item_id)
        .join(_STRATUM, _STRATUM.c.id == part.c.stratum_id)
        .where(_STRATUM.c.frame_id == frame_id)
    )
    found: dict[int, list[int]] = defaultdict(list)
    for stratum, item in connection.execute(statement):
        found[int(stratum)].append(int(item))
    return found
