"""Whether judges' confidence keeps its word, by the blind votes of people on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool
from labeler.assessment.people_labels import items_in_dispute
from labeler.assessment.samples import JudgeAnswer
from labeler.evaluation.reliability import ReliabilityBin, reliability_bins
from labeler.labels import Grade
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import EventKind, ReviewEvent, VotePurpose
from labeler.reports.answers import answers_of_people, levels_by_key
from labeler.reports.judge_answers import answers_on
from labeler.reports.judge_versions import JudgeVersion, judge_versions
from labeler.store.projections import judgments_in_force
from labeler.store.registry import pool_named

__all__ = ["AUDIT_DRAWS", "OTHER_VOTES", "ConfidenceReliability", "read_reliability"]

AUDIT_DRAWS = "audit draws"
"""Items that a random draw sent to people: what they show holds for what was accepted."""

OTHER_VOTES = "other votes"
"""Items that people judged for another reason, such as doubt: they are no sample of anything."""


_PART = 10_000


@dataclass(frozen=True, slots=True)
class ConfidenceReliability:
    """How often one judge's labels agreed with people, by the confidence that it gave.

    Agreement is by grade, which is what the confidence speaks of. People's label is what their
    blind votes come to; items in dispute are left out.

    Attributes:
        judge: The judge's name; of several versions the latest is meant.
        digest: The start of its digest, or ``-``.
        calibrations: The calibrations behind its confidences; empty when there is none.
        source: `AUDIT_DRAWS` or `OTHER_VOTES`.
        items: Items with a confidence and a label of people.
        without_confidence: Items that both labelled, the judge without a confidence.
        bins: The bins that hold items, from low confidence to high.
    """

    judge: str
    digest: str
    calibrations: tuple[str, ...]
    source: str
    items: int
    without_confidence: int
    bins: tuple[ReliabilityBin, ...]


def read_reliability(
    connection: Connection, pool: str | None = None
) -> tuple[ConfidenceReliability, ...]:
    """Compare the confidence of each judge with how often people agree, audit draws apart.

    Args:
        connection: A transaction's connection.
        pool: Look at the items of this pool only.

    Returns:
        By judge, audit draws first; a judge without an item that people judged is left out.

    Raises:
        NotFoundError: When there is no such pool.
    """
    items = None if pool is None else items_of_pool(pool_named(connection, pool).id)
    levels = levels_by_key(connection)
    read = read_blind_judgments(connection, items, None)
    people, _ = answers_of_people(connection, read, levels)
    disputed = items_in_dispute(connection, items)
    grades = {
        item: levels[key][1].grade
        for item, key in people.of.items()
        if key > 0 and item not in disputed
    }
    drawn = _audited(connection)
    latest = {(one.kind, one.name): one for one in judge_versions(connection)}
    found: list[ConfidenceReliability] = []
    for judge in latest.values():
        answers = _answers(connection, judge, sorted(grades))
        for source in (AUDIT_DRAWS, OTHER_VOTES):
            part = {
                item: grade
                for item, grade in grades.items()
                if (item in drawn) == (source == AUDIT_DRAWS)
            }
            one = _compare(judge, source, answers, part, _calibrations(connection, judge))
            if one.items or one.without_confidence:
                found.append(one)
    return tuple(found)


def _answers(
    connection: Connection, judge: JudgeVersion, items: Sequence[int]
) -> dict[int, JudgeAnswer]:
    found: dict[int, JudgeAnswer] = {}
    for start in range(0, len(items), _PART):
        found |= answers_on(connection, judge, items[start : start + _PART])
    return found


def _compare(
    judge: JudgeVersion,
    source: str,
    answers: Mapping[int, JudgeAnswer],
    people: Mapping[int, Grade],
    calibrations: tuple[str, ...],
) -> ConfidenceReliability:
    both = [
        (answers[item].confidence, answers[item].grade is grade)
        for item, grade in sorted(people.items())
        if item in answers and answers[item].grade is not None
    ]
    known = [(confidence, agreed) for confidence, agreed in both if confidence is not None]
    return ConfidenceReliability(
        judge=judge.name,
        digest=judge.short_digest,
        calibrations=calibrations,
        source=source,
        items=len(known),
        without_confidence=len(both) - len(known),
        bins=reliability_bins(
            np.array([confidence for confidence, _ in known], dtype=np.float64),
            np.array([agreed for _, agreed in known], dtype=np.bool_),
        ),
    )


def _audited(connection: Connection) -> set[int]:
    """Give the items that have an audit vote in force."""
    event, judgment = table(ReviewEvent), table(Judgment)
    statement = (
        sa.select(judgment.c.item_id)
        .join(event, event.c.judgment_id == judgment.c.id)
        .where(
            event.c.kind == EventKind.VOTE.value,
            event.c.purpose == VotePurpose.AUDIT.value,
            judgments_in_force(),
        )
    )
    return {int(item) for (item,) in connection.execute(statement)}


def _calibrations(connection: Connection, judge: JudgeVersion) -> tuple[str, ...]:
    judgment = table(Judgment)
    statement = (
        sa.select(judgment.c.calibration)
        .where(judgment.c.assessor_id == judge.assessor_id, judgment.c.calibration.is_not(None))
        .distinct()
    )
    return tuple(sorted(str(name) for (name,) in connection.execute(statement)))
