"""What people's votes on one item settle: a pure decision over plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from labeler.labels import Grade, Outcome
from labeler.records.judgments import Basis

__all__ = ["Dispute", "Settlement", "Vote", "settle_votes"]


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's judgment of an item.

    Attributes:
        judgment_id: The judgment.
        assessor_id: The person.
        outcome: ``judged`` or ``abstained``; other outcomes are no votes.
        grade: The grade, or None for an abstention.
        level_id: The level, or None for an abstention.
        order: The level's place on its scale, from worst; -1 for an abstention.
        at: When it was given, if known.
        adjudicates: Whether it was given to settle a dispute.
        looks_again: Whether it is a second look of somebody at their own earlier vote, untold.
    """

    judgment_id: int
    assessor_id: int
    outcome: Outcome
    grade: Grade | None
    level_id: int | None
    order: int = -1
    at: datetime | None = None
    adjudicates: bool = False
    looks_again: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is in force after the votes, on which basis, resting on which judgments."""

    outcome: Outcome
    grade: Grade | None
    level_id: int | None
    basis: Basis
    judgment_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """People contradict each other, or one person contradicts himself at one time."""

    judgment_ids: tuple[int, ...]


def settle_votes(votes: Sequence[Vote]) -> Settlement | Dispute | None:
    """Decide what the votes of people on one item come to; their order in time is all that counts.

    - A person's later vote takes the place of the earlier one. Votes of one person that
      contradict each other, and of which neither is known to be later, are a dispute.
    - A second look, which the person didn't know to be one, takes the place of nothing: where it
      contradicts the vote before it, the person is in dispute with themself.
    - The latest adjudication settles the item.
    - Else people who agree on the grade settle it: one alone as ``one_reviewer``, more as a
      ``consensus``. The lowest of their levels is taken, so as to claim no more than all said.
    - Who abstained says nothing against the others. Where all abstained, that is what is settled:
      the item stays unknown.

    Returns:
        The settlement, a dispute, or None when there is no vote.
    """
    if not votes:
        return None
    counting = _latest_of_each(votes)
    adjudications = [vote for vote in counting if vote.adjudicates and vote.grade is not None]
    if adjudications:
        last = adjudications[-1]
        return Settlement(
            last.outcome, last.grade, last.level_id, Basis.ADJUDICATION, (last.judgment_id,)
        )
    graded = [vote for vote in counting if vote.grade is not None]
    if len({vote.grade for vote in graded}) > 1:
        return Dispute(tuple(vote.judgment_id for vote in graded))
    speaking = graded or counting
    lowest = min(speaking, key=lambda vote: (vote.order, vote.judgment_id))
    people = {vote.assessor_id for vote in speaking}
    return Settlement(
        lowest.outcome,
        lowest.grade,
        lowest.level_id,
        Basis.ONE_REVIEWER if len(people) == 1 else Basis.CONSENSUS,
        tuple(sorted(vote.judgment_id for vote in speaking)),
    )


def _latest_of_each(votes: Sequence[Vote]) -> list[Vote]:
    """Keep each person's latest votes; several when none of them is known to be the latest."""
    kept: list[Vote] = []
    for assessor in dict.fromkeys(vote.assessor_id for vote in votes):
        given = [vote for vote in votes if vote.assessor_id == assessor]
        own = [vote for vote in given if not vote.looks_again]
        times = [vote.at for vote in own if vote.at is not None]
        if len(times) == len(own):
            own = [vote for vote in own if vote.at == max(times)]
        kept += own
        kept += [vote for vote in given if vote.looks_again and not _is_before(vote, own)]
    return sorted(kept, key=lambda vote: vote.judgment_id)


def _is_before(look: Vote, votes: Sequence[Vote]) -> bool:
    """Tell whether a second look is older than one of these votes: it was at another one."""
    return any(look.at is not None and vote.at is not None and vote.at > look.at for vote in votes)
