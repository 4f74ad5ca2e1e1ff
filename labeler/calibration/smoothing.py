"""Smoothing inside a query: what is left of the label model's errors, over alike passages.

Error goes by query: what people mean by relevant there, which judge fails there. So the residuals
of the global model at a query's labels are smoothed over its items by a Gaussian process
(Rasmussen and Williams 2006, "Gaussian Processes for Machine Learning", chapter 2), with

    k(i, j) = level + words * exp(-(1 - cos(i, j)) / reach_of_words)
                    + slope * z_i * z_j + signals * exp(-d(i, j) / (2 * reach_of_signals))

over noise of variance 1: ``cos`` is the cosine of the passages' tf-idf vectors, ``z`` the model's
log-odds of relevance, ``d`` the mean squared difference of the standardised signals.
The residual of an item is a vector over the three grades; one kernel serves all three, so that
corrected probabilities still add to 1. The kernel's numbers make the squared error least with each
label left out in turn, which has a closed form (equations 5.10 to 5.12 there).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labeler.search.tfidf import TfIdf

__all__ = ["LEAST_LABELS", "Kernel", "QueryPart", "smooth", "tune"]

LEAST_LABELS = 2
"""A query with fewer labels is left as the global model has it."""

_MOST_LABELS = 800
"""Of a query's labels so many are smoothed at most, spread evenly: the work is their cube."""

_TUNED_ON = 100
"""The kernel is chosen on the so many queries that have most labels."""

_ROUNDS = 2
_GRIDS: Mapping[str, tuple[float, ...]] = {
    "level": (0.0, 0.05, 0.1, 0.2, 0.5, 1.0),
    "words": (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0),
    "reach_of_words": (0.1, 0.2, 0.3, 0.5, 1.0, 2.0),
    "slope": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    "signals": (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0),
    "reach_of_signals": (0.2, 0.5, 1.0, 2.0),
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """The numbers of the kernel, in units of the noise's variance; the reaches above 0."""

    level: float = 0.5
    words: float = 4.0
    reach_of_words: float = 1.0
    slope: float = 0.05
    signals: float = 2.0
    reach_of_signals: float = 1.0


class QueryPart:
    """The items of a query, with how alike they are to its labelled ones."""

    def __init__(
        self,
        places: NDArray[np.int64],
        labelled: NDArray[np.int64],
        texts: TfIdf,
        x: NDArray[np.float64],
        z: NDArray[np.float64],
    ) -> None:
        """Keep what is needed; likenesses are worked out when they are asked for.

        Args:
            places: The places of the query's items in the pool.
            labelled: Which of them, counted within the query, have a label.
            texts: The passages of the whole pool.
            x: Shape (items of the pool, columns), standardised signals.
            z: Shape (items of the pool,): log-odds of relevance of the global model.
        """
        if len(labelled) > _MOST_LABELS:
            even = np.linspace(0, len(labelled) - 1, _MOST_LABELS).round().astype(np.int64)
            labelled = labelled[even]
        self.places = places
        self.labelled = labelled
        self.own = places[labelled]
        self._texts, self._x, self._z = texts, x, z

    @cached_property
    def _unlike(self) -> NDArray[np.float64]:
        return 1.0 - self._texts.similarity(self.places, self.own)

    @cached_property
    def _distance(self) -> NDArray[np.float64]:
        width = max(self._x.shape[1], 1)
        mine, theirs = self._x[self.places], self._x[self.own]
        squares = (mine**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1)[None, :]
        found: NDArray[np.float64] = np.maximum(squares - 2.0 * mine @ theirs.T, 0.0) / width
        return found

    def covariance(
        self, kernel: Kernel, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Give the kernel between items of the query (all by default) and its labelled ones."""
        chosen = slice(None) if rows is None else rows
        found = np.full(self._unlike[chosen].shape, kernel.level, dtype=np.float64)
        if kernel.words:
            found += kernel.words * np.exp(-self._unlike[chosen] / kernel.reach_of_words)
        if kernel.slope:
            found += kernel.slope * np.outer(self._z[self.places][chosen], self._z[self.own])
        if kernel.signals:
            reach = 2.0 * kernel.reach_of_signals
            found += kernel.signals * np.exp(-self._distance[chosen] / reach)
        return found


def smooth(
    part: QueryPart, kernel: Kernel, residuals: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smooth a query's residuals.

    Args:
        part: The query.
        kernel: The kernel.
        residuals: Shape (labelled, 3): label minus probability, at `QueryPart.labelled`.

    Returns:
        Shape (items, 3): the correction of each item by all labels; and shape (labelled, 3): that
        of each labelled item by the labels of the others alone.
    """
    weights, errors = _solved(part, kernel, residuals)
    return part.covariance(kernel) @ weights, residuals - errors


def tune(
    parts: Sequence[QueryPart],
    residuals: Sequence[NDArray[np.float64]],
    start: Kernel = Kernel(),
) -> Kernel:
    """Choose the kernel whose squared error is least with each label left out in turn.

    One number after the other is moved along a fixed grid while that helps, twice around, from
    the start.

    Args:
        parts: Queries with two labels or more.
        residuals: Those of each.
        start: Where to begin.
    """
    most = sorted(range(len(parts)), key=lambda k: (-len(parts[k].labelled), k))[:_TUNED_ON]
    seen: dict[Kernel, float] = {}

    def error(kernel: Kernel) -> float:
        if kernel not in seen:
            seen[kernel] = sum(
                float(np.square(_solved(parts[k], kernel, residuals[k])[1]).sum()) for k in most
            )
        return seen[kernel]

    best = start
    for _ in range(_ROUNDS):
        before = best
        for name, grid in _GRIDS.items():
            for direction in (-1, 1):
                best = _moved(best, name, grid, direction, error)
        if best == before:
            break
    return best


def _moved(
    best: Kernel, name: str, grid: Sequence[float], direction: int, error: Callable[[Kernel], float]
) -> Kernel:
    value = getattr(best, name)
    place = min(range(len(grid)), key=lambda k: abs(grid[k] - value)) + direction
    while 0 <= place < len(grid):
        candidate = replace(best, **{name: grid[place]})
        if error(candidate) >= error(best):
            break
        best = candidate
        place += direction
    return best


def _solved(
    part: QueryPart, kernel: Kernel, residuals: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the weights of the labels, and the error at each with itself left out."""
    noisy = part.covariance(kernel, part.labelled)
    noisy[np.diag_indices_from(noisy)] += 1.0
    inverse = np.linalg.inv(noisy)
    weights = inverse @ residuals
    return weights, weights / np.diagonal(inverse)[:, None]
