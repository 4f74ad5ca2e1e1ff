"""What an audit has shown so far: which labels of a frozen frame may be accepted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from labeler.calibration.policies import TargetPolicy
from labeler.draws.audit_frames import AuditFrame, FrozenStratum
from labeler.evaluation.acceptance import AuditedStratum, Step, accepted_strata, fixed_sequence
from labeler.labels import Grade

__all__ = ["AuditedPart", "FrameVerdict", "GradeVerdict", "judge_frame"]


@dataclass(frozen=True, slots=True)
class AuditedPart:
    """One tested part of a grade, and what its draw has brought.

    Attributes:
        name: What it is called.
        labels: Labels in it when it was frozen.
        drawn: How many were drawn.
        answered: How many of these people have judged.
        wrong: How many of these got another grade, or couldn't be judged.
        left: Labels in it that are still the scores' own.
    """

    name: str
    labels: int
    drawn: int
    answered: int
    wrong: int
    left: int


@dataclass(frozen=True, slots=True)
class GradeVerdict:
    """What is shown of one grade.

    Attributes:
        grade: The grade.
        target: The share that is to agree with people.
        risk: What may be mistaken at one look.
        looks: How many draws were made.
        strata: Its tested parts, surest first.
        steps: The tests of the latest look that could be made.
        accepted: How many of the parts are accepted, from the surest.
        pending: Drawn items without an answer, as long as the answers can change anything.
        goes_on: Whether a further draw is due.
        why: In words, where it stands.
    """

    grade: Grade
    target: float
    risk: float
    looks: int
    strata: tuple[AuditedPart, ...]
    steps: tuple[Step, ...]
    accepted: int
    pending: int
    goes_on: bool
    why: str


@dataclass(frozen=True, slots=True)
class FrameVerdict:
    """What is shown of a frame.

    Attributes:
        grades: Grade by grade.
        accepted: The grade of each item in a part that is accepted; one in dispute waits in any
            case.
        awaiting: Items in parts that may still come to be accepted.
    """

    grades: tuple[GradeVerdict, ...]
    accepted: Mapping[int, Grade]
    awaiting: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What has become of the items since they were frozen.

    Attributes:
        people: The grade that people gave each item they judged, None where they couldn't.
        gone: Other items whose label can't be accepted any more; a drawn one counts as wrong.
        disputed: Other items on which people contradict each other; a drawn one waits.
    """

    people: Mapping[int, Grade | None]
    gone: frozenset[int]
    disputed: frozenset[int]

    def is_answered(self, item: int) -> bool:
        """Tell whether it is known if the label of a drawn item is right."""
        return item in self.people or item in self.gone

    def is_left(self, item: int) -> bool:
        """Tell whether the label of an item is still that of the scores, and none other's."""
        return not self.is_answered(item) and item not in self.disputed


def judge_frame(
    frame: AuditFrame,
    policy: TargetPolicy,
    people: Mapping[int, Grade | None],
    gone: Collection[int] = (),
    disputed: Collection[int] = (),
) -> FrameVerdict:
    """Tell what a frame's audit has shown.

    Args:
        frame: The frame.
        policy: The target that it was frozen for.
        people: The grade that people gave each item they judged, None where they couldn't.
        gone: Items whose label can't be accepted any more for another reason, or that can't be
            judged any more; a drawn one of these counts as wrong.
        disputed: Items in dispute: their labels aren't among what is left to be accepted, and a
            drawn one has no answer until somebody has settled it.
    """
    tested = {
        grade: [one for one in frame.strata if one.name.part and one.name.grade is grade]
        for grade in policy.accept
    }
    chosen = {grade: strata for grade, strata in tested.items() if strata}
    risk = policy.risk_of_each(len(chosen))
    grades: list[GradeVerdict] = []
    accepted: dict[int, Grade] = {}
    awaiting: set[int] = set()
    seen = _Seen(people, frozenset(gone) - people.keys(), frozenset(disputed) - people.keys())
    for grade, strata in chosen.items():
        verdict = _judge_grade(grade, strata, policy, risk, seen)
        grades.append(verdict)
        for place, stratum in enumerate(strata):
            own = {item for item in stratum.items if not seen.is_answered(item)}
            if place < verdict.accepted:
                accepted.update(dict.fromkeys(own, grade))
            elif verdict.pending or verdict.goes_on:
                awaiting |= own
    return FrameVerdict(tuple(grades), accepted, frozenset(awaiting))


