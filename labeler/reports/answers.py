"""What each assessor answered on each item, and what people or the decisions in force say of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum, StrEnum

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from labeler.assessment.blind_judgments import BlindJudgment, BlindJudgments
from labeler.assessment.labels_in_force import labels_in_force
from labeler.assessment.settlement import Dispute, Vote, settle_votes
from labeler.labels import Level, Outcome, Scale
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.registry import scale_of

__all__ = [
    "DECISIONS",
    "PEOPLE",
    "Answers",
    "LevelsByKey",
    "NoLabel",
    "Repeats",
    "answer_of",
    "answers_of_assessors",
    "answers_of_decisions",
    "answers_of_people",
    "levels_by_key",
]

PEOPLE = "people"
"""Names the people together: what their blind votes come to."""

DECISIONS = "decisions"
"""Names the decisions in force, taken as the answers of one assessor."""

_ANSWERED = (Outcome.JUDGED, Outcome.ABSTAINED)
_NO_TIME = datetime.min.replace(tzinfo=UTC)

LevelsByKey = Mapping[int, tuple[Scale, Level]]
"""Each stored level with its scale, by its key."""


class NoLabel(IntEnum):
    """What stands in the place of a level's key where an item has no label of somebody."""

    NOTHING = 0
    """The assessor was never asked, or hasn't answered yet."""
    ABSTAINED = -1
    FAILED = -2
    """Judging it failed, was refused or was cut off."""
    UNDECIDED = -3
    """One person gave contradicting labels at one time, or people contradict each other."""


class Repeats(StrEnum):
    """Which of the several labels that a judge gave one item counts."""

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Answers:
    """What one assessor, or a group taken as one, says.

    Attributes:
        name: As reports and ``--against`` name it.
        kind: ``person``, ``llm``, ``embedded``; ``people`` or ``decisions`` for a group.
        names: All names by which it is found.
        of: By item, the key of a level, or a `NoLabel`.
        repeated: On how many items it gave several different labels, of which one counts.
    """

    name: str
    kind: str
    of: Mapping[int, int]
    names: frozenset[str] = field(default_factory=frozenset)
    repeated: int = 0

    @property
    def is_person(self) -> bool:
        """Whether this is one person."""
        return self.kind == AssessorKind.PERSON.value


def levels_by_key(connection: Connection) -> dict[int, tuple[Scale, Level]]:
    """Read every level that the project knows."""
    level = table(ScaleLevel)
    rows = connection.execute(sa.select(level.c.id, level.c.scale_id, level.c.code)).all()
    scales = {key: scale_of(connection, key) for key in {row.scale_id for row in rows}}
    return {row.id: (scales[row.scale_id], scales[row.scale_id].level(row.code)) for row in rows}


def answer_of(
    judgments: Sequence[BlindJudgment], *, person: bool, repeats: Repeats = Repeats.LAST
) -> int:
    """Tell what one assessor's judgments of one item come to: a level's key, or a `NoLabel`.

    The order is that of time where all have one, else that in which they were stored. A failure
    is no answer, so it never hides one. A person's later label takes the place of the earlier;
    labels of a person that have no times, or the same, have no order, and where they differ,
    nothing wins by its place in a file.

    Args:
        judgments: One or more, in the order in which they were stored.
        person: Whether a person gave them.
        repeats: Which one of a judge's counts.
    """
    answered = [one for one in judgments if one.outcome in _ANSWERED]
    if not answered:
        return NoLabel.FAILED
    times = [one.at for one in answered if one.at is not None]
    timed = len(times) == len(answered)
    if not person:
        ordered = sorted(answered, key=lambda one: one.at or _NO_TIME) if timed else answered
        level = ordered[0 if repeats is Repeats.FIRST else -1].level_id
        return NoLabel.ABSTAINED if level is None else level
    latest = [one for one in answered if one.at == max(times)] if timed else answered
    levels = {one.level_id for one in latest if one.level_id is not None}
    if len(levels) > 1:
        return NoLabel.UNDECIDED
    return levels.pop() if levels else NoLabel.ABSTAINED


