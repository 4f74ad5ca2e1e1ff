"""Solved examples for judges: what people decided on queries in the train part of a split."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.reading import blocks_of
from labeler.errors import NotFoundError
from labeler.judges.llm.rendering import Example
from labeler.records import table
from labeler.records.judgments import Basis, Decision
from labeler.records.pools import Candidate, Item
from labeler.records.scales import ScaleLevel
from labeler.records.splits import Split, SplitGroup, SplitMember, SplitPart
from labeler.store.bulk import is_one_of
from labeler.store.projections import decisions_in_force

__all__ = ["choose_examples", "read_examples"]

_BY_PEOPLE = (Basis.ONE_REVIEWER.value, Basis.CONSENSUS.value, Basis.ADJUDICATION.value)


def choose_examples(connection: Connection, pool_id: int, count: int) -> tuple[Example, ...]:
    """Choose examples for a pool: levels in turn, best first, each from another query if possible.

    The choice follows from the split's digest, so that it doesn't follow anybody's taste.

    Raises:
        NotFoundError: When there is no frozen split, or people decided nothing in its train part.
    """
    split = table(Split)
    frozen = connection.execute(sa.select(split).order_by(split.c.id.desc()).limit(1)).first()
    if frozen is None:
        raise NotFoundError(
            "examples come from train queries alone, and this project has no frozen split",
            hint="freeze one with `labeler split`, or judge without --examples",
        )
    levels = _decided_train_items(connection, frozen.id, pool_id)
    if not levels:
        raise NotFoundError(
            f"people decided no item of a train query of split '{frozen.name}' under this rubric",
            hint="review some first, or judge without --examples",
        )

    def place(pair: tuple[int, int]) -> bytes:
        return hashlib.sha256(f"{frozen.root_digest}\n{pair[0]}".encode()).digest()

    queues = [sorted(levels[position], key=place) for position in sorted(levels, reverse=True)]
    chosen: list[int] = []
    used: set[int] = set()
    while len(chosen) < count and any(queues):
        for queue in queues:
            if queue and len(chosen) < count:
                fresh = next((pair for pair in queue if pair[1] not in used), queue[0])
                queue.remove(fresh)
                chosen.append(fresh[0])
                used.add(fresh[1])
    return read_examples(connection, chosen)


def read_examples(connection: Connection, items: Sequence[int]) -> tuple[Example, ...]:
    """Read items that people decided as examples, in the order given."""
    decision, level = table(Decision), table(ScaleLevel)
    in_force = decisions_in_force().subquery()
    statement = (
        sa.select(decision.c.item_id, level.c.code)
        .join(in_force, in_force.c.decision_id == decision.c.id)
        .join(level, level.c.id == decision.c.level_id)
        .where(is_one_of(connection, decision.c.item_id, items))
    )
    codes = {int(item): int(code) for item, code in connection.execute(statement)}
    found = {
        item.item_id: Example(
            item.item_id, block.query, item, block.rubric.scale.level(codes[item.item_id])
        )
        for block in blocks_of(connection, items, seed="")
        for item in block.items
        if item.item_id in codes
    }
    return tuple(found[item] for item in items if item in found)


def _decided_train_items(
    connection: Connection, split_id: int, pool_id: int
) -> dict[int, list[tuple[int, int]]]:
    """Give ``(item, query)`` of what people decided on train queries, by the level's position."""
    decision, item, level = table(Decision), table(Item), table(ScaleLevel)
    group, member, candidate = table(SplitGroup), table(SplitMember), table(Candidate)
    in_force = decisions_in_force().subquery()
    train = (
        sa.select(member.c.query_id)
        .join(group, group.c.id == member.c.group_id)
        .where(
            group.c.split_id == split_id,
            group.c.part == SplitPart.TRAIN.value,
            member.c.query_id.is_not(None),
        )
    )
    rubrics = (
        sa.select(item.c.rubric_id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
    )
    statement = (
        sa.select(item.c.id, item.c.query_id, level.c.position)
        .join(decision, decision.c.item_id == item.c.id)
        .join(in_force, in_force.c.decision_id == decision.c.id)
        .join(level, level.c.id == decision.c.level_id)
        .where(
            decision.c.basis.in_(_BY_PEOPLE),
            item.c.text_id.is_not(None),
            item.c.query_id.in_(train),
            item.c.rubric_id.in_(rubrics),
        )
        .order_by(item.c.id)
    )
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for key, query, position in connection.execute(statement):
        found[int(position)].append((int(key), int(query)))
    return found
