"""How fast votes are given, and how long the rest will take: pure functions over times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

import numpy as np

from labeler.evaluation.intervals import LEAST_CLUSTERS, jackknife_interval

__all__ = [
    "BATCH",
    "BREAK",
    "RUBBER_STAMP_SECONDS",
    "Pace",
    "TimeLeft",
    "VoteTime",
    "pace_of",
    "seconds_spent",
    "time_left",
]

BREAK = timedelta(minutes=5)
"""A longer gap between two votes is a break, and no time spent on a vote."""

RUBBER_STAMP_SECONDS = 0.5
"""A passage can't be read in less: a lower median dwell is a stamp, and no judgment."""

BATCH = 10
"""Successive votes that are taken together, since neighbours resemble each other."""


@dataclass(frozen=True, slots=True)
class VoteTime:
    """When a vote was given, and for how long its item had been on the screen, where known."""

    at: datetime
    dwell_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast one person votes.

    Attributes:
        votes: How many votes.
        median_dwell: Seconds that half of the items were on the screen at most, or None.
        per_hour: Votes an hour of work, breaks left out; None when no time was spent.
        is_rubber_stamping: Whether the median dwell is under half a second.
    """

    votes: int
    median_dwell: float | None
    per_hour: float | None
    is_rubber_stamping: bool


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """How long the votes that are left will take one person, in hours.

    Attributes:
        hours: At the mean pace so far.
        low: Lower limit of the 95% interval of the mean pace; None with too few votes.
        high: Upper limit, or None.
    """

    hours: float
    low: float | None
    high: float | None


def seconds_spent(votes: Sequence[VoteTime]) -> list[float]:
    """Tell how long one person spent on each vote.

    That is the time since the vote before, which has in it what was skipped, noted or looked up.
    The first vote, and one that follows a break, took as long as its item was on the screen; where
    that is unknown too, the vote is left out.

    Args:
        votes: One person's votes, in any order.
    """
    spent: list[float] = []
    before: datetime | None = None
    for vote in sorted(votes, key=lambda one: one.at):
        gap = None if before is None else vote.at - before
        before = vote.at
        if gap is not None and gap <= BREAK:
            spent.append(gap.total_seconds())
        elif vote.dwell_ms is not None:
            spent.append(min(vote.dwell_ms / 1000, BREAK.total_seconds()))
    return spent


def pace_of(votes: Sequence[VoteTime]) -> Pace:
    """Tell how fast one person votes."""
    dwells = [vote.dwell_ms / 1000 for vote in votes if vote.dwell_ms is not None]
    spent = seconds_spent(votes)
    total = sum(spent)
    middle = median(dwells) if dwells else None
    return Pace(
        votes=len(votes),
        median_dwell=middle,
        per_hour=len(spent) * 3600 / total if total > 0 else None,
        is_rubber_stamping=middle is not None and middle < RUBBER_STAMP_SECONDS,
    )


def time_left(left: int, spent_by_person: Sequence[Sequence[float]]) -> TimeLeft | None:
    """Tell how long the votes that are left will take, with a range.

    The pace is the mean of the seconds spent on a vote. Its interval leaves out one batch of ten
    successive votes of a person at a time (batch means, Law and Kelton 2000, "Simulation Modeling
    and Analysis", section 9.5.3; the jackknife of `jackknife_interval`), since neighbouring votes
    take alike. It needs 8 batches. It says nothing of items to come that are harder.

    Args:
        left: Votes that are wanted and not given yet.
        spent_by_person: Each person's seconds spent on votes, in order.

    Returns:
        Hours of one person's work; None when no pace is known.
    """
    batches = [
        (sum(part), len(part))
        for spent in spent_by_person
        for start in range(0, len(spent), BATCH)
        if (part := spent[start : start + BATCH])
    ]
    seconds = sum(total for total, _ in batches)
    votes = sum(count for _, count in batches)
    if seconds <= 0:
        return None
    hours = left * seconds / votes / 3600
    if len(batches) < LEAST_CLUSTERS:
        return TimeLeft(hours, None, None)
    without = np.array(
        [(seconds - total) / (votes - count) for total, count in batches], dtype=np.float64
    )
    low, high = jackknife_interval(seconds / votes, without)
    return TimeLeft(hours, max(0.0, left * low / 3600), left * high / 3600)
