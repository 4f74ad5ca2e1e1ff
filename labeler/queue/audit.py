"""The audit: a random draw of what a policy accepted without a person goes to people too.

Only such draws tell how often the accepted labels are wrong; votes given because an item looked
doubtful don't. So the frame, its strata and every draw with its probability are stored, and a draw
that was made is never made again: labels accepted later form a frame of their own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.calibration.policies import Policy
from labeler.draws.frames import NewStratum, add_frame, draw_from, item_keys
from labeler.evaluation.allocation import next_units
from labeler.evaluation.sampling import zero_error_sample_size
from labeler.labels import Grade
from labeler.records import table
from labeler.records.sampling import Draw, Frame, FrameItem, Stratum
from labeler.store.database import WriteTransaction

__all__ = ["AUDIT", "Accepted", "draw_audit", "strata_of"]

AUDIT = "audit"
"""The reason of an item that was drawn."""

_FRAME, _STRATUM, _PART, _DRAW = table(Frame), table(Stratum), table(FrameItem), table(Draw)


@dataclass(frozen=True, slots=True)
class Accepted:
    """An item whose label a policy accepted, with what strata are made of."""

    item_id: int
    grade: Grade
    confidence: float


def strata_of(accepted: Sequence[Accepted]) -> dict[str, list[int]]:
    """Part accepted items by grade, and each grade at its median confidence.

    Returns:
        The items of each stratum, by a name that says what is in it.
    """
    strata: dict[str, list[int]] = {}
    for grade in Grade:
        of_grade = sorted(
            (one for one in accepted if one.grade is grade),
            key=lambda one: (one.confidence, one.item_id),
        )
        middle = len(of_grade) // 2
        for half, part in (("lower", of_grade[:middle]), ("upper", of_grade[middle:])):
            if part:
                strata[f"{grade.value}, {half} half of confidence"] = [one.item_id for one in part]
    return strata


def draw_audit(
    tx: WriteTransaction,
    *,
    pool_id: int,
    pool_name: str,
    policy: Policy,
    policy_id: int,
    accepted: Sequence[Accepted],
    score_version: str,
) -> set[int]:
    """Draw from what was accepted since the last draw; give all items ever drawn.

    The sample of everything accepted is sized by the policy's target; a later frame gets the part
    of it that its size calls for, and at least one item.

    Args:
        tx: The write transaction.
        pool_id: The pool.
        pool_name: Its name, for the frame's description.
        policy: What accepted the labels.
        policy_id: Its key.
        accepted: Everything that is accepted now.
        score_version: The digest of the scores that the strata are made of.
    """
    covered, drawn, phase = _earlier(tx.connection, pool_id, policy_id)
    fresh = [one for one in accepted if one.item_id not in covered]
    if not fresh:
        return drawn
    size = zero_error_sample_size(policy.target, policy.confidence)
    share = len(fresh) / len(accepted)
    wanted = max(1, math.ceil(size * share))
    keys = item_keys(tx.connection, [one.item_id for one in fresh])
    strata = strata_of(fresh)
    seed = _frame_digest(keys, policy)
    words = f"{len(fresh)} items of the pool '{pool_name}' whose label '{policy.name}' accepted"
    frame_id = add_frame(tx, words, seed, pool_id=pool_id, policy_id=policy_id)
    # With one rate for all, the shares are in proportion to the sizes.
    counts = next_units([len(items) for items in strata.values()], [0.5] * len(strata), wanted)
    for (name, items), count in zip(strata.items(), counts, strict=True):
        drawn |= draw_from(
            tx,
            NewStratum(frame_id, name, phase + 1, seed, score_version),
            {item: keys[item] for item in items},
            count,
        )
    return drawn


def _earlier(
    connection: Connection, pool_id: int, policy_id: int
) -> tuple[set[int], set[int], int]:
    """Give the items of a pool's earlier frames under a policy, those drawn, the last phase."""
    same = [_FRAME.c.pool_id == pool_id, _FRAME.c.policy_id == policy_id]
    of_frames = (
        sa.select(_STRATUM.c.id).join(_FRAME, _FRAME.c.id == _STRATUM.c.frame_id).where(*same)
    )
    covered = sa.select(_PART.c.item_id).where(_PART.c.stratum_id.in_(of_frames))
    drawn = sa.select(_DRAW.c.item_id).where(_DRAW.c.stratum_id.in_(of_frames))
    phase = sa.select(sa.func.max(_STRATUM.c.phase)).where(_STRATUM.c.id.in_(of_frames))
    return (
        {int(key) for (key,) in connection.execute(covered)},
        {int(key) for (key,) in connection.execute(drawn)},
        int(connection.execute(phase).scalar() or 0),
    )


def _frame_digest(keys: Mapping[int, str], policy: Policy) -> str:
    content = "\n".join([policy.digest, *sorted(keys.values())])
    return hashlib.sha256(content.encode("utf-8")).hexdigest()
