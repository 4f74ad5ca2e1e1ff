"""The audit: a random draw of what a policy accepted without a person goes to people too.

Only such draws tell how often the accepted labels are wrong; votes given because an item looked
doubtful don't. So the frame, its strata and every draw with its probability are stored, and a draw
that was made is never made again: labels accepted later form a frame of their own.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.calibration.policies import Policy
from labeler.evaluation.sampling import allocate, keyed_draw, zero_error_sample_size
from labeler.labels import Grade
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.records.sampling import Draw, Frame, FrameItem, Stratum
from labeler.store.bulk import insert_rows, is_one_of
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
    keys = _item_keys(tx.connection, [one.item_id for one in fresh])
    strata = strata_of(fresh)
    seed = _frame_digest(keys, policy)
    frame_id = _insert_frame(tx, pool_id, policy_id, seed, pool_name, policy, len(fresh))
    counts = allocate({name: len(items) for name, items in strata.items()}, wanted)
    for name, items in strata.items():
        by_key = {keys[item]: item for item in items}
        chosen = [by_key[key] for key in keyed_draw(seed, sorted(by_key), counts[name])]
        _insert_stratum(tx, frame_id, name, phase + 1, items, chosen, seed, score_version)
        drawn |= set(chosen)
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


def _item_keys(connection: Connection, items: Sequence[int]) -> dict[int, str]:
    """Name each item by its query and evidence, so that a draw is the same on every machine."""
    item, query, evidence = table(Item), table(Query), table(Evidence)
    statement = (
        sa.select(item.c.id, query.c.external_id, evidence.c.external_id)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .where(is_one_of(connection, item.c.id, items))
    )
    return {int(key): json.dumps([q, e]) for key, q, e in connection.execute(statement)}


def _frame_digest(keys: Mapping[int, str], policy: Policy) -> str:
    content = "\n".join([policy.digest, *sorted(keys.values())])
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _insert_frame(
    tx: WriteTransaction,
    pool_id: int,
    policy_id: int,
    digest: str,
    pool_name: str,
    policy: Policy,
    size: int,
) -> int:
    words = f"{size} items of the pool '{pool_name}' whose label '{policy.name}' accepted"
    statement = sa.insert(_FRAME).values(
        description=words,
        digest=hashlib.sha256(f"{pool_id}\n{digest}".encode()).hexdigest(),
        pool_id=pool_id,
        policy_id=policy_id,
        revision_id=tx.revision_id,
    )
    return int(tx.connection.execute(statement.returning(_FRAME.c.id)).scalar_one())


def _insert_stratum(
    tx: WriteTransaction,
    frame_id: int,
    name: str,
    phase: int,
    items: Sequence[int],
    chosen: Sequence[int],
    seed: str,
    score_version: str,
) -> None:
    statement = sa.insert(_STRATUM).values(
        frame_id=frame_id,
        name=name,
        phase=phase,
        size=len(items),
        sample_size=len(chosen),
        seed=seed,
        score_version=score_version,
        revision_id=tx.revision_id,
    )
    key = int(tx.connection.execute(statement.returning(_STRATUM.c.id)).scalar_one())
    insert_rows(tx.connection, _PART, ["stratum_id", "item_id"], [(key, one) for one in items])
    probability = len(chosen) / len(items)
    columns = ["stratum_id", "item_id", "probability", "revision_id"]
    rows = [(key, one, probability, tx.revision_id) for one in chosen]
    insert_rows(tx.connection, _DRAW, columns, rows)
