"""What a policy would do with a pool, and what its audit takes: told before anything is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from labeler.assessment.item_scores import ItemScores, scores_by_digest
from labeler.calibration.policies import AnyPolicy, Policy, TargetPolicy, policy_in_force
from labeler.draws.audit_frames import AuditFrame
from labeler.draws.audit_ledger import Ledgers, count_ledgers
from labeler.evaluation.sampling import zero_error_sample_size
from labeler.queue.audit_plan import GradePlan, PlannedStratum, plan_audit
from labeler.queue.guarantee import AuditStanding, audit_standing
from labeler.queue.reasons import reasons_for
from labeler.queue.standing import PoolStanding, read_standing
from labeler.queue.verdicts import GradeVerdict
from labeler.store.database import Store
from labeler.store.registry import pool_named

__all__ = ["GradeNeed", "RoutePlan", "StratumRow", "plan_route"]


@dataclass(frozen=True, slots=True)
class StratumRow:
    """One stratum of the audit: what is in it, and how far its draw is.

    Attributes:
        name: What is in it.
        labels: Items in it.
        expected: The mean probability that its labels are right, by the scores; None if unknown.
        drawn: Items drawn, or to be drawn.
        answered: How many of them people have judged.
        wrong: How many of these got another grade, or couldn't be judged.
    """

    name: str
    labels: int
    expected: float | None
    drawn: int
    answered: int
    wrong: int


@dataclass(frozen=True, slots=True)
class GradeNeed:
    """What the target needs of one grade.

    Attributes:
        grade: The grade.
        target: The share of its accepted labels that is to agree with people.
        confidence: At which confidence, at one look: the policy's, shared among grades and looks.
        labels: Labels that nothing but their confidence speaks against.
        aimed_at: Labels in the set that the audit aims at.
        expected: The share of them that is right, by the scores.
        votes_without_error: Votes that show the target when none of the drawn labels is wrong.
        votes_halfway: Votes that show it with a probability of 0.8 where the share that is right
            lies halfway between the target and 1; None where the labels are too few.
        votes: Votes that are drawn.
        chance: The probability that they show the target, if the scores promise a little too
            much, as they do as a rule.
        why_not: Why nothing of it can be accepted; empty where something may be.
    """

    grade: str
    target: float
    confidence: float
    labels: int
    aimed_at: int
    expected: float | None
    votes_without_error: int | None
    votes_halfway: int | None
    votes: int
    chance: float
    why_not: str


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """What routing would do, and what the audit takes.

    Attributes:
        policy: The policy in force.
        instead_of: Why it is the plain one although another was asked for; empty where it isn't.
        is_frozen: Whether the audit was drawn already; then nothing of it is planned anew.
        score_version: The digest of the scores that its strata are made of, or None.
        needs: What the target needs, by grade; empty once the audit is drawn.
        strata: The strata of the audit.
        audit_votes: Votes that the audit's thresholds need altogether.
        accepted_now: What can be accepted now, by grade.
        accepted_later: What can be accepted if the audit shows the target, by grade.
        to_people: Items that wait for people, now.
        shown: What the audit has shown, by grade.
        ledgers: Votes of random draws and votes of the queue, counted apart.
    """

    policy: str
    instead_of: str
    is_frozen: bool
    score_version: str | None
    needs: tuple[GradeNeed, ...]
    strata: tuple[StratumRow, ...]
    audit_votes: int
    accepted_now: Mapping[str, int]
    accepted_later: Mapping[str, int]
    to_people: int
    shown: tuple[GradeVerdict, ...]
    ledgers: Ledgers


def plan_route(store: Store, name: str, policy: AnyPolicy, *, new_audit: bool = False) -> RoutePlan:
    """Tell what a policy would do with a pool; nothing is written.

    Args:
        store: The project.
        name: The pool's name.
        policy: What is to be trusted.
        new_audit: Plan another audit, of the latest scores, although one was drawn.

    Raises:
        NotFoundError: When there is no such pool.
    """
    with store.read() as connection:
        standing = read_standing(connection, pool_named(connection, name))
        in_force, instead_of = policy_in_force(policy, standing.scores)
        ledgers = count_ledgers(
            connection, standing.pool_id, standing.people, disputed=standing.disputed
        )
        if isinstance(in_force, Policy):
            return _plain(standing, in_force, instead_of, ledgers)
        now = audit_standing(connection, standing, in_force)
        if now.frame is None or new_audit:
            return _planned(standing, in_force, now, ledgers)
        scores = scores_by_digest(connection, now.frame.score_version)
        return _frozen(standing, in_force, now, now.frame, scores, ledgers)


def _plain(standing: PoolStanding, policy: Policy, instead_of: str, ledgers: Ledgers) -> RoutePlan:
    accepted: Counter[str] = Counter()
    to_people = 0
    for item in standing.open_items:
        signals = standing.signals(item)
        if reasons_for(signals, policy):
            to_people += 1
            continue
        sure = max(
            (one for one in signals.answers if one.grade is not None),
            key=lambda one: one.confidence or 0.0,
        )
        accepted[str(sure.grade)] += 1
    size = zero_error_sample_size(policy.target, policy.confidence)
    return RoutePlan(
        policy=policy.name,
        instead_of=instead_of,
        is_frozen=False,
        score_version=None,
        needs=(),
        strata=(),
        audit_votes=min(size, sum(accepted.values())),
        accepted_now=dict(accepted),
        accepted_later={},
        to_people=to_people,
        shown=(),
        ledgers=ledgers,
    )


def _planned(
    standing: PoolStanding, policy: TargetPolicy, now: AuditStanding, ledgers: Ledgers
) -> RoutePlan:
    plan = plan_audit(standing.scored_labels(policy, frozenset(now.accepted)), policy)
    accepted = Counter(grade.value for grade in now.accepted.values())
    return RoutePlan(
        policy=policy.name,
        instead_of="",
        is_frozen=False,
        score_version=None if standing.scores is None else standing.scores.digest,
        needs=tuple(_need(grade) for grade in plan.grades),
        strata=tuple(_row(stratum) for stratum in plan.strata),
        audit_votes=sum(grade.votes for grade in plan.grades),
        accepted_now=dict(accepted),
        accepted_later={
            grade.grade.value: grade.aimed_at - grade.votes for grade in plan.grades if grade.tested
        },
        to_people=len(standing.open_items) - sum(accepted.values()),
        shown=now.grades,
        ledgers=ledgers,
    )


def _need(plan: GradePlan) -> GradeNeed:
    return GradeNeed(
        grade=plan.grade.value,
        target=plan.target,
        confidence=1 - plan.risk,
        labels=plan.labels,
        aimed_at=plan.aimed_at,
        expected=plan.expected,
        votes_without_error=plan.without_error,
        votes_halfway=plan.halfway,
        votes=plan.votes,
        chance=plan.chance,
        why_not=plan.why_not,
    )


def _row(stratum: PlannedStratum) -> StratumRow:
    return StratumRow(str(stratum.name), len(stratum.items), stratum.expected, stratum.draw, 0, 0)


def _frozen(
    standing: PoolStanding,
    policy: TargetPolicy,
    now: AuditStanding,
    frame: AuditFrame,
    scores: ItemScores | None,
    ledgers: Ledgers,
) -> RoutePlan:
    people = standing.people
    rows: list[StratumRow] = []
    for stratum in frame.strata:
        drawn = stratum.drawn()
        answered = drawn & people.keys()
        rows.append(
            StratumRow(
                name=str(stratum.name),
                labels=len(stratum.items),
                expected=None if scores is None else scores.expected_right(stratum.items),
                drawn=len(drawn),
                answered=len(answered),
                wrong=sum(people[item] is not stratum.name.grade for item in answered),
            )
        )
    unknown = standing.disputed
    accepted = {item for item in now.accepted if item in standing.items} - people.keys() - unknown
    later = Counter(
        stratum.name.grade.value
        for stratum in frame.strata
        for item in stratum.items
        if item in now.awaiting and item not in stratum.drawn() | unknown
    )
    return RoutePlan(
        policy=policy.name,
        instead_of="",
        is_frozen=True,
        score_version=frame.score_version,
        needs=(),
        strata=tuple(rows),
        audit_votes=sum(verdict.pending for verdict in now.grades),
        accepted_now=dict(Counter(now.accepted[item].value for item in accepted)),
        accepted_later=dict(later),
        to_people=len(standing.open_items) - len(accepted),
        shown=now.grades,
        ledgers=ledgers,
    )
