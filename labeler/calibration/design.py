"""From raw signals to the columns that the label model is fitted on.

Every signal is a column of its own, and what is absent has a column that says so; which signal
weighs how much is left to the fit. Nothing here comes from a retriever's rank or score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.pool_signals import JudgeSignals, PoolSignals
from labeler.search.tfidf import TfIdf

__all__ = ["Design", "make_design", "panel_grades", "parts_by_query"]

_LEAST_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a pool's items.

    Attributes:
        names: What the columns are.
        x: Shape (items, columns), finite, each column of mean 0 and deviation 1 over the pool.
        parts: The places of each query's items.
        texts: The passages as vectors, in the order of the items.
        fixed: Shape (items, 3): the probability of each grade as the judges themselves have it,
            worst first, before anything is learned; rows of an item that none judged are equal.
    """

    names: tuple[str, ...]
    x: NDArray[np.float64]
    parts: tuple[NDArray[np.int64], ...]
    texts: TfIdf
    fixed: NDArray[np.float64]


def make_design(signals: PoolSignals, at_chance: AbstractSet[str] = frozenset()) -> Design:
    """Make the columns.

    Args:
        signals: The raw signals.
        at_chance: Judges that don't count in the panel; their raw signals stay, and weigh what the
            fit finds them to be worth.
    """
    parts = parts_by_query(signals.queries)
    texts = TfIdf(signals.passages)
    columns: dict[str, NDArray[np.float64]] = {}
    for judge in signals.judges:
        for name, column in _of_judge(judge):
            columns[f"{judge.name}: {name}"] = column
    counting = [judge for judge in signals.judges if judge.name not in at_chance]
    panel = counting or list(signals.judges)
    mean, spread = _panel(panel, len(signals.item_ids))
    of_text = np.zeros((len(signals.item_ids), 2))
    for part in parts:
        query = signals.query_texts.get(int(signals.queries[part[0]]), "")
        of_text[part] = texts.cosine_and_coverage(query, part)
    columns |= {
        "panel: mean": mean,
        "text: cosine": of_text[:, 0],
        "text: coverage": of_text[:, 1],
        "text: log length": np.log1p(texts.lengths.astype(np.float64)),
    }
    for name in ("panel: mean", "text: cosine", "text: coverage"):
        columns[f"{name} in its query"] = _within(columns[name], parts)
    if len(panel) > 1:
        columns["panel: spread"] = spread
    names, x = _standardised(columns)
    return Design(names, x, parts, texts, _as_judges_have_it(panel, signals))


def parts_by_query(queries: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Give the places of each query's items, queries by their keys."""
    order = np.argsort(queries, kind="stable")
    ends = np.flatnonzero(np.diff(queries[order])) + 1
    return tuple(np.split(order, ends)) if len(order) else ()


def panel_grades(
    panel: Sequence[JudgeSignals], scales: Mapping[int, Sequence[int]]
) -> NDArray[np.int64]:
    """Give the grade that a panel's judges come to, as `GRADE_RANK`; -1 where none judged.

    Where all use one scale it is the grade of their mean level, else their mean grade; a mean in
    the middle of two goes to the worse one: a panel claims no more than it can hold.

    Args:
        panel: One judge or more.
        scales: The grades of each scale's levels, from the worst.
    """
    one_scale = len({judge.scale_id for judge in panel}) == 1
    given = np.stack([judge.level if one_scale else _as_numbers(judge.grade) for judge in panel])
    mean = _mean(given)
    rounded = np.where(np.isnan(mean), -1, np.ceil(mean - 0.5)).astype(np.int64)
    if not one_scale:
        return rounded
    grades = np.array(scales[panel[0].scale_id], dtype=np.int64)
    return np.where(rounded < 0, -1, grades[np.maximum(rounded, 0)])


def _as_numbers(grades: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(grades < 0, np.nan, grades.astype(np.float64))


def _of_judge(judge: JudgeSignals) -> list[tuple[str, NDArray[np.float64]]]:
    found = [("level", judge.level)]
    given = judge.probabilities
    if not np.isnan(given).all():
        # Log-odds, so that a sure judge isn't squeezed into the last hundredth.
        sure = np.clip(given, 1e-4, 1 - 1e-4)
        found.append(("log-odds of relevant", np.log((1 - sure[:, 0]) / sure[:, 0])))
        found.append(("log-odds of fully", np.log(sure[:, 2] / (1 - sure[:, 2]))))
    return [*found, *judge.signals.items()]


def _panel(
    judges: Sequence[JudgeSignals], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give mean and spread of what the judges said: levels where all share a scale, else grades."""
    if not judges:
        return np.full(count, np.nan), np.full(count, np.nan)
    one_scale = len({judge.scale_id for judge in judges}) == 1
    given = np.stack([judge.level if one_scale else _as_numbers(judge.grade) for judge in judges])
    mean = _mean(given)
    spread = np.sqrt(_mean((given - mean) ** 2))
    return mean, spread


def _as_judges_have_it(judges: Sequence[JudgeSignals], signals: PoolSignals) -> NDArray[np.float64]:
    """Give probabilities from the judges alone.

    One judge that gives probabilities is taken at its word. Else the grade that the panel comes to
    has at least half, and the votes share the other half.
    """
    if not judges:
        return np.full((len(signals.item_ids), 3), 1 / 3)
    grades = panel_grades(judges, signals.scales)
    votes = sum(np.stack([judge.grade == grade for grade in range(3)], axis=1) for judge in judges)
    shares = (np.asarray(votes, dtype=np.float64) + 1 / 3) / (
        np.sum(votes, axis=1, keepdims=True) + 1
    )
    found: NDArray[np.float64] = 0.5 * np.eye(3)[grades] + 0.5 * shares
    found[grades < 0] = 1 / 3
    if len(judges) == 1:
        own = judges[0].probabilities
        given = ~np.isnan(own).any(axis=1)
        found[given] = own[given] / own[given].sum(axis=1, keepdims=True)
    return found


def _within(
    values: NDArray[np.float64], parts: tuple[NDArray[np.int64], ...]
) -> NDArray[np.float64]:
    """Give z-scores within each query; 0 where all are equal."""
    found = np.full(len(values), np.nan)
    for part in parts:
        own = values[part]
        there = ~np.isnan(own)
        if there.any():
            deviation = own[there].std()
            centred = own - own[there].mean()
            found[part] = (
                centred / deviation if deviation > _LEAST_SPREAD else np.where(there, 0.0, np.nan)
            )
    return found


def _standardised(
    columns: dict[str, NDArray[np.float64]],
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Fill what is absent with the mean, say where it was, and leave constant columns out."""
    names: list[str] = []
    made: list[NDArray[np.float64]] = []
    seen: set[bytes] = set()
    for name, column in columns.items():
        absent = np.isnan(column)
        if absent.all():
            continue
        filled = np.where(absent, column[~absent].mean(), column)
        for title, values in ((name, filled), (f"{name} is absent", absent.astype(np.float64))):
            deviation = values.std()
            if deviation <= _LEAST_SPREAD:
                continue
            z = (values - values.mean()) / deviation
            # Signals of one answer are absent together; once is enough to say so.
            key = np.round(z, 9).tobytes()
            if key not in seen:
                seen.add(key)
                names.append(title)
                made.append(z)
    x = np.column_stack(made) if made else np.zeros((len(next(iter(columns.values()))), 0))
    return tuple(names), x


def _mean(given: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the mean over the first axis of what is there; NaN where nothing is."""
    there = ~np.isnan(given)
    counts = there.sum(axis=0)
    total = np.where(there, given, 0.0).sum(axis=0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
