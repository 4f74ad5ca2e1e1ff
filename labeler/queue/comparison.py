"""What people and judges said of a disputed item, without a word on who said it.

It is read for somebody whose blind vote is stored, after the look itself is. Each judgment has a
letter, in an order that follows from a seed and tells nothing; a reason of a judge and a note of a
person are both what was *said*.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind import Block
from labeler.assessment.context import Surroundings, surroundings_of
from labeler.assessment.decisions import is_vote
from labeler.assessment.reading import blocks_of
from labeler.assessment.samples import JudgeAnswer, combined
from labeler.errors import NotFoundError
from labeler.labels import Grade, Level, Outcome
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.judgments import Judgment, Occasion, Withdrawal, WithdrawnKind
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.bulk import is_one_of
from labeler.store.projections import judgments_in_force

__all__ = ["Comparison", "LetteredJudgment", "OwnVote", "read_comparison", "read_judges"]

_JUDGMENT, _ASSESSOR, _EVENT = table(Judgment), table(Assessor), table(ReviewEvent)
_LEVEL, _TEXT, _TASK = table(ScaleLevel), table(Text), table(Task)
_ANSWERED = [Outcome.JUDGED.value, Outcome.ABSTAINED.value]


@dataclass(frozen=True, slots=True)
class LetteredJudgment:
    """What somebody said of the item.

    Attributes:
        letter: ``A``, ``B`` and so on.
        level: The level; None when it couldn't be judged.
        quote: What was quoted from the passage, or empty.
        said: The reason or the notes, in their order.
    """

    letter: str
    level: Level | None
    quote: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnVote:
    """The blind vote of the person who compares; a level of None says that it can't be judged."""

    level: Level | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A disputed item beside what was said of it.

    Attributes:
        item_id: The item.
        task_id: Its task.
        block: Query, passage, context and rubric.
        snapshot: The name of the snapshot that the passage is from.
        own: The blind vote of the person who compares; None for somebody who has none.
        others: The judgments of all others, in a shuffled order.
        reveal_key: The id of the event that stored the look.
        around: What stands around the passage, where the corpus tells.
    """

    item_id: int
    task_id: int
    block: Block
    snapshot: str
    own: OwnVote | None
    others: tuple[LetteredJudgment, ...]
    reveal_key: str
    around: Surroundings | None = None


def read_comparison(
    connection: Connection, person_id: int, item_id: int, *, reveal_key: str
) -> Comparison:
    """Read what was said of an item.

    The letters follow from the person's first look at it, so that they stay the same.

    Args:
        connection: A transaction's connection, in which the look is stored.
        person_id: Who looks.
        item_id: The item.
        reveal_key: The id of the event that stores the look.

    Raises:
        NotFoundError: When the item's text was erased.
    """
    task = connection.execute(sa.select(_TASK.c.id).where(_TASK.c.item_id == item_id)).scalar_one()
    blocks = blocks_of(connection, [item_id], seed="")
    if not blocks:
        raise NotFoundError("the text of this item was erased, so nobody can judge it")
    snapshot, item = table(Snapshot), table(Item)
    named = sa.select(snapshot.c.name).join(item, item.c.snapshot_id == snapshot.c.id)
    looks = (
        sa.select(_EVENT.c.event_key, _EVENT.c.revision_id)
        .where(
            _EVENT.c.task_id == task,
            _EVENT.c.assessor_id == person_id,
            _EVENT.c.kind == EventKind.REVEAL.value,
        )
        .order_by(_EVENT.c.id)
        .limit(1)
    )
    first = connection.execute(looks).one()
    others = [
        *_of_people(connection, item_id, task, person_id),
        *_of_judges(connection, item_id),
    ]
    return Comparison(
        item_id=item_id,
        task_id=int(task),
        block=blocks[0],
        snapshot=str(connection.execute(named.where(item.c.id == item_id)).scalar_one()),
        own=_own(connection, item_id, person_id, first.revision_id),
        others=lettered(others, seed=first.event_key),
        reveal_key=reveal_key,
        around=surroundings_of(connection, item_id),
    )


def read_judges(connection: Connection, item_id: int, *, seed: str) -> tuple[LetteredJudgment, ...]:
    """Read what judges alone said of an item, in an order that follows from the seed."""
    return lettered(_of_judges(connection, item_id), seed=seed)


@dataclass(frozen=True, slots=True)
class _Said:
    judgment_id: int
    level: Level | None
    quote: str
    said: tuple[str, ...]


def lettered(judgments: Sequence[_Said], *, seed: str) -> tuple[LetteredJudgment, ...]:
    """Give each judgment a letter, in an order that follows from the seed alone."""

    def place(one: _Said) -> bytes:
        return hashlib.sha256(f"{seed}\n{one.judgment_id}".encode()).digest()

    return tuple(
        LetteredJudgment(_letter(number), one.level, one.quote, one.said)
        for number, one in enumerate(sorted(judgments, key=place))
    )


def _letter(number: int) -> str:
    rounds, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(rounds + 1) if rounds else "")


def _level(row: sa.Row[*tuple[Any, ...]]) -> Level | None:
    if row.code is None:
        return None
    return Level(row.code, row.name, Grade(row.grade), row.gain, row.position)


_LEVEL_COLUMNS = (
    _LEVEL.c.code,
    _LEVEL.c.name,
    _LEVEL.c.grade,
    _LEVEL.c.gain,
    _LEVEL.c.position,
)


def _own(connection: Connection, item_id: int, person_id: int, look: int) -> OwnVote | None:
    """Read the last vote that this person gave before the first look at others' labels."""
    withdrawal = table(Withdrawal)
    withdrawn = sa.exists().where(
        withdrawal.c.kind == WithdrawnKind.JUDGMENT.value,
        withdrawal.c.target_id == _JUDGMENT.c.id,
        withdrawal.c.revision_id < look,
    )
    row = connection.execute(
        sa.select(*_LEVEL_COLUMNS)
        .select_from(_JUDGMENT)
        .outerjoin(_LEVEL, _LEVEL.c.id == _JUDGMENT.c.level_id)
        .where(
            _JUDGMENT.c.item_id == item_id,
            _JUDGMENT.c.assessor_id == person_id,
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            _JUDGMENT.c.revision_id < look,
            ~withdrawn,
        )
        .order_by(_JUDGMENT.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else OwnVote(_level(row))


def _of_people(connection: Connection, item_id: int, task_id: int, person_id: int) -> list[_Said]:
    """Read the latest vote in force of each other person, with what they wrote.

    A second look of somebody at their own vote stands beside it.
    """
    statement = (
        sa.select(_JUDGMENT.c.id, _JUDGMENT.c.assessor_id, _JUDGMENT.c.occasion, *_LEVEL_COLUMNS)
        .join(_ASSESSOR, _ASSESSOR.c.id == _JUDGMENT.c.assessor_id)
        .outerjoin(_LEVEL, _LEVEL.c.id == _JUDGMENT.c.level_id)
        .where(
            _JUDGMENT.c.item_id == item_id,
            _JUDGMENT.c.assessor_id != person_id,
            _ASSESSOR.c.kind == AssessorKind.PERSON.value,
            is_vote(),
            _JUDGMENT.c.outcome.in_(_ANSWERED),
            judgments_in_force(),
        )
        .order_by(_JUDGMENT.c.id)
    )
    written: dict[int, list[str]] = defaultdict(list)
    notes = (
        sa.select(_EVENT.c.assessor_id, _TEXT.c.body)
        .join(_TEXT, _TEXT.c.id == _EVENT.c.note_id)
        .where(_EVENT.c.task_id == task_id, _TEXT.c.body.is_not(None))
        .order_by(_EVENT.c.id)
    )
    for person, body in connection.execute(notes):
        written[person].append(str(body))
    latest: dict[tuple[int, str], _Said] = {}
    for row in connection.execute(statement):
        notes_of = tuple(written[row.assessor_id])
        latest[row.assessor_id, row.occasion] = _Said(row.id, _level(row), "", notes_of)
    return list(latest.values())


def _of_judges(connection: Connection, item_id: int) -> list[_Said]:
    """Read the answer of each judge: of its latest version, its samples taken together."""
    statement = (
        sa.select(
            _ASSESSOR.c.kind,
            _ASSESSOR.c.name.label("judge"),
            _ASSESSOR.c.digest,
            _JUDGMENT,
            *_LEVEL_COLUMNS,
        )
        .join(_ASSESSOR, _ASSESSOR.c.id == _JUDGMENT.c.assessor_id)
        .outerjoin(_LEVEL, _LEVEL.c.id == _JUDGMENT.c.level_id)
        .where(
            _JUDGMENT.c.item_id == item_id,
            _ASSESSOR.c.kind != AssessorKind.PERSON.value,
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            _JUDGMENT.c.outcome.in_(_ANSWERED),
            judgments_in_force(),
        )
        .order_by(_JUDGMENT.c.id)
    )
    rows = {row.id: row for row in connection.execute(statement)}
    asked: dict[tuple[str, str], tuple[str, str]] = {}
    samples: dict[tuple[str, str], list[JudgeAnswer]] = {}
    for row in rows.values():
        judge, request = (row.kind, row.judge), (row.digest, row.request_digest)
        if asked.get(judge) != request:
            asked[judge], samples[judge] = request, []
        samples[judge].append(
            JudgeAnswer(
                row.id,
                Outcome(row.outcome),
                None if row.grade is None else Grade(row.grade),
                row.level_id,
                row.confidence,
            )
        )
    chosen = [rows[combined(given).judgment_id] for given in samples.values()]
    texts = _texts(connection, {key for row in chosen for key in (row.quote_id, row.reason_id)})
    return [
        _Said(
            row.id,
            _level(row),
            texts.get(row.quote_id, ""),
            (texts[row.reason_id],) if row.reason_id in texts else (),
        )
        for row in chosen
    ]


def _texts(connection: Connection, keys: set[int | None]) -> dict[int, str]:
    wanted = sorted(key for key in keys if key is not None)
    statement = sa.select(_TEXT.c.id, _TEXT.c.body).where(
        is_one_of(connection, _TEXT.c.id, wanted), _TEXT.c.body.is_not(None)
    )
    return {int(key): str(body) for key, body in connection.execute(statement)}
