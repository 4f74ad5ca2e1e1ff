"""The frames of audits as they are stored: frozen strata of one score version, and their draws."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.labels import Grade
from labeler.records import table
from labeler.records.sampling import Draw, Frame, FrameItem, Stratum
from labeler.records.scales import Policy

__all__ = ["AuditFrame", "FrozenStratum", "StratumName", "drawn_items", "read_frames"]

_FRAME, _STRATUM, _PART, _DRAW = table(Frame), table(Stratum), table(FrameItem), table(Draw)


@dataclass(frozen=True, slots=True)
class StratumName:
    """What a stratum is called where it is stored; read back by `parse`.

    Attributes:
        grade: The grade of its labels.
        part: Its place among the tested parts of the grade, from 1; 0 is one that isn't tested.
        parts: How many tested parts the grade has.
        ends_set: Whether a set that is tested ends with it.
        kind: Of one that isn't tested, what is in it.
    """

    grade: Grade
    part: int = 0
    parts: int = 0
    ends_set: bool = False
    kind: str = ""

    def __str__(self) -> str:
        if not self.part:
            return f"{self.grade.value}, {self.kind}"
        end = ", a threshold" if self.ends_set else ""
        return f"{self.grade.value}, part {self.part} of {self.parts} from the surest{end}"

    @classmethod
    def parse(cls, text: str) -> StratumName:
        """Read what `str` wrote."""
        grade, _, rest = text.partition(", ")
        found = re.fullmatch(r"part (\d+) of (\d+) from the surest(, a threshold)?", rest)
        if found is None:
            return cls(Grade(grade), kind=rest)
        return cls(Grade(grade), int(found[1]), int(found[2]), found[3] is not None)


@dataclass(frozen=True, slots=True)
class FrozenStratum:
    """A stratum of a frame, with all that was ever drawn of it.

    Attributes:
        name: What is in it.
        items: Its items when it was frozen.
        looks: What was drawn at each look, in order.
    """

    name: StratumName
    items: frozenset[int]
    looks: tuple[frozenset[int], ...]

    def drawn(self, looks: int | None = None) -> frozenset[int]:
        """Give what was drawn up to a look; at all of them by default."""
        return frozenset().union(*self.looks[:looks])


@dataclass(frozen=True, slots=True)
class AuditFrame:
    """A frame that was frozen for an audit.

    Attributes:
        key: Its key.
        description: The population in words.
        score_version: The digest of the scores that its strata are made of.
        seed: The seed of its draws.
        strata: Its strata, in the order in which they were stored: surest first in each grade.
    """

    key: int
    description: str
    score_version: str
    seed: str
    strata: tuple[FrozenStratum, ...]

    @property
    def items(self) -> frozenset[int]:
        """All items of the frame."""
        return frozenset().union(*(one.items for one in self.strata))

    @property
    def drawn(self) -> frozenset[int]:
        """All items that were drawn."""
        return frozenset().union(*(one.drawn() for one in self.strata))


def read_frames(
    connection: Connection, pool_id: int, policy_digest: str, as_of: int | None = None
) -> list[AuditFrame]:
    """Read the frames of a pool that were frozen for a policy, the oldest first.

    Args:
        connection: A transaction's connection.
        pool_id: The pool.
        policy_digest: The digest of the policy.
        as_of: A revision; None is the present.
    """
    policy = table(Policy)
    statement = (
        sa.select(_FRAME.c.id, _FRAME.c.description)
        .join(policy, policy.c.id == _FRAME.c.policy_id)
        .where(_FRAME.c.pool_id == pool_id, policy.c.digest == policy_digest)
        .order_by(_FRAME.c.id)
    )
    if as_of is not None:
        statement = statement.where(_FRAME.c.revision_id <= as_of)
    return [
        _read_frame(connection, int(row.id), str(row.description), as_of)
        for row in connection.execute(statement)
    ]


def _read_frame(
    connection: Connection, key: int, description: str, as_of: int | None
) -> AuditFrame:
    of_frame = [_STRATUM.c.frame_id == key]
    if as_of is not None:
        of_frame.append(_STRATUM.c.revision_id <= as_of)
    strata = connection.execute(sa.select(_STRATUM).where(*of_frame).order_by(_STRATUM.c.id)).all()
    inside = sa.select(_STRATUM.c.id).where(*of_frame)
    items: dict[int, set[int]] = {row.id: set() for row in strata}
    drawn: dict[int, set[int]] = {row.id: set() for row in strata}
    for source, into in ((_PART, items), (_DRAW, drawn)):
        rows = sa.select(source.c.stratum_id, source.c.item_id)
        for stratum, item in connection.execute(rows.where(source.c.stratum_id.in_(inside))):
            into[stratum].add(int(item))
    looks: dict[str, list[frozenset[int]]] = {}
    members: dict[str, frozenset[int]] = {}
    for row in strata:
        looks.setdefault(row.name, []).append(frozenset(drawn[row.id]))
        members.setdefault(row.name, frozenset(items[row.id]))
    return AuditFrame(
        key=key,
        description=description,
        score_version=next((row.score_version or "" for row in strata), ""),
        seed=next((row.seed for row in strata), ""),
        strata=tuple(
            FrozenStratum(StratumName.parse(name), members[name], tuple(looks[name]))
            for name in looks
        ),
    )


def drawn_items(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> Mapping[int, int]:
    """Give every item of a pool that any draw picked, with the revision of its first draw."""
    statement = (
        sa.select(_DRAW.c.item_id, sa.func.min(_DRAW.c.revision_id))
        .join(_STRATUM, _STRATUM.c.id == _DRAW.c.stratum_id)
        .join(_FRAME, _FRAME.c.id == _STRATUM.c.frame_id)
        .where(_FRAME.c.pool_id == pool_id)
        .group_by(_DRAW.c.item_id)
    )
    if as_of is not None:
        statement = statement.where(_DRAW.c.revision_id <= as_of)
    return {int(item): int(revision) for item, revision in connection.execute(statement)}
