"""How good rankings are, given what is known of each place: pure functions over arrays.

A place of a ranking holds a `labeler.labels.StateCode`: 1 relevant, 0 not relevant, -1 unknown.
Unknown is never taken as not relevant in silence: each measure comes with what it is at least and
at most, and what is undefined is not a number, never 0. Evidence comes once in each ranking; the
reader of a run sees to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.labels import StateCode

__all__ = [
    "JudgedRanking",
    "Known",
    "Measured",
    "checked",
    "judged_coverage_at",
    "precision_at",
    "recall_at",
    "reciprocal_rank",
    "returned_at",
    "shares",
]

Numbers = NDArray[np.float64]
_CODES = [code.value for code in StateCode]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of some queries, whatever was ranked.

    Attributes:
        relevant: Shape (queries,): how many relevant evidences are known.
        unknown: Shape (queries,): how many items of the frame are unknown.
        ideal_starts: Shape (queries + 1,): where each query's gains start.
        ideal_gains: Shape (judged items,): gains of the labels, each query's highest first.
        top_gain: The gain that an unknown item has at most.
    """

    relevant: NDArray[np.int64]
    unknown: NDArray[np.int64]
    ideal_starts: NDArray[np.int64]
    ideal_gains: Numbers
    top_gain: float

    def ideal_to(self, depth: int) -> Numbers:
        """Give each query's highest gains, shape (queries, depth); 0 where there are fewer."""
        places = self.ideal_starts[:-1, None] + np.arange(depth)
        there = places < self.ideal_starts[1:, None]
        gains = np.append(self.ideal_gains, 0.0)
        return np.where(there, gains[np.minimum(places, len(gains) - 1)], 0.0)


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """What one run ranked for some queries, with what is known of each place.

    Attributes:
        starts: Shape (queries + 1,): where each query's places start; the last is the end.
        evidence: Shape (places,): keys of the evidence, each query's best first.
        states: Shape (places,): codes of `StateCode`.
        gains: Shape (places,): gains; not a number where no level is known.
        framed: Shape (places,): which places hold an item of the frame.
        known: What is known of the same queries.

    Raises:
        UsageError: When the shapes don't fit, or a state is no code.
    """

    starts: NDArray[np.int64]
    evidence: NDArray[np.int64]
    states: NDArray[np.int8]
    gains: Numbers
    framed: NDArray[np.bool_]
    known: Known

    def __post_init__(self) -> None:
        # A truth value has no way to say unknown, so it is refused rather than read as 0 and 1.
        if self.states.dtype.kind not in "iu" or not np.isin(self.states, _CODES).all():
            raise UsageError("states are codes: 1 relevant, 0 not relevant, -1 unknown")
        lengths = {len(self.evidence), len(self.states), len(self.gains), len(self.framed)}
        if lengths != {int(self.starts[-1])} or len(self.starts) != len(self.known.relevant) + 1:
            raise UsageError("a ranking has a state and a gain for each place, and known labels")

    @property
    def query_count(self) -> int:
        """How many queries."""
        return len(self.starts) - 1

    @cached_property
    def query_of(self) -> NDArray[np.int64]:
        """The number of each place's query, from 0, shape (places,)."""
        return np.repeat(np.arange(self.query_count), np.diff(self.starts))

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each place, from 1, shape (places,)."""
        return np.arange(len(self.states)) - self.starts[self.query_of] + 1

    @cached_property
    def returned(self) -> NDArray[np.int64]:
        """How many places each query has, shape (queries,)."""
        return np.diff(self.starts)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which places are judged, shape (places,)."""
        found: NDArray[np.bool_] = self.states != StateCode.UNKNOWN
        return found

    @cached_property
    def judged_ranks(self) -> NDArray[np.int64]:
        """The rank of each judged place among those of its query, shape (places,)."""
        up_to = np.concatenate([[0], np.cumsum(self.judged)])
        found: NDArray[np.int64] = up_to[1:] - up_to[self.starts[self.query_of]]
        return found

    def count(self, state: StateCode, cutoff: int) -> Numbers:
        """Count the places of a state among the first ``cutoff``, shape (queries,)."""
        return self.count_where((self.states == state) & (self.ranks <= checked(cutoff)))

    def count_where(self, chosen: NDArray[np.bool_]) -> Numbers:
        """Count chosen places by query, shape (queries,)."""
        found = np.bincount(self.query_of[chosen], minlength=self.query_count)
        return found.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Measured:
    """One measure of one run, query by query; each array has the shape (queries,).

    Attributes:
        value: The measure as its name says; not a number where it is undefined.
        lower: The least that it can be, whatever the unknown places turn out to be.
        upper: The most.
        judged_only: What it is over judged places alone; not a number where there are none.
        part: The numerator, whose sum over queries makes the micro average.
        whole: The denominator; the value is undefined where it is 0.
    """

    value: Numbers
    lower: Numbers
    upper: Numbers
    judged_only: Numbers
    part: Numbers
    whole: Numbers


def precision_at(ranking: JudgedRanking, cutoff: int) -> Measured:
    """Give the share of relevant places among the first ``cutoff``.

    Divides by the cutoff also when fewer places were returned, as ``P_k`` of trec_eval does
    (trec_eval 9, m_P.c): a retriever gains nothing by returning less. The value is the lower bound,
    every unknown place not relevant; in the upper one every unknown place is relevant. Judged only
    is relevant / judged among the first ``cutoff``.

    Args:
        ranking: What was ranked.
        cutoff: How many places count, 1 or more.

    Raises:
        UsageError: When the cutoff is below 1.
    """
    relevant = ranking.count(StateCode.RELEVANT, cutoff)
    unknown = ranking.count(StateCode.UNKNOWN, cutoff)
    judged = relevant + ranking.count(StateCode.NOT_RELEVANT, cutoff)
    value = relevant / cutoff
    return Measured(
        value=value,
        lower=value,
        upper=(relevant + unknown) / cutoff,
        judged_only=shares(relevant, judged),
        part=relevant,
        whole=np.full(ranking.query_count, float(cutoff)),
    )


