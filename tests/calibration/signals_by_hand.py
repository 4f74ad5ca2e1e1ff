"""Signals of a pool made by hand, for tests of the label model: no database."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.pool_signals import JudgeSignals, PoolSignals

SCALE = {1: (0, 1, 2)}
"""One scale whose three levels are the grades."""


def judge_signals(
    name: str,
    levels: NDArray[np.float64],
    *,
    signals: Mapping[str, NDArray[np.float64]] | None = None,
    scale_id: int = 1,
) -> JudgeSignals:
    """Make a judge of levels 0 to 2 that are the grades; NaN where it gave none."""
    grades = np.where(np.isnan(levels), -1, np.nan_to_num(levels)).astype(np.int64)
    nothing = np.full((len(levels), 3), np.nan)
    return JudgeSignals(name, scale_id, levels, grades, nothing, signals or {})


def pool_signals(
    judges: tuple[JudgeSignals, ...], queries: NDArray[np.int64], passages: list[str] | None = None
) -> PoolSignals:
    """Make a pool of the judges' items; passages are alike only where they are given as such."""
    count = len(queries)
    texts = passages or [f"word{place} alone" for place in range(count)]
    asked = {int(key): f"question {key}" for key in np.unique(queries)}
    return PoolSignals(np.arange(1, count + 1), queries, judges, texts, asked, SCALE)


def peculiar_queries(
    seed: int, queries: int = 20, items: int = 40
) -> tuple[PoolSignals, NDArray[np.int64]]:
    """Make queries in which topics, not judges, decide: two of four topics are relevant in each.

    Returns:
        The signals, with one judge that is right in about two of three, and the true grades.
    """
    random = np.random.default_rng(seed)
    keys = np.repeat(np.arange(queries), items)
    topics = random.integers(0, 4, size=len(keys))
    wanted = np.array([random.permutation(4)[:2] for _ in range(queries)])
    truth = np.where((wanted[keys] == topics[:, None]).any(axis=1), 2, 0)
    right = random.uniform(size=len(keys)) < 0.65
    said = np.where(right, truth, 2 - truth).astype(np.float64)
    words = ["alpha amber apple", "bravo brick bread", "coral cloud crane", "delta drum dune"]
    passages = [f"{words[topic]} of number{place}" for place, topic in enumerate(topics)]
    return pool_signals((judge_signals("one", said),), keys, passages), truth
