"""What an audit draws of which strata, worked out from frozen scores before anybody votes.

The frame is every item of the pool that people haven't judged. Its labels are the label model's
most probable grades. Those that a policy might accept are parted by grade and, within a grade, by
confidence: the surest parts are *tested*, in growing sets, for the policy's target; the others, and
the items that go to people in any case, are strata of their own, which are drawn from too, so that
the draw speaks of the whole pool.

Which sets are tested, and how much is drawn, follows from the scores alone. Scores that promise too
much cost votes or make a set fail; what passes has reached its target all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.policies import TargetPolicy
from labeler.draws.audit_frames import StratumName
from labeler.evaluation.acceptance import power, votes_for_power, votes_without_error
from labeler.labels import Grade

__all__ = [
    "AuditPlan",
    "GradePlan",
    "PlannedStratum",
    "ScoredLabel",
    "plan_audit",
]

_LADDER = tuple(step / 10 for step in range(1, 9))
"""Sets end where this share of the errors that the target allows is expected."""

_OPTIMISM = 0.2
"""A draw is sized as if there were more errors than the scores expect, by this share of those that
the target allows: scores fitted on a few hundred labels promise too much where they are surest
(tests/benchmarks/guarantee.py: 96% expected, 94% true)."""

_SURE_ENOUGH = 0.8
"""A smaller set is tested before the one that is aimed at when it passes with this probability."""

_WANTED_POWER = 0.8
_MOST_FRACTION = 0.5
_LEAST_DRAW, _MOST_DRAW = 10, 60
"""What is drawn of a stratum that isn't tested, where it has as many."""


@dataclass(frozen=True, slots=True)
class ScoredLabel:
    """The label that the scores give an item of the frame.

    Attributes:
        item_id: The item.
        grade: Its most probable grade.
        confidence: The probability of that grade.
        may_be_accepted: Whether nothing but its confidence speaks against accepting it.
    """

    item_id: int
    grade: Grade
    confidence: float
    may_be_accepted: bool


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """A stratum and how much is drawn of it.

    Attributes:
        name: Its name.
        items: Its items, surest first.
        expected: The mean confidence of its labels.
        draw: Items to draw.
    """

    name: StratumName
    items: tuple[int, ...]
    expected: float
    draw: int


