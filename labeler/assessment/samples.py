"""A judge's answer on an item: the latest version of the judge, its samples taken together."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.projections import judgments_in_force

__all__ = ["JudgeAnswer", "combined", "latest_answers"]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The answer of one judge on an item.

    Attributes:
        judgment_id: The judgment that stands for it.
        outcome: How judging ended.
        grade: The grade, where it is judged.
        level_id: The level's key, where it is judged.
        confidence: In [0, 1], or None. Of several samples it is the share that agrees.
        flags: The flags of all samples.
        score_version: The judge's digest.
        judge: The judge's name.
    """

    judgment_id: int
    outcome: Outcome
    grade: Grade | None
    level_id: int | None
    confidence: float | None
    flags: tuple[str, ...] = ()
    score_version: str = ""
    judge: str = ""


def combined(samples: Sequence[JudgeAnswer]) -> JudgeAnswer:
    """Take the samples of one judge on one item together.

    Samples that failed count only where nothing else is there. Among the rest the most frequent
    answer stands, an abstention being an answer too. Where two are as frequent nobody knows which
    is meant: the later one stands, and its share says how little that is.

    Args:
        samples: In the order in which they were given; at least one.
    """
    closed = [one for one in samples if one.outcome in {Outcome.JUDGED, Outcome.ABSTAINED}]
    if not closed:
        return samples[-1]
    if len(closed) == 1:
        return closed[0]
    counts = Counter(one.level_id for one in closed)
    chosen = max(reversed(closed), key=lambda one: counts[one.level_id])
    flags = dict.fromkeys(flag for one in closed for flag in one.flags)
    share = counts[chosen.level_id] / len(closed)
    return replace(
        chosen,
        confidence=None if chosen.grade is None else share,
        flags=tuple(flags),
    )


def latest_answers(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> dict[int, list[JudgeAnswer]]:
    """Read each judge's answer on the items of a pool.

    Two versions of a judge (another prompt text, other parameters) are one judge: the version that
    answered last counts, and of its answers those to the request that it was asked last.
    """
    judgment, assessor, level = table(Judgment), table(Assessor), table(ScaleLevel)
    candidate = table(Candidate)
    statement = (
        sa.select(
            judgment.c.item_id,
            assessor.c.kind,
            assessor.c.name,
            judgment.c.id,
            judgment.c.outcome,
            level.c.grade,
            judgment.c.level_id,
            judgment.c.confidence,
            judgment.c.flags,
            assessor.c.digest,
            judgment.c.request_digest,
        )
        .join(candidate, candidate.c.item_id == judgment.c.item_id)
        .join(assessor, assessor.c.id == judgment.c.assessor_id)
        .outerjoin(level, level.c.id == judgment.c.level_id)
        .where(
            candidate.c.pool_id == pool_id,
            assessor.c.kind != AssessorKind.PERSON.value,
            judgments_in_force(as_of),
        )
        .order_by(judgment.c.id)
    )
    asked: dict[tuple[int, str, str], tuple[str, str]] = {}
    samples: dict[tuple[int, str, str], list[JudgeAnswer]] = defaultdict(list)
    for row in connection.execute(statement):
        judge = (row.item_id, row.kind, row.name)
        request = (row.digest, row.request_digest)
        if asked.get(judge) != request:
            asked[judge] = request
            samples[judge] = []
        samples[judge].append(
            JudgeAnswer(
                judgment_id=row.id,
                outcome=Outcome(row.outcome),
                grade=None if row.grade is None else Grade(row.grade),
                level_id=row.level_id,
                confidence=row.confidence,
                flags=tuple(json.loads(row.flags)),
                score_version=row.digest,
                judge=row.name,
            )
        )
    found: dict[int, list[JudgeAnswer]] = defaultdict(list)
    for (item, _, _), answers in samples.items():
        found[item].append(combined(answers))
    return dict(found)
