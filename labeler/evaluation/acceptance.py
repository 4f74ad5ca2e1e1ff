"""How many labels of a set can be wrong, shown by a random draw: exact bounds, fixed sequences.

A judge's labels of one grade are parted into strata, surest first, by scores that are frozen before
anything is drawn. Of each stratum some labels are drawn at random, and people judge them. What is
shown here is shown for finite sets of labels, whatever the scores are worth: scores that mislead
make a set fail, they never make it pass.

The bound. Let a stratum hold ``K_h`` wrong labels, of which a draw without replacement in the
fraction ``f_h`` takes some. Their number in all strata is a sum of independent hypergeometric
counts, and each of these is a sum of independent trials with unequal probabilities, as many as are
drawn or as are wrong, whichever is less (Vatutin and Mikhailov 1982, Theory Prob. Appl. 27,
734-743). Of all sums of n trials with mean m the binomial with probability m/n has the heaviest
lower tail up to m - 1 (Hoeffding 1956, Ann. Math. Stat. 27, 713-721, theorem 4). So with
``m = sum of f_h * K_h``, n drawn and K wrong, both ``Bin(n, m/n)`` and ``Bin(K, m/K)`` bound how
likely so few errors are; the first is the test of Clopper and Pearson (1934), the second takes
into account that the sets are finite. The bound is the greatest K for which neither is less than
the risk, its wrong labels lying where the fractions are smallest.

The threshold. Growing sets are tested in an order that is fixed before the draw, each at the full
risk, up to the first that fails (fixed sequences: Maurer, Hothorn and Lehmacher 1995; Angelopoulos
and others 2021, "Learn then Test", section 4). What is accepted is what nobody has judged, so
whether it misses the target depends on how many wrong labels the draw took out. So there are two
verdicts. A set is *shown* when the bound, less the wrong labels that were found, fits into what is
left. The sequence *goes on* only when the bound fits without taking off what was found. Let the
first set that could miss the target at all be the one whose wrong labels, found or not, are more
than fit into what is left: which one that is doesn't depend on the draw. No set before it can miss;
accepting it although it misses, and going on past it, both need its bound to be too low. So the
probability that what is accepted misses the target is at most the risk: choosing the threshold
costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from labeler.errors import UsageError

__all__ = [
    "AuditedStratum",
    "Step",
    "accepted_strata",
    "fixed_sequence",
    "most_errors",
    "most_wrong",
    "power",
    "votes_for_power",
    "votes_without_error",
]

_MOST_ERRORS = 2_000
"""An audit in which so many errors are let pass would take more votes than anybody gives."""


@dataclass(frozen=True, slots=True)
class AuditedStratum:
    """What an audit knows of one stratum of labels.

    Only a random draw may stand in ``drawn`` and ``wrong``; votes of the queue are no sample.

    Attributes:
        size: Labels in it when it was frozen.
        drawn: How many of them were drawn at random, all of them answered.
        wrong: How many of those people didn't agree with; an abstention is no agreement.
        reviewed: How many of all its labels people have judged by now, drawn or not: what is left
            is what stands unseen.
    """

    size: int
    drawn: int
    wrong: int
    reviewed: int

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= self.drawn <= self.reviewed <= self.size:
            raise UsageError(
                f"{self.wrong} wrong of {self.drawn} drawn, {self.reviewed} reviewed of "
                f"{self.size} labels: each is at most the next"
            )


@dataclass(frozen=True, slots=True)
class Step:
    """One set of a fixed sequence, and what was shown of it.

    Attributes:
        strata: How many strata, from the first, are in the set.
        drawn: Votes of the draw on it.
        wrong: Of these, those that didn't agree.
        left: Labels in it that nobody has judged.
        most_wrong: The upper limit of the wrong labels in it, those that were found included.
        is_shown: Whether the target is shown for what is left.
        goes_on: Whether the next set may be tested.
    """

    strata: int
    drawn: int
    wrong: int
    left: int
    most_wrong: int
    is_shown: bool
    goes_on: bool


def most_wrong(strata: Sequence[AuditedStratum], risk: float) -> int:
    """Bound the number of wrong labels in all strata together.

    Args:
        strata: The strata; one without a draw may be wrong throughout.
        risk: The probability that the bound is too low, in (0, 0.25].

    Returns:
        A number that is at least that of the wrong labels, with probability ``1 - risk``.
    """
    import numpy as np
    from scipy.special import bdtr

    _check_risk(risk)
    drawn = sum(one.drawn for one in strata)
    wrong = sum(one.wrong for one in strata)
    if not drawn:
        return sum(one.size for one in strata)
    parts = sorted(
        (one.drawn / one.size, one.size - one.drawn, one.wrong) for one in strata if one.size
    )
    known = sum(fraction * found for fraction, _, found in parts)
    # What was drawn is known; the rest is filled in where it is least likely to be found.
    more = np.repeat([fraction for fraction, _, _ in parts], [unseen for _, unseen, _ in parts])
    expected = known + np.concatenate([[0.0], np.cumsum(more)])
    total = np.arange(wrong, wrong + len(expected))
    few = np.minimum(
        bdtr(wrong, drawn, np.minimum(1.0, expected / drawn)),
        bdtr(wrong, total, np.minimum(1.0, expected / np.maximum(1, total))),
    )
    fits = (few > risk) | (expected < wrong + 1)
    fits[0] = True  # what was found is there
    return int(total[np.flatnonzero(fits)[-1]])


def fixed_sequence(
    strata: Sequence[AuditedStratum | None],
    sequence: Sequence[int],
    target: float,
    risk: float,
) -> list[Step]:
    """Test growing sets in a fixed order, up to the first that isn't answered or lets none follow.

    Args:
        strata: In their order, surest first; None is one whose draw isn't answered yet.
        sequence: How many strata are in each set, ascending; fixed before the draw.
        target: The share of labels that is to be right, among those that nobody has judged.
        risk: The probability that the set that is accepted misses it, in (0, 0.25].

    Returns:
        The sets that were tested; what is accepted is the last one that is shown.
    """
    if list(sequence) != sorted(set(sequence)):
        raise UsageError(f"the sets of a sequence grow, unlike {list(sequence)}")
    steps: list[Step] = []
    for count in sequence:
        part = [one for one in strata[:count] if one is not None]
        if len(part) < count:
            break
        limit = most_wrong(part, risk)
        wrong = sum(one.wrong for one in part)
        left = sum(one.size - one.reviewed for one in part)
        room = (1 - target) * left + 1e-9
        goes_on = left > 0 and limit <= room
        steps.append(
            Step(
                strata=count,
                drawn=sum(one.drawn for one in part),
                wrong=wrong,
                left=left,
                most_wrong=limit,
                is_shown=left > 0 and limit - wrong <= room,
                goes_on=goes_on,
            )
        )
        if not goes_on:
            break
    return steps


def accepted_strata(steps: Sequence[Step]) -> int:
    """Give how many strata, from the first, are accepted after a sequence of tests."""
    return max((step.strata for step in steps if step.is_shown), default=0)


def most_errors(size: int, drawn: int, target: float, risk: float) -> int:
    """Give how many errors a draw may hold and still show the target; -1 when not even none.

    Args:
        size: Labels in the set, nobody has judged any of them before.
        drawn: How many of them are drawn, each stratum in the same fraction.
        target: The share that is to be right among those that are left.
        risk: The probability to be mistaken.
    """
    _check_risk(risk)
    low, high = -1, drawn
    while high - low > 1:
        middle = (low + high) // 2
        if _passes(size, drawn, middle, target, risk):
            low = middle
        else:
            high = middle
    return low


def votes_without_error(size: int, target: float, risk: float) -> int | None:
    """Give the least draw that shows the target when none of it is wrong, or None.

    In a large set that is the least n with ``target^n <= risk``: 29 for 90% at 95%. In a small one
    it is some more, since what was drawn is no longer among what is left.
    """
    return _least_votes(size, 0, 1, target, risk)


def votes_for_power(
    size: int, target: float, risk: float, *, likely: float, wanted: float = 0.8
) -> int | None:
    """Give the least draw that shows the target with a stated probability, or None.

    For 90% at 95%, with a probability of 0.8 where 95% are really right, about 180 in a large set.

    Args:
        size: Labels in the set.
        target: The share that is to be right.
        risk: The probability to be mistaken.
        likely: The share that is really right, above the target.
        wanted: The probability with which the draw is to show the target.

    Returns:
        The draw, of half of the set at the most; None when that is not enough.
    """
    from scipy.special import bdtr

    if likely <= target:
        return None
    votes: int | None = 1
    for errors in range(_MOST_ERRORS):
        votes = _least_votes(size, errors, votes or 1, target, risk)
        if votes is None or 2 * votes > size:
            return None
        if bdtr(errors, votes, 1 - likely) >= wanted:
            return votes
    return None


def power(size: int, drawn: int, target: float, risk: float, *, likely: float) -> float:
    """Give the probability that a draw shows the target, where a share of labels is really right.

    Args:
        size: Labels in the set.
        drawn: How many are drawn.
        target: The share that is to be right.
        risk: The probability to be mistaken.
        likely: The share that is really right, in [0, 1].
    """
    from scipy.special import bdtr

    errors = most_errors(size, drawn, target, risk)
    return 0.0 if errors < 0 else float(bdtr(errors, drawn, min(1.0, max(0.0, 1 - likely))))


def _least_votes(size: int, errors: int, start: int, target: float, risk: float) -> int | None:
    """Give the least draw that still shows the target with so many errors."""
    votes = max(start, errors + 1)
    while votes < size and not _passes(size, votes, errors, target, risk):
        votes += 1
    return votes if votes < size else None


def _passes(size: int, drawn: int, errors: int, target: float, risk: float) -> bool:
    """Tell whether a draw of one fraction everywhere shows the target (see `fixed_sequence`)."""
    from scipy.special import bdtr

    # It does when one wrong label more than fits into what is left, beside those that were found,
    # would have brought so few errors with a probability of the risk at most.
    wrong = math.floor((1 - target) * (size - drawn) + errors + 1e-9) + 1
    mean = drawn * wrong / size
    if wrong > size - drawn + errors:
        return True  # no more can be wrong than were not drawn, beside those that were found
    if mean < errors + 1:
        return False
    few = min(bdtr(errors, drawn, mean / drawn), bdtr(errors, wrong, drawn / size))
    return bool(few <= risk)


def _check_risk(risk: float) -> None:
    # Beyond a quarter the limit of Clopper and Pearson may lie nearer than Hoeffding's comparison.
    if not 0 < risk <= 0.25:  # noqa: PLR2004 - see above
        raise UsageError(f"a risk lies above 0 and is at most 0.25, unlike {risk}")
