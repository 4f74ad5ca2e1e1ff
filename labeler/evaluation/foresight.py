"""How many votes a pool still takes, from probabilities, an audit's state and the pace so far.

What isn't known yet is drawn many times. The share of right labels in a part of the scores has a
beta distribution: what the scores expect counts as `TRUST` votes, to which the votes that were
drawn from the part are added. So an audit that has begun corrects scores that promise too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.acceptance import AuditedStratum, accepted_strata, fixed_sequence
from labeler.evaluation.pace import TimeLeft

__all__ = [
    "DRAWS",
    "TRUST",
    "Range",
    "SequenceState",
    "StratumState",
    "items_to_judge",
    "minutes_of",
]

TRUST = 20.0
"""So many votes are what the scores expect of a part worth."""

DRAWS = 400
"""Draws that a forecast is made of."""

_LOW, _HIGH = 0.05, 0.95


@dataclass(frozen=True, slots=True)
class Range:
    """A forecast: the median, and the range that holds it nine times in ten.

    Attributes:
        low: The 5% quantile.
        middle: The median.
        high: The 95% quantile.
    """

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Range:
        """Read the range from draws."""
        low, middle, high = np.quantile(values, [_LOW, 0.5, _HIGH])
        return cls(float(low), float(middle), float(high))


@dataclass(frozen=True, slots=True)
class StratumState:
    """A tested part of the scores while its audit is under way.

    Attributes:
        size: Labels in it when it was frozen.
        drawn: How many are drawn.
        answered: How many of these people have judged.
        wrong: How many of these they didn't agree with.
        reviewed: How many of all its labels people have judged.
        expected: The share that is right, by the scores.
    """

    size: int
    drawn: int
    answered: int
    wrong: int
    reviewed: int
    expected: float


@dataclass(frozen=True, slots=True)
class SequenceState:
    """The parts of one grade, surest first, and how they are tested."""

    strata: tuple[StratumState, ...]
    sequence: tuple[int, ...]
    target: float
    risk: float
    accepted: int = 0


def items_to_judge(
    sequences: Sequence[SequenceState],
    waiting: int,
    *,
    seed: int,
    draws: int = DRAWS,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Forecast how many items people judge until every label is accepted or given by them.

    Args:
        sequences: The tested grades.
        waiting: Items that people have to judge, unless their label comes to be accepted.
        seed: The seed.
        draws: How many futures are drawn.

    Returns:
        Shape (draws,): items that people have to judge; and labels that come to be accepted.
    """
    random = np.random.default_rng(seed)
    accepted = np.zeros(draws, dtype=np.int64)
    for one in sequences:
        # An expected share of 0 or 1 leaves no room for a beta distribution.
        expected = np.clip([part.expected for part in one.strata], 0.001, 0.999)
        answered = np.array([part.answered for part in one.strata])
        wrong = np.array([part.wrong for part in one.strata])
        open_votes = np.array([part.drawn for part in one.strata]) - answered
        shares = random.beta(
            (1 - expected) * TRUST + wrong,
            expected * TRUST + answered - wrong,
            (draws, len(one.strata)),
        )
        found = wrong + random.binomial(open_votes, shares)
        kept: dict[tuple[int, ...], int] = {}
        for place, row in enumerate(found.tolist()):
            key = tuple(row)
            if key not in kept:
                kept[key] = _newly_accepted(one, key)
            accepted[place] += kept[key]
    return np.maximum(0, waiting - accepted), accepted


def _newly_accepted(state: SequenceState, wrong: tuple[int, ...]) -> int:
    strata = [
        AuditedStratum(
            size=part.size,
            drawn=part.drawn,
            wrong=found,
            reviewed=_reviewed_then(part),
        )
        for part, found in zip(state.strata, wrong, strict=True)
    ]
    steps = fixed_sequence(strata, state.sequence, state.target, state.risk)
    count = max(state.accepted, accepted_strata(steps))
    return sum(one.size - one.reviewed for one in strata[state.accepted : count])


def _reviewed_then(part: StratumState) -> int:
    """Give how many labels of a part people will have judged once its draw is answered.

    Votes of the queue fall on the part meanwhile, as many to each answer as so far.
    """
    waiting, others = part.drawn - part.answered, part.reviewed - part.answered
    further = round(others * waiting / part.answered) if part.answered else 0
    return min(part.size, part.reviewed + waiting + further)


def minutes_of(votes: NDArray[np.float64], one_vote: TimeLeft | None, *, seed: int) -> Range | None:
    """Forecast one person's minutes for draws of votes.

    Args:
        votes: Shape (draws,).
        one_vote: How long a single vote takes, in hours, with its interval; None if unknown.
        seed: The seed.

    Returns:
        The range; without an interval of the pace it is that of the votes alone.
    """
    if one_vote is None:
        return None
    pace = np.full(len(votes), one_vote.hours)
    if one_vote.low is not None and one_vote.high is not None:
        # The interval is symmetric, at 95%.
        spread = (one_vote.high - one_vote.hours) / 1.96
        pace = np.random.default_rng(seed).normal(one_vote.hours, spread, len(votes))
    return Range.of(votes * np.maximum(pace, 0.0) * 60)