def answers_of_assessors(
    connection: Connection, read: BlindJudgments, repeats: Repeats = Repeats.LAST
) -> list[Answers]:
    """Give the answers of every assessor that judged something, people first, then by name."""
    rows = connection.execute(sa.select(table(Assessor))).all()
    named = {row.id: row for row in rows}
    shown = _shown_names({row.id: (row.kind, row.name, row.digest) for row in rows})
    given: dict[int, dict[int, list[BlindJudgment]]] = defaultdict(lambda: defaultdict(list))
    for one in read.judgments:
        given[one.assessor_id][one.item_id].append(one)
    found: list[Answers] = []
    for key, by_item in given.items():
        row = named[key]
        person = row.kind == AssessorKind.PERSON.value
        found.append(
            Answers(
                name=shown[key],
                kind=row.kind,
                of={
                    item: answer_of(said, person=person, repeats=repeats)
                    for item, said in by_item.items()
                },
                names=frozenset({shown[key], row.name, row.digest[:12]} - {""}),
                repeated=sum(
                    len({one.level_id for one in said if one.level_id is not None}) > 1
                    for said in by_item.values()
                ),
            )
        )
    return sorted(found, key=lambda one: (not one.is_person, one.name))


def _shown_names(assessors: Mapping[int, tuple[str, str, str]]) -> dict[int, str]:
    """Name assessors by their name alone where nothing else has it, else with what tells it apart.

    Args:
        assessors: Kind, name and digest, by key.
    """
    times = Counter([PEOPLE, DECISIONS, *(name for _, name, _ in assessors.values())])
    shown: dict[int, str] = {}
    for key, (kind, name, digest) in assessors.items():
        apart = f"{kind} {digest[:12]}".strip()
        shown[key] = name if times[name] == 1 else f"{name} ({apart})"
    return shown


def answers_of_people(
    connection: Connection, read: BlindJudgments, levels: LevelsByKey
) -> tuple[Answers, int]:
    """Give what the blind votes of people come to on each item, and how many are in dispute."""
    assessor = table(Assessor)
    people = {
        key
        for (key,) in connection.execute(
            sa.select(assessor.c.id).where(assessor.c.kind == AssessorKind.PERSON.value)
        )
    }
    votes: dict[int, list[Vote]] = defaultdict(list)
    for one in read.judgments:
        if one.assessor_id in people and one.outcome in _ANSWERED:
            votes[one.item_id].append(_vote(one, levels, read.adjudications))
    said: dict[int, int] = {}
    for item, cast in votes.items():
        settled = settle_votes(cast)
        if isinstance(settled, Dispute):
            said[item] = NoLabel.UNDECIDED
        elif settled is not None:
            said[item] = NoLabel.ABSTAINED if settled.level_id is None else settled.level_id
    disputed = sum(answer == NoLabel.UNDECIDED for answer in said.values())
    return Answers(PEOPLE, PEOPLE, said), disputed


def _vote(one: BlindJudgment, levels: LevelsByKey, adjudications: frozenset[int]) -> Vote:
    level = None if one.level_id is None else levels[one.level_id][1]
    return Vote(
        judgment_id=one.judgment_id,
        assessor_id=one.assessor_id,
        outcome=one.outcome,
        grade=None if level is None else level.grade,
        level_id=one.level_id,
        order=-1 if level is None else level.order,
        at=one.at,
        adjudicates=one.judgment_id in adjudications,
    )


def answers_of_decisions(
    connection: Connection, items: Select[int], as_of: int | None
) -> tuple[Answers, int]:
    """Give the decisions in force, and how many of them a policy accepted from a judge."""
    labels = labels_in_force(connection, items, as_of)
    said = {
        item: NoLabel.ABSTAINED if label.level_id is None else label.level_id
        for item, label in labels.items()
    }
    accepted = sum(label.basis is Basis.ACCEPTED for label in labels.values())
    return Answers(DECISIONS, DECISIONS, said), accepted