def recall_at(ranking: JudgedRanking, cutoff: int) -> Measured:
    """Give the share of the known relevant evidence that stands among the first ``cutoff``.

    This is ``known_label_recall@k``: found / all that is known to be relevant, as ``recall_k`` of
    trec_eval (m_recall.c); the variant that divides by at most ``cutoff`` is another measure. It is
    undefined where nothing is known to be relevant; trec_eval gives 0 there and so lowers the mean.

    The bounds speak of the frame. At most, every unknown place among the first ``cutoff`` is
    relevant and no other unknown item; at least, it is the other way round. Judged only takes the
    first ``cutoff`` judged places.

    Args:
        ranking: What was ranked.
        cutoff: How many places count, 1 or more.

    Raises:
        UsageError: When the cutoff is below 1, or more relevant places are in a ranking than are
            known.
    """
    found = ranking.count(StateCode.RELEVANT, cutoff)
    known = ranking.known.relevant.astype(np.float64)
    if (ranking.count_where(ranking.states == StateCode.RELEVANT) > known).any():
        raise UsageError("more relevant places are ranked than are known to be relevant")
    unknown = ranking.count(StateCode.UNKNOWN, cutoff)
    top = (ranking.states == StateCode.UNKNOWN) & (ranking.ranks <= cutoff) & ranking.framed
    elsewhere = ranking.known.unknown - ranking.count_where(top)
    first = (ranking.judged_ranks <= cutoff) & (ranking.states == StateCode.RELEVANT)
    return Measured(
        value=shares(found, known),
        # Where all that could be relevant is on one side, both ends are there.
        lower=_or_else(shares(found, known + elsewhere), unknown > 0, 1.0),
        upper=_or_else(shares(found + unknown, known + unknown), elsewhere > 0, 0.0),
        judged_only=shares(ranking.count_where(first), known),
        part=found,
        whole=known,
    )


def reciprocal_rank(ranking: JudgedRanking, cutoff: int | None = None) -> Measured:
    """Give one over the rank of the first relevant place, 0 when there is none.

    The mean over queries is the MRR (Voorhees 1999, TREC-8 Question Answering Track report,
    section 3); the value, the lower bound, is ``recip_rank`` of trec_eval. Ranks count from 1,
    whatever a file's rank column begins with. In the upper bound the first unknown place is
    relevant. Judged only counts judged places alone.

    Args:
        ranking: What was ranked.
        cutoff: How many places count, 1 or more; all by default.

    Raises:
        UsageError: When the cutoff is below 1.
    """
    within = ranking.ranks <= (checked(cutoff) if cutoff is not None else np.inf)
    relevant = within & (ranking.states == StateCode.RELEVANT)
    possible = within & (ranking.states != StateCode.NOT_RELEVANT)
    in_judged = ranking.states == StateCode.RELEVANT
    if cutoff is not None:
        in_judged = in_judged & (ranking.judged_ranks <= cutoff)
    value = _one_over_first(ranking, relevant, ranking.ranks)
    return Measured(
        value=value,
        lower=value,
        upper=_one_over_first(ranking, possible, ranking.ranks),
        judged_only=np.where(
            ranking.count_where(ranking.judged) > 0,
            _one_over_first(ranking, in_judged, ranking.judged_ranks),
            np.nan,
        ),
        part=value,
        whole=np.ones(ranking.query_count),
    )


def judged_coverage_at(ranking: JudgedRanking, cutoff: int) -> Numbers:
    """Give the share of judged places among those of the first ``cutoff`` that were returned.

    Divides by what was returned when that is less than the cutoff, as ``Judged@k`` of ir_measures
    does (MacAvaney, Macdonald and Ounis 2022, "Streamlining Evaluation with ir-measures").

    Args:
        ranking: What was ranked.
        cutoff: How many places count, 1 or more.

    Returns:
        Shape (queries,), in [0, 1]; not a number where nothing was returned.

    Raises:
        UsageError: When the cutoff is below 1.
    """
    returned = np.minimum(ranking.returned, checked(cutoff)).astype(np.float64)
    return shares(returned - ranking.count(StateCode.UNKNOWN, cutoff), returned)


def returned_at(ranking: JudgedRanking, cutoff: int) -> Numbers:
    """Give the share of the first ``cutoff`` places that were returned, shape (queries,)."""
    return np.minimum(ranking.returned, checked(cutoff)) / cutoff


def checked(cutoff: int) -> int:
    """Refuse a cutoff below 1."""
    if cutoff < 1:
        raise UsageError(f"a cutoff is 1 or more, not {cutoff}")
    return cutoff


def shares(part: Numbers, whole: Numbers) -> Numbers:
    """Divide, giving not a number where the whole is 0."""
    found: Numbers = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return found


def _or_else(values: Numbers, possible: NDArray[np.bool_], value: float) -> Numbers:
    """Fill in what is undefined where it could turn out to be defined."""
    return np.where(np.isnan(values) & possible, value, values)


def _one_over_first(
    ranking: JudgedRanking, chosen: NDArray[np.bool_], ranks: NDArray[np.int64]
) -> Numbers:
    found = np.zeros(ranking.query_count)
    places = np.flatnonzero(chosen)[::-1]
    # Of a query's places the best is written last, and stays.
    found[ranking.query_of[places]] = 1.0 / ranks[places]
    return found
