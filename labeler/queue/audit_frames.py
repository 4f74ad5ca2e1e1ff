"""The frames of audits as they are stored: frozen strata of one score version, and their draws."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.frames import NewStratum, add_frame, draw_from, item_keys
from labeler.queue.audit_plan import AuditPlan, StratumName
from labeler.records import table
from labeler.records.sampling import Draw, Frame, FrameItem, Stratum
from labeler.records.scales import Policy
from labeler.store.database import WriteTransaction

__all__ = ["AuditFrame", "FrozenStratum", "drawn_items", "freeze", "go_on", "read_frames"]

_FRAME, _STRATUM, _PART, _DRAW = table(Frame), table(Stratum), table(FrameItem), table(Draw)


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
        score_version: The digest of the scores that its strata are made of.
        seed: The seed of its draws.
        strata: Its strata, in the order in which they were stored: surest first in each grade.
    """

    key: int
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


def read_frames(connection: Connection, pool_id: int, policy_digest: str) -> list[AuditFrame]:
    """Read the frames of a pool that were frozen for a policy, the oldest first."""
    policy = table(Policy)
    statement = (
        sa.select(_FRAME.c.id)
        .join(policy, policy.c.id == _FRAME.c.policy_id)
        .where(_FRAME.c.pool_id == pool_id, policy.c.digest == policy_digest)
        .order_by(_FRAME.c.id)
    )
    return [_read_frame(connection, int(key)) for (key,) in connection.execute(statement)]


def _read_frame(connection: Connection, key: int) -> AuditFrame:
    strata = connection.execute(
        sa.select(_STRATUM).where(_STRATUM.c.frame_id == key).order_by(_STRATUM.c.id)
    ).all()
    of_frame = sa.select(_STRATUM.c.id).where(_STRATUM.c.frame_id == key)
    items: dict[int, set[int]] = {row.id: set() for row in strata}
    drawn: dict[int, set[int]] = {row.id: set() for row in strata}
    for source, into in ((_PART, items), (_DRAW, drawn)):
        rows = sa.select(source.c.stratum_id, source.c.item_id)
        for stratum, item in connection.execute(rows.where(source.c.stratum_id.in_(of_frame))):
            into[stratum].add(int(item))
    looks: dict[str, list[frozenset[int]]] = {}
    members: dict[str, frozenset[int]] = {}
    for row in strata:
        looks.setdefault(row.name, []).append(frozenset(drawn[row.id]))
        members.setdefault(row.name, frozenset(items[row.id]))
    return AuditFrame(
        key=key,
        score_version=next((row.score_version or "" for row in strata), ""),
        seed=next((row.seed for row in strata), ""),
        strata=tuple(
            FrozenStratum(StratumName.parse(name), members[name], tuple(looks[name]))
            for name in looks
        ),
    )


def freeze(
    tx: WriteTransaction,
    plan: AuditPlan,
    *,
    pool_id: int,
    pool_name: str,
    policy_id: int,
    policy_digest: str,
    policy_name: str,
    score_version: str,
) -> None:
    """Store the frame of a plan with its strata, and draw from each."""
    items = [item for stratum in plan.strata for item in stratum.items]
    keys = item_keys(tx.connection, items)
    content = "\n".join([policy_digest, score_version, *sorted(keys.values())])
    seed = hashlib.sha256(content.encode("utf-8")).hexdigest()
    words = (
        f"{len(items)} items of the pool '{pool_name}' that people hadn't judged, by the grades "
        f"and probabilities of the scores {score_version[:12]}, for '{policy_name}'"
    )
    frame_id = add_frame(tx, words, seed, pool_id=pool_id, policy_id=policy_id)
    for stratum in plan.strata:
        draw_from(
            tx,
            NewStratum(frame_id, str(stratum.name), 1, seed, score_version),
            {item: keys[item] for item in stratum.items},
            stratum.draw,
        )


def go_on(tx: WriteTransaction, frame: AuditFrame, strata: Sequence[FrozenStratum]) -> None:
    """Draw from what is left of some strata, as much again as at the first look.

    The size of a further draw is that of the first one: what was found has no say in it.
    """
    left = {one.name: sorted(one.items - one.drawn()) for one in strata}
    keys = item_keys(tx.connection, [item for items in left.values() for item in items])
    for one in strata:
        remaining = left[one.name]
        draw_from(
            tx,
            NewStratum(
                frame.key, str(one.name), len(one.looks) + 1, frame.seed, frame.score_version
            ),
            {item: keys[item] for item in remaining},
            min(len(one.looks[0]), len(remaining)),
        )


def drawn_items(connection: Connection, pool_id: int) -> Mapping[int, int]:
    """Give every item of a pool that any draw picked, with the revision of its first draw."""
    statement = (
        sa.select(_DRAW.c.item_id, sa.func.min(_DRAW.c.revision_id))
        .join(_STRATUM, _STRATUM.c.id == _DRAW.c.stratum_id)
        .join(_FRAME, _FRAME.c.id == _STRATUM.c.frame_id)
        .where(_FRAME.c.pool_id == pool_id)
        .group_by(_DRAW.c.item_id)
    )
    return {int(item): int(revision) for item, revision in connection.execute(statement)}
