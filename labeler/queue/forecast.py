"""How many votes and minutes a pool still takes, under the policy that it is routed by."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.item_scores import ItemScores, scores_by_digest
from labeler.calibration.policies import (
    NINE_OF_TEN,
    AnyPolicy,
    Policy,
    TargetPolicy,
    parse_policy,
    policy_in_force,
)
from labeler.draws.audit_frames import AuditFrame, read_frames
from labeler.draws.frames import drawn_for_samples
from labeler.evaluation.foresight import (
    Range,
    SequenceState,
    StratumState,
    items_to_judge,
    minutes_of,
)
from labeler.queue.audit_plan import plan_audit
from labeler.queue.guarantee import AuditStanding, audit_standing
from labeler.queue.progress import pace_of_one_vote
from labeler.queue.reasons import reasons_for
from labeler.queue.standing import PoolStanding, read_standing
from labeler.queue.wanted import open_votes
from labeler.records import table
from labeler.records.pools import Pool
from labeler.records.sampling import Frame
from labeler.records.scales import Policy as PolicyRecord
from labeler.records.scores import Calibration, ScoreVersion

__all__ = ["Forecast", "latest_policy", "read_forecasts"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a pool still takes, until nothing of it waits for people.

    Each label is then accepted or given by a person, and what was drawn at random is answered.

    Attributes:
        pool: The pool's name.
        policy: The policy in force.
        promise: What the policy says of the labels that it accepts, in words.
        note: Why the policy that was asked for can't be applied; empty where it is.
        audit_votes: Items that the audit still needs votes on, before its next look.
        chance: The probability that labels come to be accepted that aren't yet; None under a plain
            policy.
        accepted: Labels that come to be accepted, or None.
        votes: Votes until nothing waits for people, second votes on an item among them.
        minutes: Minutes of one person for them, or None while no pace is known.
    """

    pool: str
    policy: str
    promise: str
    note: str
    audit_votes: int
    chance: float | None
    accepted: Range | None
    votes: Range
    minutes: Range | None


def read_forecasts(
    connection: Connection,
    *,
    pool_id: int | None = None,
    policy: AnyPolicy | None = None,
    calibrated_only: bool = False,
) -> tuple[Forecast, ...]:
    """Forecast one pool or each pool, by name.

    Args:
        connection: A transaction's connection.
        pool_id: The pool, or None for all.
        policy: The policy; by default the one that a pool was routed by last.
        calibrated_only: Leave out pools without calibrated scores: there is nothing to foresee.
    """
    pool, version = table(Pool), table(ScoreVersion)
    statement = sa.select(pool).order_by(pool.c.name)
    if pool_id is not None:
        statement = statement.where(pool.c.id == pool_id)
    if calibrated_only:
        calibrated = sa.select(version.c.pool_id).where(
            version.c.calibration == Calibration.CALIBRATED.value
        )
        statement = statement.where(pool.c.id.in_(calibrated))
    return tuple(
        _forecast(connection, row, policy or latest_policy(connection, row.id))
        for row in connection.execute(statement).all()
    )


def latest_policy(connection: Connection, pool_id: int) -> AnyPolicy:
    """Give the policy that last drew an audit of a pool; 'nine-of-ten' before the first."""
    frame, policy = table(Frame), table(PolicyRecord)
    statement = (
        sa.select(policy.c.body)
        .join(frame, frame.c.policy_id == policy.c.id)
        .where(frame.c.pool_id == pool_id)
        .order_by(frame.c.id.desc())
        .limit(1)
    )
    body = connection.execute(statement).scalar()
    found = NINE_OF_TEN if body is None else parse_policy(str(body))
    # The plain policy stands in for one with a target until there are calibrated scores.
    return NINE_OF_TEN if isinstance(found, Policy) and found.name == "uncalibrated" else found


