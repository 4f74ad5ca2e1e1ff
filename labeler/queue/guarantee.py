"""The audit of a policy with a target: frozen once, drawn once, taken further where it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.calibration.policies import TargetPolicy
from labeler.draws.audit_frames import AuditFrame, read_frames
from labeler.labels import Grade
from labeler.queue.audit_frames import freeze, go_on
from labeler.queue.audit_plan import plan_audit
from labeler.queue.reasons import Standing, objections
from labeler.queue.standing import PoolStanding
from labeler.queue.verdicts import FrameVerdict, GradeVerdict, judge_frame
from labeler.store.database import WriteTransaction
from labeler.store.projections import PEOPLE_DISAGREE
from labeler.store.registry import policy_key

__all__ = ["AuditStanding", "audit_standing", "bring_audit_forward"]


@dataclass(frozen=True, slots=True)
class AuditStanding:
    """Where the audits of a policy stand, all of its frames taken together.

    Attributes:
        frame: The latest frame, or None before the first.
        grades: What the latest frame has shown.
        accepted: The grade of each item that may be accepted, by any frame.
        awaiting: Items of the latest frame whose part may still come to be accepted.
        drawn: Items that the latest frame has drawn.
        deciding: Those of them whose answers something waits for.
    """

    frame: AuditFrame | None
    grades: tuple[GradeVerdict, ...]
    accepted: Mapping[int, Grade]
    awaiting: frozenset[int]
    drawn: frozenset[int]
    deciding: frozenset[int]

    def standing_of(self, item: int) -> Standing:
        """Tell where an item stands."""
        if item in self.accepted:
            return Standing.ACCEPTED
        return Standing.AWAITS_AUDIT if item in self.awaiting else Standing.BEYOND


def audit_standing(
    connection: Connection, standing: PoolStanding, policy: TargetPolicy
) -> AuditStanding:
    """Read where the audits of a policy stand."""
    frames = read_frames(connection, standing.pool_id, policy.digest)
    return _taken_together(frames, [_judged(frame, standing, policy) for frame in frames])


def bring_audit_forward(
    tx: WriteTransaction, standing: PoolStanding, policy: TargetPolicy, *, new_audit: bool
) -> AuditStanding:
    """Freeze a frame where there is none, and draw further where that is due.

    Args:
        tx: The write transaction.
        standing: The pool; its scores are calibrated.
        policy: The policy.
        new_audit: Freeze another frame, of the latest scores and of what isn't accepted yet.
    """
    now = audit_standing(tx.connection, standing, policy)
    if now.frame is None or new_audit:
        if not _freeze(tx, standing, policy, frozenset(now.accepted)):
            return now
    elif not _go_on(tx, now):
        return now
    return audit_standing(tx.connection, standing, policy)


def _freeze(
    tx: WriteTransaction, standing: PoolStanding, policy: TargetPolicy, without: frozenset[int]
) -> bool:
    labels = standing.scored_labels(policy, without)
    if not labels or standing.scores is None:
        return False
    freeze(
        tx,
        plan_audit(labels, policy),
        pool_id=standing.pool_id,
        pool_name=standing.name,
        policy_id=policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json()),
        policy_digest=policy.digest,
        policy_name=policy.name,
        score_version=standing.scores.digest,
    )
    return True


def _go_on(tx: WriteTransaction, now: AuditStanding) -> bool:
    due = {verdict.grade for verdict in now.grades if verdict.goes_on}
    if now.frame is None or not due:
        return False
    strata = [one for one in now.frame.strata if one.name.part and one.name.grade in due]
    go_on(tx, now.frame, strata)
    return True


def _judged(frame: AuditFrame, standing: PoolStanding, policy: TargetPolicy) -> FrameVerdict:
    people = standing.people
    gone = {
        item
        for item in frame.items - people.keys()
        if not standing.items.get(item, False)
        or set(objections(standing.signals(item), policy)) - {PEOPLE_DISAGREE}
    }
    return judge_frame(frame, policy, people, gone, standing.disputed)


def _taken_together(
    frames: Sequence[AuditFrame], verdicts: Sequence[FrameVerdict]
) -> AuditStanding:
    accepted: dict[int, Grade] = {}
    for verdict in verdicts:
        accepted.update(verdict.accepted)
    if not frames:
        return AuditStanding(None, (), accepted, frozenset(), frozenset(), frozenset())
    open_grades = {verdict.grade for verdict in verdicts[-1].grades if verdict.pending}
    return AuditStanding(
        frame=frames[-1],
        grades=verdicts[-1].grades,
        accepted=accepted,
        awaiting=verdicts[-1].awaiting - accepted.keys(),
        drawn=frames[-1].drawn,
        deciding=frozenset().union(
            *(
                one.drawn()
                for one in frames[-1].strata
                if one.name.part and one.name.grade in open_grades
            )
        ),
    )
