"""Routing: what a policy trusts is accepted, the rest goes to people.

Routing is idempotent: it compares what should be with what is, and appends the differences. So it
is run again after new judgments, votes, a calibration, an import or a correction.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from labeler.assessment.decisions import settle_items
from labeler.assessment.samples import JudgeAnswer
from labeler.calibration.policies import AnyPolicy, Policy, TargetPolicy, policy_in_force
from labeler.draws.audit_ledger import Ledgers, count_ledgers
from labeler.queue.acceptances import (
    Acceptance,
    bring_acceptances_in_line,
    levels_of_grades,
    scored_acceptance,
)
from labeler.queue.audit import AUDIT, Accepted, draw_audit
from labeler.queue.guarantee import AuditStanding, bring_audit_forward
from labeler.queue.interleaving import Early, rate_of
from labeler.queue.order import DEFAULT_ORDER, Order, order_named, place_items
from labeler.queue.reasons import SECOND_LOOK, accepted_answer, reasons_for
from labeler.queue.routed import command_of, order_in_force
from labeler.queue.sampled import with_sampled, with_samples
from labeler.queue.second_look import second_looks
from labeler.queue.standing import PoolStanding, judgeable, queries_of, read_standing
from labeler.queue.tasks import bring_tasks_in_line, reasons_in_force, waiting_since
from labeler.queue.verdicts import GradeVerdict
from labeler.queue.wanted import items_with_open_votes
from labeler.queue.worth import influential, item_worths, reach_of_items, stand_among
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import refresh
from labeler.store.registry import policy_key, pool_named

__all__ = ["RouteReport", "route_pool"]


@dataclass(frozen=True, slots=True)
class RouteReport:
    """Where the items of a pool stand after routing.

    Attributes:
        policy: The policy in force.
        instead_of: Why it is the plain one although another was asked for; empty where it isn't.
        settled_by_people: Items whose label people gave.
        carried: Items whose label comes from the same text in another snapshot.
        accepted: Items whose label the policy accepted, by grade.
        to_people: Items that nothing was accepted for, and that people can judge.
        waiting: All items that wait for people: these, and accepted ones that a random draw
            picked; second looks aside.
        reasons: How many of them for each reason; an item may have several.
        audited: Items that wait for people because a random draw picked them.
        second_looks: Settled items that somebody is to look at once more.
        unavailable: Items without a text, which nobody can judge.
        newly_accepted: Accepted by this call.
        withdrawn: Labels that were accepted before and no longer are.
        new_tasks: Tasks that this call raised.
        lifted_tasks: Tasks that this call lifted.
        audit: What the audit has shown, grade by grade; empty under a plain policy.
        at_chance: Judges that are at chance against people, and count for nothing here.
        order: The order in which people are asked.
        ledgers: Votes of random draws and votes of the queue, counted apart.
        revision: The revision that was made, or None when nothing changed.
    """

    policy: str
    instead_of: str
    settled_by_people: int
    carried: int
    accepted: Mapping[str, int]
    to_people: int
    waiting: int
    reasons: Mapping[str, int]
    audited: int
    second_looks: int
    unavailable: int
    newly_accepted: int
    withdrawn: int
    new_tasks: int
    lifted_tasks: int
    audit: tuple[GradeVerdict, ...]
    at_chance: tuple[str, ...]
    order: str
    ledgers: Ledgers
    revision: int | None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The order, and how far each item reaches into the reports."""

    order: Order
    reach: Mapping[int, float]


@dataclass(slots=True)
class _Plan:
    """What routing wants, while it is worked out."""

    accepted: dict[int, Acceptance] = field(default_factory=dict)
    answers: dict[int, JudgeAnswer] = field(default_factory=dict)
    to_people: dict[int, tuple[str, ...]] = field(default_factory=dict)
    audited: frozenset[int] = frozenset()
    early: Early = field(default_factory=Early)
    second_looks: frozenset[int] = frozenset()
    audit: tuple[GradeVerdict, ...] = ()

    def wanted(self) -> dict[int, tuple[str, ...]]:
        """Give every item that goes to people, with the reasons."""
        wanted = dict(self.to_people)
        for items, reason in ((self.audited, AUDIT), (self.second_looks, SECOND_LOOK)):
            for item in sorted(items):
                wanted[item] = (*wanted.get(item, ()), reason)
        return wanted


