"""Why an item goes to people: each reason a name and a pure function, in one registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from labeler.assessment.pool_signals import GRADE_RANK
from labeler.assessment.samples import JudgeAnswer
from labeler.assessment.verdict import NOT_SUSPICIOUS
from labeler.calibration.policies import AnyPolicy, Policy
from labeler.errors import UsageError
from labeler.labels import Outcome
from labeler.queue.audit import AUDIT
from labeler.settings import Settings
from labeler.store.projections import PEOPLE_DISAGREE

__all__ = [
    "PERSON_FOUND",
    "REASONS",
    "SECOND_LOOK",
    "ItemSignals",
    "Standing",
    "accepted_answer",
    "objections",
    "overlap_by_reason",
    "reasons_for",
]

PERSON_FOUND = "person_found"
"""A reviewer found it for the query; somebody else says what it is worth."""

SECOND_LOOK = "second_look"
"""One person's label lies far from what the scores are sure of; somebody looks once more, blind."""

_FAILURES = frozenset({Outcome.FAILED, Outcome.REFUSED, Outcome.TRUNCATED})


class Standing(Enum):
    """Where an item stands with an audit, under a policy with a target."""

    ACCEPTED = auto()
    """Its part of the frozen scores is shown to reach the target."""
    AWAITS_AUDIT = auto()
    """Its part is being audited."""
    BEYOND = auto()
    """Nothing is shown of it."""


@dataclass(frozen=True, slots=True)
class ItemSignals:
    """What routing knows of one item that people haven't settled.

    Attributes:
        answers: The latest answer of each judge that isn't at chance.
        disputed: Whether people contradict each other on it.
        found: Whether a person found it.
        standing: Where it stands with the audit; a plain policy doesn't ask.
    """

    answers: Sequence[JudgeAnswer]
    disputed: bool
    found: bool = False
    standing: Standing = Standing.BEYOND


Reason = Callable[[ItemSignals, AnyPolicy], bool]


def _people_disagree(signals: ItemSignals, _: AnyPolicy) -> bool:
    return signals.disputed


def _person_found(signals: ItemSignals, _: AnyPolicy) -> bool:
    return signals.found


def _not_judged(signals: ItemSignals, _: AnyPolicy) -> bool:
    return not signals.answers


def _judge_abstained(signals: ItemSignals, _: AnyPolicy) -> bool:
    return any(answer.outcome is Outcome.ABSTAINED for answer in signals.answers)


def _judge_failed(signals: ItemSignals, _: AnyPolicy) -> bool:
    return any(answer.outcome in _FAILURES for answer in signals.answers)


def _judges_disagree(signals: ItemSignals, _: AnyPolicy) -> bool:
    """Across the relevance boundary, or by more than one grade."""
    grades = {answer.grade for answer in signals.answers if answer.grade is not None}
    ranks = {GRADE_RANK[grade] for grade in grades}
    return len(ranks) > 1 and (0 in ranks or max(ranks) - min(ranks) > 1)


def _awaits_audit(signals: ItemSignals, policy: AnyPolicy) -> bool:
    """Its label may come to be accepted, once the drawn ones beside it are judged."""
    return not isinstance(policy, Policy) and signals.standing is Standing.AWAITS_AUDIT


def _low_confidence(signals: ItemSignals, policy: AnyPolicy) -> bool:
    """Its label is none that the policy accepts: no judge is sure, or no audit has shown it."""
    judged = [answer for answer in signals.answers if answer.grade is not None]
    if not isinstance(policy, Policy):
        return bool(judged) and signals.standing is Standing.BEYOND
    return bool(judged) and not any(
        answer.grade is not None and policy.accepts(answer.grade, answer.confidence)
        for answer in judged
    )


def _suspicious(signals: ItemSignals, _: AnyPolicy) -> bool:
    """A flag that says something of the passage; those that only mark a judgment aside."""
    flags = {flag for answer in signals.answers for flag in answer.flags}
    return bool(flags - NOT_SUSPICIOUS)


REASONS: Mapping[str, Reason] = {
    PEOPLE_DISAGREE: _people_disagree,
    PERSON_FOUND: _person_found,
    "not_judged": _not_judged,
    "judge_abstained": _judge_abstained,
    "judge_failed": _judge_failed,
    "judges_disagree": _judges_disagree,
    "awaits_audit": _awaits_audit,
    "low_confidence": _low_confidence,
    "suspicious": _suspicious,
}
"""Every reason of an item that people haven't settled, in the order in which they are told."""

_OF_CONFIDENCE = frozenset({"awaits_audit", "low_confidence"})


def overlap_by_reason(given: Mapping[str, int]) -> Mapping[str, int]:
    """Check how many people are to vote for which reason, as ``[review.overlap]`` states it.

    Raises:
        UsageError: When there is no such reason, or it is a dispute: one person settles that.
    """
    known = [*(name for name in REASONS if name != PEOPLE_DISAGREE), AUDIT]
    for name in given:
        if name not in known:
            why = "a dispute is settled by one" if name == PEOPLE_DISAGREE else "no such reason"
            raise UsageError(
                f"{Settings.source('review', 'overlap', name)}: {why}",
                hint=f"reasons: {', '.join(known)}",
            )
    return given


def reasons_for(signals: ItemSignals, policy: AnyPolicy) -> tuple[str, ...]:
    """Name the reasons for which an item goes to people; none means that its label is accepted."""
    return tuple(name for name, applies in REASONS.items() if applies(signals, policy))


def objections(signals: ItemSignals, policy: AnyPolicy) -> tuple[str, ...]:
    """Name the reasons that stand however sure its label is."""
    return tuple(
        name
        for name, applies in REASONS.items()
        if name not in _OF_CONFIDENCE and applies(signals, policy)
    )


def accepted_answer(signals: ItemSignals, policy: Policy) -> JudgeAnswer:
    """Choose the answer that is accepted for an item without reasons: the most confident one."""
    fitting = [
        answer
        for answer in signals.answers
        if answer.grade is not None and policy.accepts(answer.grade, answer.confidence)
    ]
    return max(fitting, key=lambda answer: (answer.confidence or 0.0, -answer.judgment_id))
