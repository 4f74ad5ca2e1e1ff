"""The judgments that tell what an assessor thought unaided: in force, first, and blind.

Agreement uses blind votes. What a reviewer said after a reveal is not blind, nor is the level that
a correction put in the place of another; a vote that was blind still counts when its reviewer
changed it after the reveal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select

from labeler.assessment.decisions import is_vote
from labeler.labels import Outcome
from labeler.records import table
from labeler.records.judgments import (
    Correction,
    CorrectionTarget,
    Judgment,
    Occasion,
    Withdrawal,
    WithdrawnKind,
)
from labeler.records.queue import EventKind, ReviewEvent, Task, VotePurpose
from labeler.records.scales import Assessor, AssessorKind

__all__ = ["BlindJudgment", "BlindJudgments", "Sight", "counts_as_blind", "read_blind_judgments"]

_JUDGMENT, _EVENT = table(Judgment), table(ReviewEvent)


class BlindJudgment(NamedTuple):
    """One judgment of one assessor; the level is None unless the outcome is ``judged``."""

    judgment_id: int
    item_id: int
    assessor_id: int
    outcome: Outcome
    level_id: int | None
    at: datetime | None
    revision: int
    occasion: Occasion = Occasion.FIRST


@dataclass(frozen=True, slots=True)
class BlindJudgments:
    """What was read.

    Attributes:
        judgments: Those that count, in the order in which they were stored.
        adjudications: The judgments given to settle a dispute.
        not_blind: How many in force don't count, since their assessor had seen others' labels.
    """

    judgments: tuple[BlindJudgment, ...]
    adjudications: frozenset[int]
    not_blind: int


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of who saw what, and when; all times are revisions.

    Attributes:
        withdrawn: By judgment, when it was taken out of force and by what: ``vote`` where its
            assessor took it back, else since it was wrong.
        revealed: By assessor and item, when others' labels were first shown.
        corrections: The revisions of corrections; their judgments were given in sight of others.
    """

    withdrawn: Mapping[int, tuple[int, CorrectionTarget]]
    revealed: Mapping[tuple[int, int], int]
    corrections: frozenset[int]


def counts_as_blind(judgment: BlindJudgment, sight: Sight) -> bool:
    """Tell whether a judgment counts: given blind, and in force or changed after a reveal only."""
    shown = sight.revealed.get((judgment.assessor_id, judgment.item_id))
    if judgment.revision in sight.corrections or (shown is not None and judgment.revision > shown):
        return False
    if judgment.judgment_id not in sight.withdrawn:
        return True
    revision, target = sight.withdrawn[judgment.judgment_id]
    return shown is not None and revision > shown and target is CorrectionTarget.VOTE


def read_blind_judgments(
    connection: Connection,
    items: Select[int] | None,
    as_of: int | None,
    *,
    votes: bool = False,
) -> BlindJudgments:
    """Read the first judgments on some items; sentinels and hidden repeats have their own use.

    Args:
        connection: A transaction's connection.
        items: Selects the items' keys; None means all.
        as_of: A revision; what came after it is left out. None is the present.
        votes: Read people's votes alone, and second looks at their own ones with them.
    """
    sight = Sight(
        _withdrawn(connection, as_of), _revealed(connection, as_of), _corrections(connection, as_of)
    )
    columns = (
        *("id", "item_id", "assessor_id", "outcome"),
        *("level_id", "judged_at", "revision_id", "occasion"),
    )
    conditions = _until(_JUDGMENT, as_of)
    if items is not None:
        conditions.append(_JUDGMENT.c.item_id.in_(items))
    if votes:
        assessor = table(Assessor)
        people = sa.select(assessor.c.id).where(assessor.c.kind == AssessorKind.PERSON.value)
        conditions += [_JUDGMENT.c.assessor_id.in_(people), is_vote()]
    else:
        conditions.append(_JUDGMENT.c.occasion == Occasion.FIRST.value)
    statement = (
        sa.select(*(_JUDGMENT.c[name] for name in columns))
        .where(*conditions)
        .order_by(_JUDGMENT.c.id)
    )
    kept: list[BlindJudgment] = []
    not_blind = 0
    outcomes = {outcome.value: outcome for outcome in Outcome}
    occasions = {occasion.value: occasion for occasion in Occasion}
    for key, item, assessor, outcome, level, at, revision, occasion in connection.execute(
        statement
    ):
        one = BlindJudgment(
            key,
            item,
            assessor,
            outcomes[outcome],
            level,
            at,
            revision,
            occasions[occasion],
        )
        if counts_as_blind(one, sight):
            kept.append(one)
        else:
            not_blind += key not in sight.withdrawn
    return BlindJudgments(tuple(kept), _adjudications(connection, as_of), not_blind)


def _until(read: sa.Table, as_of: int | None) -> list[ColumnElement[bool]]:
    return [] if as_of is None else [read.c.revision_id <= as_of]


def _withdrawn(
    connection: Connection, as_of: int | None
) -> dict[int, tuple[int, CorrectionTarget]]:
    withdrawal, correction = table(Withdrawal), table(Correction)
    statement = (
        sa.select(withdrawal.c.target_id, withdrawal.c.revision_id, correction.c.target)
        .join(correction, correction.c.id == withdrawal.c.correction_id)
        .where(
            withdrawal.c.kind == WithdrawnKind.JUDGMENT.value,
            *_until(withdrawal, as_of),
        )
    )
    return {
        key: (revision, CorrectionTarget(target))
        for key, revision, target in connection.execute(statement)
    }


def _revealed(connection: Connection, as_of: int | None) -> dict[tuple[int, int], int]:
    task = table(Task)
    statement = (
        sa.select(_EVENT.c.assessor_id, task.c.item_id, sa.func.min(_EVENT.c.revision_id))
        .join(task, task.c.id == _EVENT.c.task_id)
        .where(_EVENT.c.kind == EventKind.REVEAL.value, *_until(_EVENT, as_of))
        .group_by(_EVENT.c.assessor_id, task.c.item_id)
    )
    return {(person, item): shown for person, item, shown in connection.execute(statement)}


def _corrections(connection: Connection, as_of: int | None) -> frozenset[int]:
    """List the revisions of corrections that people made, other than by their own votes."""
    correction = table(Correction)
    statement = sa.select(correction.c.revision_id).where(
        correction.c.target != CorrectionTarget.VOTE.value, *_until(correction, as_of)
    )
    return frozenset(revision for (revision,) in connection.execute(statement))


def _adjudications(connection: Connection, as_of: int | None) -> frozenset[int]:
    statement = sa.select(_EVENT.c.judgment_id).where(
        _EVENT.c.kind == EventKind.VOTE.value,
        _EVENT.c.purpose == VotePurpose.ADJUDICATION.value,
        *_until(_EVENT, as_of),
    )
    return frozenset(key for (key,) in connection.execute(statement))
