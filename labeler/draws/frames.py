"""Frames, strata and draws as they are stored: by the audit of accepted labels, and by samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.evaluation.sampling import keyed_draw
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.records.sampling import Draw, Frame, FrameItem, SampleDesign, Stratum
from labeler.store.bulk import insert_rows, is_one_of
from labeler.store.database import WriteTransaction

__all__ = [
    "SAMPLE",
    "NewStratum",
    "add_frame",
    "add_rule_stratum",
    "draw_from",
    "drawn_for_samples",
    "item_keys",
]

SAMPLE = "sample"
"""The reason of an item that was drawn for an estimate, whatever its label."""

_FRAME, _STRATUM, _PART, _DRAW = table(Frame), table(Stratum), table(FrameItem), table(Draw)


@dataclass(frozen=True, slots=True)
class NewStratum:
    """A stratum that is about to be stored.

    Attributes:
        frame_id: The frame that it is a part of.
        name: What is in it, in words.
        phase: Which draw of the frame it belongs to, from 1.
        seed: The seed of the draw.
        score_version: The digest of the scores that it is made of, or None.
    """

    frame_id: int
    name: str
    phase: int
    seed: str
    score_version: str | None = None


def item_keys(connection: Connection, items: Sequence[int]) -> dict[int, str]:
    """Name each item by its query and evidence, so that a draw is the same on every machine."""
    item, query, evidence = table(Item), table(Query), table(Evidence)
    statement = (
        sa.select(item.c.id, query.c.external_id, evidence.c.external_id)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .where(is_one_of(connection, item.c.id, items))
    )
    return {int(key): json.dumps([q, e]) for key, q, e in connection.execute(statement)}


def add_frame(
    tx: WriteTransaction,
    description: str,
    content_digest: str,
    *,
    pool_id: int | None,
    policy_id: int | None = None,
) -> int:
    """Append a frame and give its key.

    Args:
        tx: The write transaction.
        description: The population in words.
        content_digest: Digest of the set of items, and of what else makes the frame what it is.
        pool_id: The pool that its items are from, or None.
        policy_id: The policy that accepted them, where the frame is one of accepted labels.
    """
    statement = sa.insert(_FRAME).values(
        description=description,
        digest=hashlib.sha256(f"{pool_id}\n{content_digest}".encode()).hexdigest(),
        pool_id=pool_id,
        policy_id=policy_id,
        revision_id=tx.revision_id,
    )
    return int(tx.connection.execute(statement.returning(_FRAME.c.id)).scalar_one())


def draw_from(
    tx: WriteTransaction, stratum: NewStratum, keys: Mapping[int, str], count: int
) -> set[int]:
    """Append a stratum with its items, draw from it, append the draws, and give what was drawn.

    Args:
        tx: The write transaction.
        stratum: The stratum.
        keys: Its items, each with the key that `item_keys` gives it.
        count: How many to draw, from 0 to their number.
    """
    by_key = {key: item for item, key in keys.items()}
    chosen = [by_key[key] for key in keyed_draw(stratum.seed, sorted(by_key), count)]
    stratum_id = _add_stratum(tx, stratum, list(keys), len(chosen))
    _add_draws(tx, stratum_id, chosen, count / len(keys) if keys else 0.0)
    return set(chosen)


def add_rule_stratum(
    tx: WriteTransaction, stratum: NewStratum, size: int, drawn: Sequence[int]
) -> None:
    """Append a stratum that is given by a rule, too large to list, with what was drawn from it.

    Args:
        tx: The write transaction.
        stratum: The stratum.
        size: How many units the rule makes.
        drawn: The items drawn from it, all equally likely, without replacement.
    """
    stratum_id = _add_stratum(tx, stratum, drawn, len(drawn), size=size)
    _add_draws(tx, stratum_id, drawn, len(drawn) / size if size else 0.0)


def drawn_for_samples(connection: Connection, items: Sequence[int]) -> set[int]:
    """Give those of some items that were drawn for an estimate, audits aside."""
    statement = (
        sa.select(_DRAW.c.item_id)
        .join(_STRATUM, _STRATUM.c.id == _DRAW.c.stratum_id)
        .where(
            is_one_of(connection, _DRAW.c.item_id, items),
            _STRATUM.c.frame_id.in_(sa.select(table(SampleDesign).c.frame_id)),
        )
    )
    return {int(item) for (item,) in connection.execute(statement)}


def _add_draws(
    tx: WriteTransaction, stratum_id: int, drawn: Sequence[int], probability: float
) -> None:
    columns = ["stratum_id", "item_id", "probability", "revision_id"]
    rows = [(stratum_id, one, probability, tx.revision_id) for one in drawn]
    insert_rows(tx.connection, _DRAW, columns, rows)


def _add_stratum(
    tx: WriteTransaction,
    stratum: NewStratum,
    items: Sequence[int],
    sample_size: int,
    *,
    size: int | None = None,
) -> int:
    statement = sa.insert(_STRATUM).values(
        frame_id=stratum.frame_id,
        name=stratum.name,
        phase=stratum.phase,
        size=len(items) if size is None else size,
        sample_size=sample_size,
        seed=stratum.seed,
        score_version=stratum.score_version,
        revision_id=tx.revision_id,
    )
    key = int(tx.connection.execute(statement.returning(_STRATUM.c.id)).scalar_one())
    insert_rows(tx.connection, _PART, ["stratum_id", "item_id"], [(key, one) for one in items])
    return key
