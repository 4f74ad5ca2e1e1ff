"""Acceptances in the log: labels that a policy takes without a person, and those it takes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.decisions import NewDecision, append_decisions, record_withdrawals
from labeler.assessment.labels_in_force import LabelInForce
from labeler.assessment.samples import JudgeAnswer
from labeler.assessment.settlement import Settlement
from labeler.calibration.policies import AnyPolicy, TargetPolicy
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Basis, CorrectionTarget
from labeler.records.pools import Pool
from labeler.records.scales import RubricRecord
from labeler.store.database import WriteTransaction
from labeler.store.registry import policy_key, scale_key, scale_of

__all__ = ["Acceptance", "bring_acceptances_in_line", "levels_of_grades", "scored_acceptance"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A label that is accepted for an item, with the judgments that it rests on."""

    grade: Grade
    level_id: int
    judgment_ids: tuple[int, ...]


def scored_acceptance(
    grade: Grade, answers: Sequence[JudgeAnswer], levels: Mapping[Grade, int]
) -> Acceptance | None:
    """Make the acceptance of the scores' grade: it rests on every judge that gave a label.

    The level is that of the surest judge that said this grade; where none did, the scale's lowest
    level of the grade, so as to claim no more than is known. None where the scale has none.
    """
    judged = [answer for answer in answers if answer.grade is not None]
    saying = [answer for answer in judged if answer.grade is grade and answer.level_id is not None]
    surest = max(saying, key=lambda one: (one.confidence or 0.0, -one.judgment_id), default=None)
    level = levels.get(grade) if surest is None else surest.level_id
    if level is None:
        return None
    return Acceptance(grade, level, tuple(sorted(one.judgment_id for one in judged)))


def levels_of_grades(tx: WriteTransaction, pool_id: int) -> dict[Grade, int]:
    """Give the level that stands for each grade on the scale of a pool's rubric, by its key."""
    scale_id = _scale_of_pool(tx.connection, pool_id)
    scale = scale_of(tx.connection, scale_id)
    _, keys = scale_key(tx, scale)
    fitting = {grade: scale.level_for(grade) for grade in Grade}
    return {grade: keys[level.code] for grade, level in fitting.items() if level is not None}


def _scale_of_pool(connection: Connection, pool_id: int) -> int:
    pool, rubric = table(Pool), table(RubricRecord)
    statement = (
        sa.select(rubric.c.scale_id)
        .join(pool, pool.c.rubric_id == rubric.c.id)
        .where(pool.c.id == pool_id)
    )
    return int(connection.execute(statement).scalar_one())


def bring_acceptances_in_line(
    tx: WriteTransaction,
    accepted: Mapping[int, Acceptance],
    to_people: Sequence[int],
    labels: Mapping[int, LabelInForce],
    policy: AnyPolicy,
) -> tuple[int, int]:
    """Append the acceptances that are new and withdraw those that no longer hold.

    A label that was accepted under another policy is accepted anew by one with a target, since that
    says more of it.

    Returns:
        How many are new, and how many were withdrawn.
    """
    own = {
        item: label
        for item, label in labels.items()
        if label.basis is Basis.ACCEPTED and label.carried_from is None
    }
    outdated = [own[item].decision_id for item in to_people if item in own]
    if outdated:
        record_withdrawals(
            tx,
            CorrectionTarget.VOTE,
            f"policy {policy.name}",
            "the policy no longer accepts it",
            decisions=outdated,
        )
    if not accepted:
        return 0, len(outdated)
    policy_id = policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json())
    says_more = isinstance(policy, TargetPolicy)
    fresh = {
        item: one
        for item, one in accepted.items()
        if item not in own
        or own[item].level_id != one.level_id
        or (says_more and own[item].policy_id != policy_id)
    }
    append_decisions(
        tx,
        [
            NewDecision(
                item,
                Settlement(
                    Outcome.JUDGED, one.grade, one.level_id, Basis.ACCEPTED, one.judgment_ids
                ),
                policy_id,
            )
            for item, one in fresh.items()
        ],
    )
    return len(fresh), len(outdated)
