"""How many votes and minutes a pool still takes, under the policy that it is routed by."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.item_scores import scores_by_digest
from labeler.calibration.policies import NINE_OF_TEN, AnyPolicy, Policy, TargetPolicy, parse_policy
from labeler.draws.audit_frames import AuditFrame
from labeler.evaluation.foresight import (
    Range,
    SequenceState,
    StratumState,
    minutes_of,
    votes_to_end,
)
from labeler.evaluation.pace import TimeLeft
from labeler.queue.audit_plan import plan_audit
from labeler.queue.guarantee import AuditStanding, audit_standing
from labeler.queue.progress import pace_of_one_vote
from labeler.queue.reasons import reasons_for
from labeler.queue.route import policy_in_force
from labeler.queue.standing import PoolStanding, read_standing
from labeler.records import table
from labeler.records.pools import Pool
from labeler.records.sampling import Frame
from labeler.records.scales import Policy as PolicyRecord
from labeler.records.scores import Calibration, ScoreVersion

__all__ = ["Forecast", "latest_policy", "read_forecasts"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a pool still takes, until each label is accepted or given by a person.

    Attributes:
        pool: The pool's name.
        policy: The policy in force.
        note: Why the policy that was asked for can't be applied; empty where it is.
        audit_votes: Votes that the audit still needs before its next look.
        chance: The probability that labels come to be accepted that aren't yet; None under a plain
            policy.
        accepted: Labels that come to be accepted, or None.
        votes: Votes until nothing waits for people.
        minutes: Minutes of one person for them, or None while no pace is known.
    """

    pool: str
    policy: str
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
    pace = pace_of_one_vote(connection)
    seed = zlib.crc32(f"{pool.digest} {in_force.digest}".encode())
    if isinstance(in_force, Policy):
        return _plain(standing, in_force, note, pace, seed)
    audit = audit_standing(connection, standing, in_force)
    states = (
        _planned(standing, in_force)
        if audit.frame is None
        else _under_way(connection, audit, audit.frame)
    )
    people = standing.people
    kept = [item for item in audit.accepted if item not in people and standing.items.get(item)]
    votes, accepted = votes_to_end(states, len(standing.open_items) - len(kept), seed=seed)
    return Forecast(
        pool=standing.name,
        policy=in_force.name,
        note="",
        audit_votes=sum(part.drawn - part.answered for one in states for part in one.strata),
        chance=float(np.mean(accepted > 0)),
        accepted=Range.of(accepted.astype(np.float64)),
        votes=Range.of(votes.astype(np.float64)),
        minutes=minutes_of(votes, pace, seed=seed),
    )


def _plain(
    standing: PoolStanding, policy: Policy, note: str, pace: TimeLeft | None, seed: int
) -> Forecast:
    """Count what waits: without calibrated scores there is nothing to foresee."""
    waiting = sum(bool(reasons_for(standing.signals(item), policy)) for item in standing.open_items)
    votes = np.full(2, waiting, dtype=np.int64)
    return Forecast(
        pool=standing.name,
        policy=policy.name,
        note=note,
        audit_votes=0,
        chance=None,
        accepted=None,
        votes=Range.of(votes.astype(np.float64)),
        minutes=minutes_of(np.repeat(votes, 200), pace, seed=seed),
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
    sure = {} if scores is None else {item: max(row) for item, row in scores.by_item().items()}
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
                        expected=_mean(sure, stratum.items),
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


def _mean(sure: Mapping[int, float], items: frozenset[int]) -> float:
    known = [sure[item] for item in items if item in sure]
    return sum(known) / len(known) if known else 0.0
