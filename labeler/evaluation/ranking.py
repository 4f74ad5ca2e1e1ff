"""How good one ranking is, given what is known of each place: pure functions over state codes.

A place of a ranking holds a `labeler.labels.StateCode`: 1 relevant, 0 not relevant, -1 unknown.
Unknown is never taken as not relevant: what depends on it comes as bounds, and what is undefined
is None, never 0. Documents must come once each; the reader of a run sees to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.labels import StateCode

__all__ = ["Bounds", "judged_coverage_at", "precision_at", "recall_at", "reciprocal_rank"]

States = NDArray[np.integer] | Sequence[int]
"""The state codes of a ranking, best place first."""

_CODES = [code.value for code in StateCode]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a measure is at least and at most, whatever the unknown places turn out to be.

    Attributes:
        lower: With every unknown place not relevant; what trec_eval gives.
        upper: With every unknown place relevant.
    """

    lower: float
    upper: float

    @property
    def identified(self) -> float | None:
        """The value where nothing unknown can change it, else None."""
        return self.lower if self.lower == self.upper else None


def precision_at(states: States, cutoff: int) -> Bounds:
    """Give the share of relevant places among the first ``cutoff``.

    Divides by the cutoff also when fewer places were returned, as ``P_k`` of trec_eval does
    (trec_eval 9, m_P.c): a retriever gains nothing by returning less.

    Args:
        states: Shape (n,), the codes of the places, best first.
        cutoff: How many places count, 1 or more.

    Returns:
        In [0, 1]; the lower bound is the ``P_k`` of trec_eval.

    Raises:
        UsageError: When the cutoff is below 1 or a code is none of `StateCode`.
    """
    top = _top(states, cutoff)
    relevant = int((top == StateCode.RELEVANT).sum())
    unknown = int((top == StateCode.UNKNOWN).sum())
    return Bounds(relevant / cutoff, (relevant + unknown) / cutoff)


def recall_at(states: States, known_relevant: int, cutoff: int) -> float | None:
    """Give the share of the known relevant evidence that stands among the first ``cutoff``.

    This is ``known_label_recall@k``: found / all that is known to be relevant, as ``recall_k`` of
    trec_eval (m_recall.c); the variant that divides by at most ``cutoff`` is another measure. It
    says nothing of relevant evidence that nobody judged.

    Args:
        states: Shape (n,), the codes of the places, best first.
        known_relevant: How many relevant evidences are known for the query, returned or not.
        cutoff: How many places count, 1 or more.

    Returns:
        In [0, 1]; None when nothing is known to be relevant, where trec_eval gives 0 and so
        lowers the mean.

    Raises:
        UsageError: When the cutoff is below 1, a code is none of `StateCode`, or more relevant
            places are in the ranking than are known.
    """
    top = _top(states, cutoff)
    returned = int((np.asarray(states) == StateCode.RELEVANT).sum())
    if known_relevant < returned:
        raise UsageError(f"{returned} places are relevant, but only {known_relevant} are known")
    if not known_relevant:
        return None
    return int((top == StateCode.RELEVANT).sum()) / known_relevant


def reciprocal_rank(states: States, cutoff: int | None = None) -> Bounds:
    """Give one over the rank of the first relevant place, 0 when there is none.

    The mean over queries is the MRR (Voorhees 1999, TREC-8 Question Answering Track report,
    section 3); the lower bound is ``recip_rank`` of trec_eval. Ranks count from 1, whatever a
    file's rank column begins with. In the upper bound the first unknown place is relevant.

    Args:
        states: Shape (n,), the codes of the places, best first.
        cutoff: How many places count, 1 or more; all by default.

    Returns:
        In [0, 1].

    Raises:
        UsageError: When the cutoff is below 1 or a code is none of `StateCode`.
    """
    top = _top(states, max(len(states), 1) if cutoff is None else cutoff)
    relevant = top == StateCode.RELEVANT
    return Bounds(_one_over_first(relevant), _one_over_first(relevant | (top == StateCode.UNKNOWN)))


def judged_coverage_at(states: States, cutoff: int) -> float | None:
    """Give the share of judged places among those of the first ``cutoff`` that were returned.

    Divides by what was returned when that is less than the cutoff, as ``Judged@k`` of ir_measures
    does (MacAvaney, Macdonald and Ounis 2022, "Streamlining Evaluation with ir-measures").

    Args:
        states: Shape (n,), the codes of the places, best first.
        cutoff: How many places count, 1 or more.

    Returns:
        In [0, 1]; None when nothing was returned.

    Raises:
        UsageError: When the cutoff is below 1 or a code is none of `StateCode`.
    """
    top = _top(states, cutoff)
    return int((top != StateCode.UNKNOWN).sum()) / len(top) if len(top) else None


def _top(states: States, cutoff: int) -> NDArray[np.integer]:
    if cutoff < 1:
        raise UsageError(f"a cutoff is 1 or more, not {cutoff}")
    codes = np.asarray(states) if len(states) else np.zeros(0, dtype=np.int8)
    # A truth value has no way to say unknown, so it is refused rather than read as 0 and 1.
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or not np.isin(codes, _CODES).all():
        raise UsageError("states are codes: 1 relevant, 0 not relevant, -1 unknown")
    return codes[:cutoff]


def _one_over_first(found: NDArray[np.bool_]) -> float:
    places = np.flatnonzero(found)
    return 1.0 / (int(places[0]) + 1) if len(places) else 0.0
