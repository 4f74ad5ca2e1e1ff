"""Items whose labels two judges gave differently, with what each of them said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.samples import JudgeAnswer
from labeler.labels import state_of
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.judgments import Judgment
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.reports.answers import LevelsByKey
from labeler.store.bulk import is_one_of

__all__ = ["FlipExample", "Opinion", "read_flips"]

_TEXT = table(Text)

Flip = tuple[int, JudgeAnswer, JudgeAnswer, int | None]
"""An item, both judges' answers, and what people decided: a level's key, a `NoLabel` or None."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge said of an item.

    Attributes:
        level: The level's name.
        code: Its code.
        state: Relevant or not, by the grade that the level maps to.
        confidence: In [0, 1], or None; of several samples the share that agrees.
        reason: The judge's reason, or empty.
        quote: The judge's quote, or empty.
        flags: Signs such as ``circular``.
    """

    level: str
    code: int
    state: str
    confidence: float | None
    reason: str
    quote: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlipExample:
    """One item that two judges labelled differently.

    Attributes:
        query_id: The query's id.
        query: Its text as it is now, or None when there is none.
        evidence_id: The evidence's id.
        passage: The text that was judged, or None when there is none.
        boundary: ``across`` when one finds it relevant and the other doesn't, else ``within``.
        first: What the first judge said.
        second: What the second said.
        people: The level that people decided blind, by name, or None.
    """

    query_id: str
    query: str | None
    evidence_id: str
    passage: str | None
    boundary: str
    first: Opinion
    second: Opinion
    people: str | None


def read_flips(
    connection: Connection, flips: Sequence[Flip], levels: LevelsByKey
) -> list[FlipExample]:
    """Read the texts of some flips, in their order.

    Args:
        connection: A transaction's connection.
        flips: The items with both answers; each has a level.
        levels: Every level.
    """
    shown = _items(connection, [item for item, *_ in flips])
    said = _said(connection, [one.judgment_id for _, *both, _ in flips for one in both])
    found = []
    for item, before, after, decided in flips:
        query_id, query, evidence_id, passage = shown[item]
        first, second = (_opinion(one, levels, *said[one.judgment_id]) for one in (before, after))
        found.append(
            FlipExample(
                query_id=query_id,
                query=query,
                evidence_id=evidence_id,
                passage=passage,
                boundary="within" if first.state == second.state else "across",
                first=first,
                second=second,
                people=levels[decided][1].name if decided is not None and decided > 0 else None,
            )
        )
    return found


def _opinion(answer: JudgeAnswer, levels: LevelsByKey, reason: str, quote: str) -> Opinion:
    assert answer.level_id is not None  # noqa: S101 - an item without two levels is no flip
    level = levels[answer.level_id][1]
    return Opinion(
        level=level.name,
        code=level.code,
        state=state_of(level.grade).value,
        confidence=answer.confidence,
        reason=reason,
        quote=quote,
        flags=answer.flags,
    )


def _items(
    connection: Connection, keys: Sequence[int]
) -> dict[int, tuple[str, str | None, str, str | None]]:
    item, query, evidence, version = table(Item), table(Query), table(Evidence), table(QueryVersion)
    newest = (
        sa.select(_TEXT.c.body)
        .join(version, version.c.text_id == _TEXT.c.id)
        .where(version.c.query_id == item.c.query_id)
        .order_by(version.c.version.desc())
        .limit(1)
        .scalar_subquery()
    )
    passage = _TEXT.alias("passage")
    statement = (
        sa.select(item.c.id, query.c.external_id, newest, evidence.c.external_id, passage.c.body)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .outerjoin(passage, passage.c.id == item.c.text_id)
        .where(is_one_of(connection, item.c.id, keys))
    )
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in connection.execute(statement)}


def _said(connection: Connection, judgments: Sequence[int]) -> dict[int, tuple[str, str]]:
    judgment, quote = table(Judgment), _TEXT.alias("quote")
    statement = (
        sa.select(judgment.c.id, _TEXT.c.body, quote.c.body)
        .outerjoin(_TEXT, _TEXT.c.id == judgment.c.reason_id)
        .outerjoin(quote, quote.c.id == judgment.c.quote_id)
        .where(is_one_of(connection, judgment.c.id, judgments))
    )
    return {
        key: (reason or "", quoted or "") for key, reason, quoted in connection.execute(statement)
    }
