"""Routing: what a policy trusts is accepted, the rest goes to people.

Routing is idempotent: it compares what should be with what is, and appends the differences. So it
is run again after new judgments, a calibration, an import or a correction.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.decisions import (
    NewDecision,
    append_decisions,
    record_withdrawals,
    settle_items,
    votes_on,
)
from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.assessment.samples import JudgeAnswer, latest_answers
from labeler.assessment.settlement import Dispute, Settlement, settle_votes
from labeler.calibration.policies import Policy
from labeler.labels import Outcome
from labeler.queue.audit import AUDIT, Accepted, draw_audit
from labeler.queue.order import queue_order
from labeler.queue.proposals import found_by_people
from labeler.queue.reasons import ItemSignals, accepted_answer, reasons_for
from labeler.queue.tasks import bring_tasks_in_line, waiting_since
from labeler.records import table
from labeler.records.judgments import Basis, CorrectionTarget
from labeler.records.pools import Candidate, Item
from labeler.records.queries import QueryVersion
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import refresh
from labeler.store.registry import policy_key, pool_named

__all__ = ["RouteReport", "route_pool"]


@dataclass(frozen=True, slots=True)
class RouteReport:
    """Where the items of a pool stand after routing.

    Attributes:
        settled_by_people: Items whose label people gave.
        carried: Items whose label comes from the same text in another snapshot.
        accepted: Items whose label the policy accepted, by grade.
        to_people: Items that wait for people.
        reasons: How many of them for each reason; an item may have several.
        audited: Accepted items that a random draw sends to people all the same.
        unavailable: Items without a text, which nobody can judge.
        newly_accepted: Accepted by this call.
        withdrawn: Labels that were accepted before and no longer are.
        new_tasks: Tasks that this call raised.
        lifted_tasks: Tasks that this call lifted.
    """

    policy: str
    settled_by_people: int
    carried: int
    accepted: Mapping[str, int]
    to_people: int
    reasons: Mapping[str, int]
    audited: int
    unavailable: int
    newly_accepted: int
    withdrawn: int
    new_tasks: int
    lifted_tasks: int
    revision: int | None


@dataclass(slots=True)
class _Plan:
    """What routing wants, while it is worked out."""

    accepted: dict[int, JudgeAnswer] = field(default_factory=dict)
    to_people: dict[int, tuple[str, ...]] = field(default_factory=dict)
    audited: set[int] = field(default_factory=set)
    settled: int = 0
    carried: int = 0
    unavailable: int = 0


def route_pool(
    store: Store, name: str, policy: Policy, overlap: Mapping[str, int] | None = None
) -> RouteReport:
    """Apply a policy to a pool.

    Args:
        store: The project.
        name: The pool's name.
        policy: What is trusted.
        overlap: How many people vote on an item, by the reason for which it goes to people, where
            the policy doesn't ask for more.

    Raises:
        NotFoundError: When there is no such pool.
    """
    with store.write(f"route {name} --policy {policy.name}") as tx:
        row = pool_named(tx.connection, name)
        items = _judgeable(tx.connection, row.id)
        settle_items(tx, items)
        labels = labels_in_force(tx.connection, items_of_pool(row.id))
        answers = latest_answers(tx.connection, row.id)
        plan = _plan(tx.connection, items, labels, answers, policy)
        new, gone = _bring_decisions_in_line(tx, plan, labels, policy)
        plan.audited = _audited(tx, plan, row, policy)
        wanted = {**plan.to_people, **dict.fromkeys(plan.audited, (AUDIT,))}
        # What was drawn for the audit stands among the others as doubtful as any, so that nobody
        # can tell it from its place.
        doubts = {item: _doubt(answers.get(item, ())) for item in plan.to_people}
        typical = sorted(doubts.values())[len(doubts) // 2] if doubts else 1.0
        doubts |= dict.fromkeys(plan.audited, typical)
        order = queue_order(
            _queries_of(tx.connection, row.id),
            doubts,
            seed=row.digest,
            since=waiting_since(tx.connection, list(wanted)),
        )
        raised, lifted = bring_tasks_in_line(
            tx,
            pool_items=list(items),
            wanted=wanted,
            order=order,
            policy=policy,
            overlap=overlap or {},
        )
        refresh(tx.connection, list(items))
    return RouteReport(
        policy=policy.name,
        settled_by_people=plan.settled,
        carried=plan.carried,
        accepted=dict(
            Counter(answer.grade.value for answer in plan.accepted.values() if answer.grade)
        ),
        to_people=len(plan.to_people),
        reasons=dict(Counter(reason for reasons in plan.to_people.values() for reason in reasons)),
        audited=len(plan.audited),
        unavailable=sum(not available for available in items.values()),
        newly_accepted=new,
        withdrawn=gone,
        new_tasks=raised,
        lifted_tasks=lifted,
        revision=tx.made_revision,
    )


def _judgeable(connection: Connection, pool_id: int) -> dict[int, bool]:
    """Tell for each item of a pool whether it can be judged: its passage and query have texts."""
    item, candidate, version = table(Item), table(Candidate), table(QueryVersion)
    with_text = sa.select(version.c.query_id)
    statement = (
        sa.select(item.c.id, item.c.text_id.is_not(None) & item.c.query_id.in_(with_text))
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
        .order_by(item.c.id)
    )
    return {int(key): bool(available) for key, available in connection.execute(statement)}


def _queries_of(connection: Connection, pool_id: int) -> dict[int, int]:
    item, candidate = table(Item), table(Candidate)
    statement = (
        sa.select(item.c.id, item.c.query_id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
    )
    return {int(key): int(query) for key, query in connection.execute(statement)}


def _plan(
    connection: Connection,
    items: Mapping[int, bool],
    labels: Mapping[int, LabelInForce],
    answers: Mapping[int, Sequence[JudgeAnswer]],
    policy: Policy,
) -> _Plan:
    plan = _Plan()
    votes = votes_on(connection, list(items))
    found = found_by_people(connection, list(items))
    for item, available in items.items():
        label = labels.get(item)
        if label is not None and label.basis is not Basis.ACCEPTED:
            plan.settled += label.carried_from is None
            plan.carried += label.carried_from is not None
            continue
        if not available:
            plan.unavailable += 1
            continue
        disputed = isinstance(settle_votes(votes.get(item, ())), Dispute)
        signals = ItemSignals(answers.get(item, ()), disputed, item in found)
        reasons = reasons_for(signals, policy)
        if reasons:
            plan.to_people[item] = reasons
        else:
            plan.accepted[item] = accepted_answer(signals, policy)
    return plan


def _audited(tx: WriteTransaction, plan: _Plan, pool: sa.Row[Any], policy: Policy) -> set[int]:
    """Draw from what is accepted; give the accepted items that were ever drawn."""
    if not plan.accepted:
        return set()
    accepted = [
        Accepted(item, answer.grade, answer.confidence or 0.0)
        for item, answer in sorted(plan.accepted.items())
        if answer.grade is not None
    ]
    versions = sorted({answer.score_version for answer in plan.accepted.values()})
    drawn = draw_audit(
        tx,
        pool_id=pool.id,
        pool_name=pool.name,
        policy=policy,
        policy_id=policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json()),
        accepted=accepted,
        score_version=hashlib.sha256("\n".join(versions).encode()).hexdigest(),
    )
    return drawn & plan.accepted.keys()


def _bring_decisions_in_line(
    tx: WriteTransaction, plan: _Plan, labels: Mapping[int, LabelInForce], policy: Policy
) -> tuple[int, int]:
    """Append the acceptances that are new and withdraw those that no longer hold."""
    own = {
        item: label
        for item, label in labels.items()
        if label.basis is Basis.ACCEPTED and label.carried_from is None
    }
    outdated = [own[item].decision_id for item in plan.to_people if item in own]
    if outdated:
        record_withdrawals(
            tx,
            CorrectionTarget.VOTE,
            f"policy {policy.name}",
            "the policy no longer accepts it",
            decisions=outdated,
        )
    fresh = {
        item: answer
        for item, answer in plan.accepted.items()
        if item not in own or own[item].level_id != answer.level_id
    }
    if fresh:
        policy_id = policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json())
        append_decisions(
            tx,
            [
                NewDecision(
                    item,
                    Settlement(
                        Outcome.JUDGED,
                        answer.grade,
                        answer.level_id,
                        Basis.ACCEPTED,
                        (answer.judgment_id,),
                    ),
                    policy_id,
                )
                for item, answer in fresh.items()
            ],
        )
    return len(fresh), len(outdated)


def _doubt(answers: Sequence[JudgeAnswer]) -> float:
    """Say how likely a label is wrong, in [0, 1], from the surest answer; 1 where there is none."""
    sure = [answer.confidence for answer in answers if answer.confidence is not None]
    return 1.0 - max(sure) if sure else 1.0