def route_pool(
    store: Store,
    name: str,
    policy: AnyPolicy,
    overlap: Mapping[str, int] | None = None,
    *,
    new_audit: bool = False,
    order: str | None = None,
    votes_on_influential: int = 1,
) -> RouteReport:
    """Apply a policy to a pool.

    Args:
        store: The project.
        name: The pool's name.
        policy: What is trusted.
        overlap: How many people vote on an item, by the reason for which it goes to people, where
            the policy doesn't ask for more.
        new_audit: Freeze the latest scores and draw anew, beside what earlier audits have shown.
        order: The name of the order in which people are asked; by default the one in force,
            `DEFAULT_ORDER` before the first time.
        votes_on_influential: How many people vote on the tenth of what waits that moves reports
            most, where nothing asks for more.

    Raises:
        NotFoundError: When there is no such pool.
        UsageError: When there is no such order.
    """
    with store.read() as connection:
        before = order_in_force(connection, name)
    by = order_named(order or before or DEFAULT_ORDER)
    with store.write(command_of(name, policy.name, by)) as tx:
        row = pool_named(tx.connection, name)
        settle_items(tx, judgeable(tx.connection, row.id))
        standing = read_standing(tx.connection, row)
        in_force, instead_of = policy_in_force(policy, standing.scores)
        plan, decided = _decide(tx, standing, row, in_force, new_audit=new_audit)
        wanted = with_samples(tx.connection, plan.wanted(), [*plan.accepted, *plan.to_people])
        chosen = _Chosen(by, reach_of_items(tx.connection, row.id))
        raised, lifted = bring_tasks_in_line(
            tx,
            pool_items=list(standing.items),
            wanted=wanted,
            order=_order(tx, standing, row, wanted, plan, chosen),
            policy=in_force,
            overlap=overlap or {},
            at_least=dict.fromkeys(influential(plan.to_people, chosen.reach), votes_on_influential),
        )
        refresh(tx.connection, list(standing.items))
        ledgers = count_ledgers(
            tx.connection, standing.pool_id, standing.people, disputed=standing.disputed
        )
        revision = tx.made_revision if by.name == before else tx.revision_id
    return _report(
        standing,
        plan,
        policy=in_force.name,
        instead_of=instead_of,
        order=by.name,
        ledgers=ledgers,
        decided=decided,
        waiting=sum(set(reasons) != {SECOND_LOOK} for reasons in wanted.values()),
        tasks=(raised, lifted),
        revision=revision,
    )


def _decide(
    tx: WriteTransaction,
    standing: PoolStanding,
    pool: sa.Row[Any],
    policy: AnyPolicy,
    *,
    new_audit: bool,
) -> tuple[_Plan, tuple[int, int]]:
    """Accept what the policy trusts, and draw; give the plan, and what was accepted and withdrawn.

    A target asks for the draw first, and accepts what it has shown; a plain threshold accepts, and
    draws from that.
    """
    if isinstance(policy, Policy):
        plan = _plain_plan(standing, policy)
    else:
        audit = bring_audit_forward(tx, standing, policy, new_audit=new_audit)
        plan = _audited_plan(tx, standing, policy, audit)
    plan.second_looks = _second_looks(tx, standing)
    decided = bring_acceptances_in_line(
        tx, plan.accepted, list(plan.to_people), standing.labels, policy
    )
    if isinstance(policy, Policy):
        plan.audited = _plain_audit(tx, plan, pool, policy)
    return plan, decided


def _report(
    standing: PoolStanding,
    plan: _Plan,
    *,
    policy: str,
    instead_of: str,
    order: str,
    ledgers: Ledgers,
    decided: tuple[int, int],
    waiting: int,
    tasks: tuple[int, int],
    revision: int | None,
) -> RouteReport:
    labels = standing.labels
    people = standing.people
    return RouteReport(
        policy=policy,
        instead_of=instead_of,
        settled_by_people=sum(labels[item].carried_from is None for item in people),
        carried=sum(labels[item].carried_from is not None for item in people),
        accepted=dict(Counter(one.grade.value for one in plan.accepted.values())),
        to_people=len(plan.to_people),
        waiting=waiting,
        reasons=dict(Counter(reason for reasons in plan.to_people.values() for reason in reasons)),
        audited=len(plan.audited),
        second_looks=len(plan.second_looks),
        unavailable=sum(not available for available in standing.items.values()),
        newly_accepted=decided[0],
        withdrawn=decided[1],
        new_tasks=tasks[0],
        lifted_tasks=tasks[1],
        audit=plan.audit,
        at_chance=tuple(sorted(standing.at_chance)),
        order=order,
        ledgers=ledgers,
        revision=revision,
    )