@dataclass(frozen=True, slots=True)
class GradePlan:
    """What the audit tests of one grade, and what that takes.

    Attributes:
        grade: The grade.
        target: The share of its accepted labels that is to agree with people.
        risk: What may be mistaken, of this grade at one look.
        labels: Labels of the frame that might be accepted.
        expected: The mean confidence of the set that is aimed at; of all labels where none is.
        tested: The parts, surest first; none where the target can't be reached.
        without_error: The least draw that shows the target when nothing in it is wrong.
        halfway: The draw that shows the target with a probability of 0.8 where the share that is
            right lies halfway between the target and 1; None where the labels are too few.
        chance: The probability that the set that is aimed at passes, if the scores promise a
            little too much, as they do as a rule.
        why_not: Why nothing of it can be accepted; empty where something may be.
    """

    grade: Grade
    target: float
    risk: float
    labels: int
    expected: float | None
    tested: tuple[PlannedStratum, ...]
    without_error: int | None
    halfway: int | None
    chance: float
    why_not: str

    @property
    def aimed_at(self) -> int:
        """Labels in the set that is aimed at."""
        return sum(len(part.items) for part in self.tested)

    @property
    def votes(self) -> int:
        """Votes of one look on it."""
        return sum(part.draw for part in self.tested)


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The whole design: what is tested by grade, and the strata beside it."""

    grades: tuple[GradePlan, ...]
    others: tuple[PlannedStratum, ...]

    @property
    def strata(self) -> tuple[PlannedStratum, ...]:
        """All strata: they part the frame."""
        return (*(part for grade in self.grades for part in grade.tested), *self.others)


@dataclass(slots=True)
class _Labels:
    """The labels of one grade that might be accepted, surest first."""

    grade: Grade
    items: list[int] = field(default_factory=list)
    confidence: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def means(self) -> NDArray[np.float64]:
        """Give the mean confidence of the first, the first two, and so on."""
        return np.cumsum(self.confidence) / np.arange(1, len(self.items) + 1)


@dataclass(frozen=True, slots=True)
class _Aim:
    """The set that is aimed at, the draw of it, and where it is parted."""

    size: int
    votes: int
    expected: float
    chance: float
    cuts: tuple[int, ...]
    sets: frozenset[int]


def plan_audit(labels: Sequence[ScoredLabel], policy: TargetPolicy) -> AuditPlan:
    """Work out the audit of a frame.

    Args:
        labels: One of each item of the frame.
        policy: The target.
    """
    by_grade = {grade: _of_grade(labels, grade) for grade in policy.accept}
    # What may be mistaken is shared among the grades that have a chance; a grade that has none,
    # going by the scores, is not tested, and takes no share.
    chosen = [grade for grade in policy.accept if by_grade[grade].items]
    while True:
        risk = policy.risk_of_each(len(chosen))
        votes = None if policy.votes is None else math.ceil(policy.votes / max(1, len(chosen)))
        aims = {
            grade: _aim(by_grade[grade], policy.target_of(grade), risk, votes) for grade in chosen
        }
        reached = [grade for grade in chosen if aims[grade] is not None]
        if len(reached) == len(chosen):
            break
        chosen = reached
    plans = [
        _grade_plan(by_grade[grade], aims.get(grade), policy.target_of(grade), risk)
        for grade in policy.accept
    ]
    tested = {item for plan in plans for part in plan.tested for item in part.items}
    fraction = max(
        (part.draw / len(part.items) for plan in plans for part in plan.tested), default=0.0
    )
    return AuditPlan(tuple(plans), _others(labels, tested, fraction))


def _of_grade(labels: Sequence[ScoredLabel], grade: Grade) -> _Labels:
    fitting = sorted(
        (one for one in labels if one.grade is grade and one.may_be_accepted),
        key=lambda one: (-one.confidence, one.item_id),
    )
    return _Labels(
        grade,
        [one.item_id for one in fitting],
        np.array([one.confidence for one in fitting], dtype=np.float64),
    )


def _ladder(labels: _Labels, target: float) -> list[tuple[int, float]]:
    """Give the sizes of the sets that may be tested, each with the mean confidence in it."""
    means = labels.means()
    sizes = {int(np.count_nonzero(means >= 1 - step * (1 - target) - 1e-12)) for step in _LADDER}
    return [(size, float(means[size - 1])) for size in sorted(sizes - {0})]


def _likely(expected: float, target: float) -> float:
    """Give the share that is likely right where the scores expect so many."""
    return max(0.0, expected - _OPTIMISM * (1 - target))


def _aim(labels: _Labels, target: float, risk: float, votes: int | None) -> _Aim | None:
    """Choose the set for which most labels are saved, and the sets before it that cost nothing."""
    ladder = _ladder(labels, target)
    best: tuple[float, int, int, float, float] | None = None
    for size, expected in ladder:
        likely = _likely(expected, target)
        needed = votes
        if needed is None:
            needed = votes_for_power(size, target, risk, likely=likely, wanted=_WANTED_POWER)
        if needed is None or needed > _MOST_FRACTION * size:
            continue
        chance = power(size, needed, target, risk, likely=likely)
        if chance > 0 and (best is None or chance * (size - needed) > best[0]):
            best = chance * (size - needed), size, needed, expected, chance
    if best is None:
        return None
    _, size, needed, expected, chance = best
    fraction = needed / size
    smaller = [(cut, mean) for cut, mean in ladder if cut < size]
    sure = {
        cut
        for cut, mean in smaller
        if power(
            cut,
            math.floor(fraction * cut),
            target,
            risk,
            likely=_likely(mean, target),
        )
        >= _SURE_ENOUGH
    }
    cuts = (*(cut for cut, _ in smaller), size)
    return _Aim(size, needed, expected, chance, cuts, frozenset({*sure, size}))


def _grade_plan(labels: _Labels, aim: _Aim | None, target: float, risk: float) -> GradePlan:
    tested: list[PlannedStratum] = []
    start = 0
    for part, cut in enumerate(aim.cuts if aim else (), 1):
        assert aim is not None  # noqa: S101 - the cuts are its own
        name = StratumName(labels.grade, part, len(aim.cuts), cut in aim.sets)
        draw = math.ceil(aim.votes * (cut - start) / aim.size - 1e-9)
        items = tuple(labels.items[start:cut])
        tested.append(PlannedStratum(name, items, float(labels.confidence[start:cut].mean()), draw))
        start = cut
    size = aim.size if aim else len(labels.items)
    mean = float(labels.confidence.mean()) if labels.items else None
    return GradePlan(
        grade=labels.grade,
        target=target,
        risk=risk,
        labels=len(labels.items),
        expected=aim.expected if aim else mean,
        tested=tuple(tested),
        without_error=votes_without_error(size, target, risk),
        halfway=votes_for_power(size, target, risk, likely=(1 + target) / 2, wanted=_WANTED_POWER),
        chance=aim.chance if aim else 0.0,
        why_not="" if aim else _why_not(labels, target, risk),
    )


def _why_not(labels: _Labels, target: float, risk: float) -> str:
    """Say why no label of a grade can be accepted."""
    if not labels.items:
        return "no item has this as its most probable grade, with nothing else against it"
    ladder = _ladder(labels, target)
    if not ladder:
        return (
            f"the surest of its {len(labels.items)} labels is expected to be right with a "
            f"probability of {labels.confidence[0]:.2f}, which can't show {target:.0%}"
        )
    size, expected = ladder[-1]
    least = votes_without_error(size, target, risk)
    if least is None or least > _MOST_FRACTION * size:
        needed = "more votes than there are labels" if least is None else f"{least} votes"
        return f"{size} labels are sure enough, and an audit without any error takes {needed}"
    return (
        f"{size} labels, expected to be right in {expected:.1%}, lie too near the target of "
        f"{target:.0%} for so few: an audit that can tell takes more than half of them"
    )


def _others(
    labels: Sequence[ScoredLabel], tested: set[int], fraction: float
) -> tuple[PlannedStratum, ...]:
    """Part what isn't tested: by grade, by whether it may be accepted, at the median confidence."""
    strata: list[PlannedStratum] = []
    for grade in Grade:
        for may, kind in ((True, "not tested"), (False, "to people in any case")):
            part = sorted(
                (
                    one
                    for one in labels
                    if one.grade is grade
                    and one.may_be_accepted is may
                    and one.item_id not in tested
                ),
                key=lambda one: (-one.confidence, one.item_id),
            )
            middle = (len(part) + 1) // 2
            for half, members in (("surer half", part[:middle]), ("other half", part[middle:])):
                if members:
                    draw = min(_MOST_DRAW, max(_LEAST_DRAW, math.ceil(fraction * len(members))))
                    strata.append(
                        PlannedStratum(
                            StratumName(grade, kind=f"{kind}, {half}"),
                            tuple(one.item_id for one in members),
                            sum(one.confidence for one in members) / len(members),
                            min(len(members), draw),
                        )
                    )
    return tuple(strata)