def _forecast(connection: Connection, pool: sa.Row[Any], policy: AnyPolicy) -> Forecast:
    standing = read_standing(connection, pool)
    in_force, note = policy_in_force(policy, standing.scores)
    if isinstance(in_force, Policy):
        future = _plain(connection, standing, in_force)
    else:
        future = _audited(connection, standing, in_force)
    seed = zlib.crc32(f"{pool.digest} {in_force.digest}".encode())
    items, accepted = items_to_judge(future.states, len(future.waiting), seed=seed)
    wanted = open_votes(connection, list(standing.items))
    each = [wanted.get(item, in_force.overlap) for item in future.waiting]
    settled = wanted.keys() - set(standing.open_items)
    # An item that comes to be accepted saves as many votes as one takes in the mean.
    a_vote = sum(each) / len(each) if each else 1.0
    votes = np.rint(items * a_vote) + sum(wanted[item] for item in settled)
    foresees = not isinstance(in_force, Policy)
    return Forecast(
        pool=standing.name,
        policy=in_force.name,
        promise=in_force.promise,
        note=note,
        audit_votes=future.audit_votes,
        chance=float(np.mean(accepted > 0)) if foresees else None,
        accepted=Range.of(accepted.astype(np.float64)) if foresees else None,
        votes=Range.of(votes),
        minutes=minutes_of(votes, pace_of_one_vote(connection), seed=seed),
    )


@dataclass(frozen=True, slots=True)
class _Future:
    """What a forecast is drawn from.

    Attributes:
        waiting: Items that people have to judge, unless their label comes to be accepted.
        audit_votes: Items among them that were drawn, and decide what is accepted.
        states: How far the audit has come, by grade.
    """

    waiting: frozenset[int]
    audit_votes: int
    states: Sequence[SequenceState] = ()


def _plain(connection: Connection, standing: PoolStanding, policy: Policy) -> _Future:
    """Count what waits: without calibrated scores there is nothing to foresee."""
    unsettled = standing.open_items
    doubtful = {item for item in unsettled if reasons_for(standing.signals(item), policy)}
    frames = read_frames(connection, standing.pool_id, policy.digest)
    drawn = frozenset().union(*(frame.drawn for frame in frames)) & set(unsettled)
    sampled = drawn_for_samples(connection, unsettled)
    return _Future(frozenset(doubtful | drawn | sampled), len(drawn))


def _audited(connection: Connection, standing: PoolStanding, policy: TargetPolicy) -> _Future:
    audit = audit_standing(connection, standing, policy)
    states = (
        _planned(standing, policy)
        if audit.frame is None
        else _under_way(connection, audit, audit.frame)
    )
    unsettled = standing.open_items
    asked = audit.drawn | drawn_for_samples(connection, unsettled) | standing.disputed
    return _Future(
        frozenset(item for item in unsettled if item in asked or item not in audit.accepted),
        sum(part.drawn - part.answered for one in states for part in one.strata),
        states,
    )


def _planned(standing: PoolStanding, policy: TargetPolicy) -> list[SequenceState]:
    """Take the audit as it would be drawn now."""
    plan = plan_audit(standing.scored_labels(policy, frozenset()), policy)
    return [
        SequenceState(
            tuple(
                StratumState(len(part.items), part.draw, 0, 0, 0, part.expected)
                for part in grade.tested
            ),
            tuple(place for place, one in enumerate(grade.tested, 1) if one.name.ends_set),
            grade.target,
            grade.risk,
        )
        for grade in plan.grades
        if grade.tested
    ]


def _under_way(
    connection: Connection, audit: AuditStanding, frame: AuditFrame
) -> list[SequenceState]:
    """Take the audit as far as it has come; what can't be accepted any more is left out."""
    scores = scores_by_digest(connection, frame.score_version)
    states: list[SequenceState] = []
    for verdict in audit.grades:
        if not verdict.pending:
            continue
        strata = [one for one in frame.strata if one.name.part and one.name.grade is verdict.grade]
        states.append(
            SequenceState(
                tuple(
                    StratumState(
                        size=told.labels,
                        drawn=told.drawn,
                        answered=told.answered,
                        wrong=told.wrong,
                        reviewed=told.labels - told.left,
                        expected=_expected(scores, stratum.items),
                    )
                    for stratum, told in zip(strata, verdict.strata, strict=True)
                ),
                tuple(place for place, one in enumerate(strata, 1) if one.name.ends_set),
                verdict.target,
                verdict.risk,
                verdict.accepted,
            )
        )
    return states


def _expected(scores: ItemScores | None, items: frozenset[int]) -> float:
    """Give the share of some labels that is right by the scores; 0 where these are gone."""
    found = None if scores is None else scores.expected_right(items)
    return 0.0 if found is None else found