def _judge_grade(
    grade: Grade,
    strata: Sequence[FrozenStratum],
    policy: TargetPolicy,
    risk: float,
    seen: _Seen,
) -> GradeVerdict:
    target = policy.target_of(grade)
    sequence = [place for place, one in enumerate(strata, 1) if one.name.ends_set]
    looks = max(len(one.looks) for one in strata)
    steps: list[Step] = []
    accepted = 0
    for look in range(1, looks + 1):
        audited = [_audited(one, look, grade, seen) for one in strata]
        steps = fixed_sequence(audited, sequence, target, risk)
        # Each look has its own share of what may be mistaken, so what one has shown stays shown.
        accepted = max(accepted, accepted_strata(steps))
    # A set that lets none follow ends a look, whatever is still to come of the parts beyond it.
    is_open = len(steps) < len(sequence) and (not steps or steps[-1].goes_on)
    waiting = [item for one in strata for item in one.drawn() if not seen.is_answered(item)]
    pending = len(waiting) if is_open else 0
    goes_on = not is_open and accepted < len(strata) and looks < policy.looks
    return GradeVerdict(
        grade=grade,
        target=target,
        risk=risk,
        looks=looks,
        strata=tuple(_told(one, grade, seen) for one in strata),
        steps=tuple(steps),
        accepted=accepted,
        pending=pending,
        goes_on=goes_on,
        why=_why(accepted, len(strata), pending, steps, target, goes_on=goes_on),
    )


def _audited(stratum: FrozenStratum, look: int, grade: Grade, seen: _Seen) -> AuditedStratum | None:
    """Count a stratum up to a look, or give None while a drawn item of it has no answer."""
    drawn = stratum.drawn(look)
    if not all(seen.is_answered(item) for item in drawn):
        return None
    return AuditedStratum(
        size=len(stratum.items),
        drawn=len(drawn),
        wrong=sum(seen.people.get(item) is not grade for item in drawn),
        reviewed=sum(not seen.is_left(item) for item in stratum.items),
    )


def _told(stratum: FrozenStratum, grade: Grade, seen: _Seen) -> AuditedPart:
    drawn = stratum.drawn()
    answered = [item for item in drawn if seen.is_answered(item)]
    return AuditedPart(
        name=str(stratum.name),
        labels=len(stratum.items),
        drawn=len(drawn),
        answered=len(answered),
        wrong=sum(seen.people.get(item) is not grade for item in answered),
        left=sum(seen.is_left(item) for item in stratum.items),
    )


def _why(
    accepted: int, parts: int, pending: int, steps: Sequence[Step], target: float, *, goes_on: bool
) -> str:
    if pending:
        waits = f"{pending} drawn items wait for people"
        return f"{accepted} of {parts} parts are accepted; {waits}" if accepted else waits
    last = steps[-1] if steps else None
    if accepted == parts:
        return "all parts are accepted"
    told = ""
    if last is not None and not last.is_shown:
        unseen = last.most_wrong - last.wrong
        told = (
            f"{last.wrong} of {last.drawn} were wrong, so up to {unseen} wrong labels may be among "
            f"the {last.left} that nobody judged, too many for {target:.0%}"
        )
    if goes_on:
        return f"{told}; a further draw is due"
    if accepted:
        return f"{accepted} of {parts} parts are accepted" + (f"; beyond, {told}" if told else "")
    return told or "the draw shows nothing"
