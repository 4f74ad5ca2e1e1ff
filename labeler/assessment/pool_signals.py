"""The raw signals of all judges on a pool's items, and the texts, as columns.

What a judge didn't give is absent (NaN), and nothing is brought to another scale here. No query
here touches runs, ranks or scores of retrievers: those must never enter a label.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.samples import flags_of, standing_samples
from labeler.assessment.verdict import CIRCULAR
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.pools import Candidate, Item
from labeler.records.project import Text
from labeler.records.queries import QueryVersion
from labeler.records.scales import ScaleLevel

__all__ = ["GRADE_RANK", "JudgeSignals", "PoolSignals", "read_pool_signals"]

GRADE_RANK: Mapping[Grade, int] = {
    Grade.NOT_RELEVANT: 0,
    Grade.PARTIALLY_RELEVANT: 1,
    Grade.FULLY_RELEVANT: 2,
}
"""The place of each grade, worst first."""

_LEVEL = table(ScaleLevel)
_KINDS = 3


@dataclass(frozen=True, eq=False)
class JudgeSignals:
    """What one judge gave, item by item; each array has shape (items,).

    Attributes:
        name: The judge.
        scale_id: The scale of its levels; of several, the one that it used last.
        level: The place of its level on that scale from the worst, 0 and more; the mean over its
            samples; NaN where it gave none.
        grade: The grade of the answer that stands, as `GRADE_RANK`; -1 where it gave none.
        probabilities: Shape (items, 3), worst grade first; NaN where it gave none.
        signals: Raw signals by name, among them its confidence, how far its samples agree, and a
            1 for each flag that it set; NaN where absent.
    """

    name: str
    scale_id: int
    level: NDArray[np.float64]
    grade: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    signals: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PoolSignals:
    """The items of a pool with all that the label model may know of them.

    Attributes:
        item_ids: Shape (items,), ascending.
        queries: Shape (items,): the key of each item's query.
        judges: By name.
        passages: The text of each item; empty where there is none.
        query_texts: By the query's key.
        scales: The grade of each level of a scale, levels from the worst, as `GRADE_RANK`; by the
            scale's key.
    """

    item_ids: NDArray[np.int64]
    queries: NDArray[np.int64]
    judges: tuple[JudgeSignals, ...]
    passages: Sequence[str]
    query_texts: Mapping[int, str]
    scales: Mapping[int, tuple[int, ...]]

    @property
    def digest(self) -> str:
        """The SHA-256 of everything in it."""
        content = hashlib.sha256(self.item_ids.tobytes() + self.queries.tobytes())
        for judge in self.judges:
            content.update(judge.name.encode())
            for values in (judge.level, judge.grade, judge.probabilities):
                content.update(values.tobytes())
            for name, column in sorted(judge.signals.items()):
                content.update(name.encode() + column.tobytes())
        for text in [*self.passages, *(f"{k}{v}" for k, v in sorted(self.query_texts.items()))]:
            content.update(text.encode("utf-8", "surrogatepass") + b"\n")
        return content.hexdigest()


def read_pool_signals(connection: Connection, pool_id: int) -> PoolSignals:
    """Read the signals on the items of a pool, of the answers that stand: `standing_samples`."""
    item, candidate, text = table(Item), table(Candidate), table(Text)
    statement = (
        sa.select(item.c.id, item.c.query_id, text.c.body)
        .join(candidate, candidate.c.item_id == item.c.id)
        .outerjoin(text, text.c.id == item.c.text_id)
        .where(candidate.c.pool_id == pool_id)
        .order_by(item.c.id)
    )
    rows = connection.execute(statement).all()
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    queries = np.array([row[1] for row in rows], dtype=np.int64)
    place = {int(key): number for number, key in enumerate(ids.tolist())}
    levels = _levels(connection)
    judges = _read_judges(connection, pool_id, place, levels)
    scales = {
        scale: tuple(grade for own, _, grade in sorted(levels.values()) if own == scale)
        for scale in {judge.scale_id for judge in judges}
    }
    texts = _query_texts(connection, set(queries.tolist()))
    return PoolSignals(ids, queries, judges, [row[2] or "" for row in rows], texts, scales)


def _levels(connection: Connection) -> dict[int, tuple[int, float, int]]:
    """Give scale, place and grade of every level, by its key."""
    columns = sa.select(_LEVEL.c.id, _LEVEL.c.scale_id, _LEVEL.c.position, _LEVEL.c.grade)
    return {
        int(key): (int(scale), float(position), GRADE_RANK[Grade(grade)])
        for key, scale, position, grade in connection.execute(columns)
    }


def _query_texts(connection: Connection, keys: set[int]) -> dict[int, str]:
    version, text = table(QueryVersion), table(Text)
    statement = (
        sa.select(version.c.query_id, text.c.body)
        .join(text, text.c.id == version.c.text_id)
        .order_by(version.c.version)
    )
    rows = connection.execute(statement)
    return {int(key): body for key, body in rows if key in keys and body}


def _read_judges(
    connection: Connection,
    pool_id: int,
    place: Mapping[int, int],
    levels: Mapping[int, tuple[int, float, int]],
) -> tuple[JudgeSignals, ...]:
    columns = ("outcome", "level_id", "probabilities", "confidence", "signals", "flags")
    answers = standing_samples(connection, pool_id, columns)
    return tuple(
        _columns_of(judge[0], answers[judge], place, levels)
        for judge in sorted(answers)
        if any(row[3] == Outcome.JUDGED.value for some in answers[judge].values() for row in some)
    )


def _columns_of(
    name: str,
    answers: Mapping[int, Sequence[Sequence[Any]]],
    place: Mapping[int, int],
    levels: Mapping[int, tuple[int, float, int]],
) -> JudgeSignals:
    count = len(place)
    level = np.full(count, math.nan)
    grade = np.full(count, -1, dtype=np.int64)
    probabilities = np.full((count, _KINDS), math.nan)
    signals: dict[str, NDArray[np.float64]] = {}
    scale = 0
    several = any(len(samples) > 1 for samples in answers.values())
    for item, samples in answers.items():
        at = place[item]
        judged = [row for row in samples if row[4] is not None]
        for signal, value in _over_samples(samples) if several else _signals_of(*samples[0][6:]):
            column = signals.get(signal)
            if column is None:
                # A flag that isn't set is a no, a signal that isn't there is unknown.
                column = np.full(count, 0.0 if signal.startswith("flag ") else math.nan)
                signals[signal] = column
            column[at] = value
        if not judged:
            continue
        scale = levels[judged[-1][4]][0]
        grade[at] = levels[_standing(judged)][2]
        level[at] = sum(levels[row[4]][1] for row in judged) / len(judged)
        given = [_probabilities(row[5]) for row in judged if row[5] != "{}"]
        if given:
            probabilities[at] = given[0] if len(given) == 1 else np.mean(given, axis=0)
    # Who never answered an item raised no flag there.
    return JudgeSignals(name, scale, level, grade, probabilities, dict(sorted(signals.items())))


def _standing(judged: Sequence[Sequence[Any]]) -> int:
    """Give the level that most samples have, the later one of two as frequent."""
    if len(judged) == 1:
        return int(judged[0][4])
    counts = Counter(row[4] for row in judged)
    return int(max(reversed(judged), key=lambda row: counts[row[4]])[4])


@lru_cache(maxsize=4096)
def _signals_of(
    confidence: float | None, signals: str, flags: str
) -> tuple[tuple[str, float], ...]:
    """Give the signals of one answer by name; a large pool has many with just the same ones."""
    sure = () if confidence is None else (("confidence", float(confidence)),)
    numbers = {} if signals == "{}" else json.loads(signals)
    flagged = ((f"flag {flag}", 1.0) for flag in flags_of(flags) if flag != CIRCULAR)
    return (*sure, *((str(name), float(value)) for name, value in numbers.items()), *flagged)


def _over_samples(samples: Sequence[Sequence[Any]]) -> Iterable[tuple[str, float]]:
    """Give the mean of each signal, each flag that any sample has, and how far samples agree."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in samples:
        for name, value in _signals_of(*row[6:]):
            values[name].append(value)
    for name, given in values.items():
        yield name, sum(given) / len(given)
    judged = [row[4] for row in samples if row[4] is not None]
    if judged:
        yield "agreement of samples", Counter(judged).most_common(1)[0][1] / len(judged)


def _probabilities(text: str) -> tuple[float, float, float]:
    """Read the probabilities of the grades, worst first; grades left out share what is left."""
    content = {Grade(name): float(value) for name, value in json.loads(text).items()}
    absent = len(GRADE_RANK) - len(content)
    rest = max(1.0 - sum(content.values()), 0.0) / absent if absent else 0.0
    worst, middle, best = (content.get(grade, rest) for grade in GRADE_RANK)
    return worst, middle, best
