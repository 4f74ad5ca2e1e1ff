"""Second looks: one person's label far from what the scores are sure of comes back, blind.

A slip of the finger, a passage misread, a rubric understood in another way: whoever looks again is
told nothing, and the item stands among ordinary ones. The later vote is a further vote. Two that
agree are a consensus; two that contradict each other are a dispute, which a third person settles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labeler.assessment.item_scores import ItemScores
from labeler.assessment.labels_in_force import LabelInForce
from labeler.assessment.settlement import Vote
from labeler.labels import Grade
from labeler.records.judgments import Basis

__all__ = ["FAR", "is_far", "second_looks"]

FAR = 0.05
"""A label is far from the scores when they give its side of the relevance boundary no more."""

_NOT_RELEVANT = 0


def is_far(grade: Grade, probabilities: Sequence[float]) -> bool:
    """Tell whether a person's label lies far from calibrated scores.

    Only the relevance boundary counts: how relevant a relevant passage is, people see differently.

    Args:
        grade: What the person said.
        probabilities: Of the three grades, worst first.
    """
    not_relevant = probabilities[_NOT_RELEVANT]
    own = not_relevant if grade is Grade.NOT_RELEVANT else 1 - not_relevant
    return own <= FAR


def second_looks(
    scores: ItemScores | None,
    labels: Mapping[int, LabelInForce],
    votes: Mapping[int, Sequence[Vote]],
) -> frozenset[int]:
    """Choose the settled items that somebody should look at once more.

    Those are labels that rest on a single vote. Where two people have judged an item, or where it
    was adjudicated, it had its second look; scores that aren't calibrated accuse nobody.

    Args:
        scores: The scores in force.
        labels: The label in force of each item.
        votes: People's votes in force on each item.
    """
    if scores is None or not scores.is_calibrated:
        return frozenset()
    by_item = scores.by_item()
    return frozenset(
        item
        for item, label in labels.items()
        if label.basis is Basis.ONE_REVIEWER
        and label.carried_from is None
        and label.grade is not None
        and item in by_item
        and len(votes.get(item, ())) == 1
        and is_far(label.grade, by_item[item])
    )
