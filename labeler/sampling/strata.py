"""Strata of a frame: items that are alike in who retrieved them, parted further where it pays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labeler.evaluation.allocation import worth_of_relevant
from labeler.evaluation.sample_estimates import Estimand

__all__ = ["NOBODY", "FrameUnit", "PlannedPart", "make_strata"]

NOBODY = "none of them"
"""How a stratum is called whose items no compared run has in its top k."""

_VOTES_A_STRATUM = 8
_LEAST_SIZE = 3
_PARTS = ("low", "middle", "high")


@dataclass(frozen=True, slots=True)
class FrameUnit:
    """An unknown item, with what strata are made of.

    Attributes:
        item_id: The item.
        retrieved: The compared runs that have it in their top k, in their order.
        is_deeper: Whether one of them has it below that, within the pool's depth.
        domain: Its query's domain, or empty.
        probability: How likely it is relevant by the latest scores, in [0, 1], or None.
        is_disputed: Whether judges contradict each other on whether it is relevant.
    """

    item_id: int
    retrieved: tuple[str, ...]
    is_deeper: bool = False
    domain: str = ""
    probability: float | None = None
    is_disputed: bool = False


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """A stratum before anything is drawn from it.

    Attributes:
        name: What is in it, in words; unique within a frame.
        retrieved: The runs that have all of its items in their top k.
        items: Its items.
        rate: The share of relevant items that is expected, in [0, 1].
        worth: How much a relevant item of it moves what is to be told; see
            `labeler.evaluation.allocation.worth_of_relevant`.
    """

    name: str
    retrieved: tuple[str, ...]
    items: tuple[int, ...]
    rate: float
    worth: float


_Words = Callable[[FrameUnit], tuple[str, ...]]
_Key = tuple[tuple[str, ...], tuple[str, ...]]


def make_strata(
    units: Sequence[FrameUnit],
    votes: int,
    rates: Mapping[tuple[str, ...], float],
    runs: Sequence[str] = (),
    known: Mapping[tuple[str, ...], int] | None = None,
    measure: Estimand | None = None,
) -> list[PlannedPart]:
    """Part a frame into strata.

    Who retrieved an item at k always parts it: then whole strata count for a run or not, and what
    is estimated follows from the totals of strata alone. Inside that, rank band, thirds of the
    probability, dispute and domain part it further, as finely as leaves each part 8 of the votes
    that the group gets by its size and worth: many strata of three votes each would make
    intervals that cover too rarely. Strata of fewer than 3 items join a neighbour that was
    retrieved alike.

    Args:
        units: The frame.
        votes: How many items will be drawn.
        rates: The share of relevant items that is expected of those retrieved alike, for items
            without a probability; one half where it isn't there.
        runs: The compared runs, which say what an item is worth; none makes all items worth 1.
        known: The relevant items that are labelled already, by who retrieved them.
        measure: What the sample is to tell best; None is recall and its differences for all runs.

    Returns:
        The strata, by name; each item is in one.
    """
    alike: Mapping[tuple[str, ...], list[FrameUnit]] = defaultdict(list)
    for unit in units:
        alike[unit.retrieved].append(unit)
    thirds = {who: _thirds(members) for who, members in alike.items()}

    def third(unit: FrameUnit) -> str:
        return thirds[unit.retrieved][unit.item_id]

    expected: dict[tuple[str, ...], float] = defaultdict(float, known or {})
    for who, members in alike.items():
        expected[who] += _rate(members, rates.get(who, 0.5)) * len(members)
    worth = worth_of_relevant(expected, runs, measure) if runs else dict.fromkeys(alike, 1.0)
    whole = sum(worth[who] * len(members) for who, members in alike.items())
    parts: dict[_Key, list[FrameUnit]] = {}
    for who, members in alike.items():
        share = worth[who] * len(members) / whole if whole else 1 / len(alike)
        most = max(1, int(votes * share / _VOTES_A_STRATUM))
        parts |= {(who, words): inside for words, inside in _parted(members, third, most).items()}
    return [
        PlannedPart(
            name=_named(who, words),
            retrieved=who,
            items=tuple(sorted(unit.item_id for unit in members)),
            rate=_rate(members, rates.get(who, 0.5)),
            worth=worth[who],
        )
        for (who, words), members in sorted(parts.items())
    ]


def _levels(third: Callable[[FrameUnit], str]) -> Sequence[_Words]:
    """List the ways to part what was retrieved alike, the finest first."""

    def band(unit: FrameUnit) -> str:
        if unit.retrieved:
            return ""
        return "below k" if unit.is_deeper else "of other runs only"

    def dispute(unit: FrameUnit) -> str:
        return "judges differ" if unit.is_disputed else ""

    return (
        lambda unit: (band(unit), third(unit), dispute(unit), unit.domain),
        lambda unit: (band(unit), third(unit), dispute(unit)),
        lambda unit: (band(unit), third(unit)),
        lambda unit: (third(unit),),
        lambda _: (),
    )


def _thirds(units: Sequence[FrameUnit]) -> dict[int, str]:
    """Say in which third of the probability each item is, among those retrieved alike."""
    scored = sorted(
        (unit for unit in units if unit.probability is not None),
        key=lambda unit: (unit.probability or 0.0, unit.item_id),
    )
    found = dict.fromkeys((unit.item_id for unit in units), "")
    for place, unit in enumerate(scored):
        found[unit.item_id] = f"{_PARTS[place * len(_PARTS) // len(scored)]} probability"
    return found


def _parted(
    members: Sequence[FrameUnit], third: Callable[[FrameUnit], str], most: int
) -> dict[tuple[str, ...], list[FrameUnit]]:
    """Part what was retrieved alike as finely as leaves no more parts than are wanted."""
    joined: dict[tuple[str, ...], list[FrameUnit]] = {}
    for words in _levels(third):
        parts: dict[tuple[str, ...], list[FrameUnit]] = defaultdict(list)
        for unit in members:
            parts[words(unit)].append(unit)
        joined = _joined(dict(sorted(parts.items())))
        if len(joined) <= most:
            break
    return joined


def _joined(
    parts: dict[tuple[str, ...], list[FrameUnit]],
) -> dict[tuple[str, ...], list[FrameUnit]]:
    """Join parts that are too small to the smallest of the others."""
    while len(parts) > 1:
        small = min(parts, key=lambda key: (len(parts[key]), key))
        if len(parts[small]) >= _LEAST_SIZE:
            break
        members = parts.pop(small)
        other = min(parts, key=lambda key: (len(parts[key]), key))
        parts[other] += members
    return parts


def _named(who: tuple[str, ...], words: tuple[str, ...]) -> str:
    by = " and ".join(who) if who else NOBODY
    return "; ".join([f"top k of {by}", *(word for word in words if word)])


def _rate(units: Sequence[FrameUnit], default: float) -> float:
    given = [default if unit.probability is None else unit.probability for unit in units]
    return sum(given) / len(given)