def _plain_plan(standing: PoolStanding, policy: Policy) -> _Plan:
    plan = _Plan()
    for item in standing.open_items:
        signals = standing.signals(item)
        if reasons := reasons_for(signals, policy):
            plan.to_people[item] = reasons
            continue
        answer = accepted_answer(signals, policy)
        if answer.grade is not None and answer.level_id is not None:
            plan.answers[item] = answer
            plan.accepted[item] = Acceptance(answer.grade, answer.level_id, (answer.judgment_id,))
    return plan


def _audited_plan(
    tx: WriteTransaction, standing: PoolStanding, policy: TargetPolicy, audit: AuditStanding
) -> _Plan:
    plan = _Plan(audit=audit.grades)
    levels = levels_of_grades(tx, standing.pool_id) if audit.accepted else {}
    for item in standing.open_items:
        reasons = reasons_for(standing.signals(item, audit.standing_of(item)), policy)
        grade = audit.accepted.get(item)
        acceptance = None
        if not reasons and grade is not None:
            acceptance = scored_acceptance(grade, standing.answers.get(item, ()), levels)
        if acceptance is None:
            plan.to_people[item] = reasons or ("low_confidence",)
        else:
            plan.accepted[item] = acceptance
    plan.audited = audit.drawn & {*plan.to_people, *plan.accepted}
    frame = len(audit.frame.items) if audit.frame is not None else 0
    plan.early = Early(audit.deciding & plan.audited, rate_of(len(audit.deciding), frame))
    return plan


def _second_looks(tx: WriteTransaction, standing: PoolStanding) -> frozenset[int]:
    """Choose items for a second look; where another vote is wanted anyway, that is one."""
    chosen = second_looks(standing.scores, standing.labels, standing.votes)
    if not chosen:
        return chosen
    reasons = reasons_in_force(tx.connection, sorted(chosen))
    fresh = [item for item in sorted(chosen) if SECOND_LOOK not in reasons.get(item, ())]
    return chosen - items_with_open_votes(tx.connection, fresh)


def _plain_audit(
    tx: WriteTransaction, plan: _Plan, pool: sa.Row[Any], policy: Policy
) -> frozenset[int]:
    """Draw from what is accepted; give the accepted items that were ever drawn."""
    if not plan.accepted:
        return frozenset()
    accepted = [
        Accepted(item, answer.grade, answer.confidence or 0.0)
        for item, answer in sorted(plan.answers.items())
        if answer.grade is not None
    ]
    versions = sorted({answer.score_version for answer in plan.answers.values()})
    drawn = draw_audit(
        tx,
        pool_id=pool.id,
        pool_name=pool.name,
        policy=policy,
        policy_id=policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json()),
        accepted=accepted,
        score_version=hashlib.sha256("\n".join(versions).encode()).hexdigest(),
    )
    return frozenset(drawn & plan.accepted.keys())


def _order(
    tx: WriteTransaction,
    standing: PoolStanding,
    pool: sa.Row[Any],
    wanted: Mapping[int, tuple[str, ...]],
    plan: _Plan,
    chosen: _Chosen,
) -> dict[int, int]:
    queries = queries_of(tx.connection, pool.id)
    worths = item_worths(standing, wanted, chosen.reach, waiting_since(tx.connection, list(wanted)))
    early = with_sampled(plan.early, wanted)
    middle = wanted.keys() - plan.to_people.keys() - early.items
    return place_items(
        chosen.order,
        queries,
        stand_among(chosen.order, worths, middle),
        seed=pool.digest,
        early=early,
        votes=Counter(queries[item] for item in standing.people if item in queries),
    )
