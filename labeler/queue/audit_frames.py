"""Freezing the frames of audits: strata of one score version, and their draws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from labeler.draws.audit_frames import AuditFrame, FrozenStratum
from labeler.draws.frames import NewStratum, add_frame, draw_from, item_keys
from labeler.queue.audit_plan import AuditPlan
from labeler.store.database import WriteTransaction

__all__ = ["freeze", "go_on"]


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
