"""A judge's answer on an item: the latest version of the judge, its samples taken together."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.pools import Candidate
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.projections import judgments_in_force

__all__ = ["JudgeAnswer", "combined", "flags_of", "latest_answers", "standing_samples"]

_JUDGMENT, _ASSESSOR, _LEVEL = table(Judgment), table(Assessor), table(ScaleLevel)

_ROWS_AT_ONCE = 200
"""So few that they are gone before the collector of garbage looks at them."""


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
    if len(samples) == 1:
        return samples[0]
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
    """Read each judge's answer on the items of a pool, its samples taken together."""
    rows = connection.execute(sa.select(_ASSESSOR.c.id, _ASSESSOR.c.digest))
    digests = {int(key): str(digest) for key, digest in rows}
    levels = connection.execute(sa.select(_LEVEL.c.id, _LEVEL.c.grade))
    grades: dict[int | None, Grade | None] = {key: Grade(grade) for key, grade in levels}
    grades[None] = None
    outcomes = {outcome.value: outcome for outcome in Outcome}
    columns = ("id", "outcome", "level_id", "confidence", "flags")
    found: dict[int, list[JudgeAnswer]] = defaultdict(list)
    for (name, _), by_item in standing_samples(connection, pool_id, columns, as_of).items():
        for item, samples in by_item.items():
            answers = [
                JudgeAnswer(
                    judgment_id=key,
                    outcome=outcomes[outcome],
                    grade=grades[level],
                    level_id=level,
                    confidence=confidence,
                    flags=flags_of(flags),
                    score_version=digests[assessor],
                    judge=name,
                )
                for _, assessor, _, key, outcome, level, confidence, flags in samples
            ]
            found[item].append(combined(answers))
    return dict(found)


def standing_samples(
    connection: Connection, pool_id: int, columns: Sequence[str], as_of: int | None = None
) -> dict[tuple[str, str], dict[int, tuple[tuple[Any, ...], ...]]]:
    """Read the samples of each judge that stand, on the items of a pool.

    Two versions of a judge (another prompt text, other parameters) are one judge: on each item the
    version that answered last counts, and of its answers those to the request that it was asked
    last.

    Args:
        connection: A transaction's connection.
        pool_id: The pool.
        columns: What is read of each judgment.
        as_of: A revision; what came after it is left out. None is the present.

    Returns:
        By the judge's name and kind, and by item, one tuple for each sample, in the order in which
        they were given: the keys of item and assessor, the digest of the request, the columns.
    """
    candidate = table(Candidate)
    rows = connection.execute(
        sa.select(_ASSESSOR.c.id, _ASSESSOR.c.name, _ASSESSOR.c.kind).where(
            _ASSESSOR.c.kind != AssessorKind.PERSON.value
        )
    )
    judges = {key: (str(name), str(kind)) for key, name, kind in rows}
    statement = (
        sa.select(
            *(_JUDGMENT.c[name] for name in ("item_id", "assessor_id", "request_digest", *columns))
        )
        .join(candidate, candidate.c.item_id == _JUDGMENT.c.item_id)
        .where(
            candidate.c.pool_id == pool_id,
            _JUDGMENT.c.assessor_id.in_(list(judges)),
            # A sentinel set that is judged again measures the judge; it changes no label.
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            judgments_in_force(as_of),
        )
        .order_by(_JUDGMENT.c.id)
    )
    found: dict[tuple[str, str], dict[int, tuple[tuple[Any, ...], ...]]] = defaultdict(dict)
    # Plain tuples of plain values: the collector of garbage lets these alone, and would go through
    # as many objects of any other kind again and again, which takes as long as reading them.
    for part in connection.execute(statement).partitions(_ROWS_AT_ONCE):
        for row in map(tuple, part):
            of_judge = found[judges[row[1]]]
            samples = of_judge.get(row[0])
            same_request = samples is not None and samples[0][1:3] == row[1:3]
            of_judge[row[0]] = (*samples, row) if samples and same_request else (row,)
    return dict(found)


@lru_cache(maxsize=4096)
def flags_of(text: str) -> tuple[str, ...]:
    """Read the flags of a judgment as they are stored."""
    return () if text == "[]" else tuple(json.loads(text))
