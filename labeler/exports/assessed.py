"""The items of a scope with everything that is known of them, in a fixed order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.labels_in_force import LabelInForce, labels_in_force
from labeler.exports.scope import Scope
from labeler.labels import CANNOT_JUDGE, Level, Outcome, Scale, State
from labeler.records import table
from labeler.records.corpus import Chunk, ChunkEvidence, Evidence
from labeler.records.judgments import Basis, Judgment, Occasion
from labeler.records.pools import Candidate, Contribution, Item
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.records.runs import Run
from labeler.records.scales import Assessor, Policy, ScaleLevel
from labeler.store.projections import judgments_in_force
from labeler.store.registry import scale_of

__all__ = ["AssessedItem", "StoredJudgment", "chunks_of_evidence", "read_assessed", "words_of"]


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """One judgment in force, with who gave it."""

    assessor: str
    kind: str
    outcome: str
    scale: Scale | None
    code: int | None
    confidence: float | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class AssessedItem:
    """One item with what is known of it.

    Attributes:
        query: The query's id.
        evidence: The evidence's id.
        label: The label in force, or None.
        scale: The scale of the label's level, or None without one.
        level: The label's level, or None without one.
        policy: The policy under which it was accepted, or None.
        ranks: The rank in each run that brought it, by the run's name.
        judgments: The judgments in force, oldest first.
        query_text: The query's text, where the project has one.
        passage: The representative text, where the snapshot has one.
    """

    query: str
    evidence: str
    label: LabelInForce | None
    scale: Scale | None
    level: Level | None
    policy: str | None
    ranks: Mapping[str, int] = field(default_factory=dict)
    judgments: tuple[StoredJudgment, ...] = ()
    query_text: str | None = None
    passage: str | None = None

    @property
    def state(self) -> State:
        """What is known of its relevance."""
        return State.UNKNOWN if self.label is None else self.label.state

    @property
    def word(self) -> str:
        """The label as files write it: a grade, ``cannot_judge``, or ``unknown``."""
        if self.label is None:
            return State.UNKNOWN.value
        if self.label.outcome is Outcome.ABSTAINED or self.label.grade is None:
            return CANNOT_JUDGE
        return self.label.grade.value


def read_assessed(
    connection: Connection, scope: Scope, *, only_people: bool = False
) -> list[AssessedItem]:
    """Read the items of a scope, ordered by query id and evidence id.

    Args:
        connection: A transaction's connection.
        scope: What is meant.
        only_people: Leave out labels that a policy accepted; such items are then unknown.
    """
    labels = labels_in_force(connection, scope.items, scope.as_of)
    if only_people:
        labels = {key: one for key, one in labels.items() if one.basis is not Basis.ACCEPTED}
    levels = _levels(connection)
    policies = _policies(connection)
    judgments = _judgments(connection, scope, levels)
    ranks = _ranks(connection, scope)
    texts = words_of(connection)
    item, query, evidence, text = table(Item), table(Query), table(Evidence), table(Text)
    statement = (
        sa.select(
            item.c.id, item.c.query_id, query.c.external_id, evidence.c.external_id, text.c.body
        )
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .outerjoin(text, text.c.id == item.c.text_id)
        .where(item.c.id.in_(scope.items))
    )
    read: list[AssessedItem] = []
    for key, query_id, query_name, evidence_name, body in connection.execute(statement):
        label = labels.get(key)
        found = levels.get(label.level_id) if label and label.level_id is not None else None
        read.append(
            AssessedItem(
                query=query_name,
                evidence=evidence_name,
                label=label,
                scale=found[0] if found else None,
                level=found[1] if found else None,
                policy=policies.get(label.policy_id) if label and label.policy_id else None,
                ranks=ranks.get(key, {}),
                judgments=tuple(judgments.get(key, ())),
                query_text=texts.get(query_id),
                passage=body,
            )
        )
    return sorted(read, key=lambda one: (one.query, one.evidence))


def _levels(connection: Connection) -> dict[int, tuple[Scale, Level]]:
    level = table(ScaleLevel)
    rows = connection.execute(sa.select(level.c.id, level.c.scale_id, level.c.code)).all()
    scales = {key: scale_of(connection, key) for key in {row.scale_id for row in rows}}
    return {row.id: (scales[row.scale_id], scales[row.scale_id].level(row.code)) for row in rows}


def _policies(connection: Connection) -> dict[int, str]:
    policy = table(Policy)
    rows = connection.execute(sa.select(policy.c.id, policy.c.name, policy.c.digest))
    return {key: f"{name} {digest[:12]}" for key, name, digest in rows}


def _judgments(
    connection: Connection, scope: Scope, levels: Mapping[int, tuple[Scale, Level]]
) -> dict[int, list[StoredJudgment]]:
    judgment, assessor = table(Judgment), table(Assessor)
    statement = (
        sa.select(judgment, assessor.c.name, assessor.c.kind)
        .join(assessor, assessor.c.id == judgment.c.assessor_id)
        .where(
            judgment.c.item_id.in_(scope.items),
            # Imported again, a hidden repeat would take the place of its reviewer's label.
            judgment.c.occasion == Occasion.FIRST.value,
            judgments_in_force(scope.as_of),
        )
        .order_by(judgment.c.id)
    )
    found: dict[int, list[StoredJudgment]] = defaultdict(list)
    for row in connection.execute(statement):
        level = levels.get(row.level_id)
        found[row.item_id].append(
            StoredJudgment(
                assessor=row.name,
                kind=row.kind,
                outcome=row.outcome,
                scale=level[0] if level else None,
                code=level[1].code if level else None,
                confidence=row.confidence,
                at=row.judged_at,
            )
        )
    return found


def _ranks(connection: Connection, scope: Scope) -> dict[int, dict[str, int]]:
    if scope.pool_id is None:
        return {}
    candidate, contribution, run = table(Candidate), table(Contribution), table(Run)
    statement = (
        sa.select(candidate.c.item_id, run.c.name, contribution.c.rank)
        .join(contribution, contribution.c.candidate_id == candidate.c.id)
        .join(run, run.c.id == contribution.c.run_id)
        .where(candidate.c.pool_id == scope.pool_id)
        .order_by(run.c.name)
    )
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for key, name, rank in connection.execute(statement):
        found[int(key)][str(name)] = int(rank)
    return found


def words_of(connection: Connection) -> dict[int, str]:
    """Give the text in force of every query that has one."""
    version, text = table(QueryVersion), table(Text)
    statement = (
        sa.select(version.c.query_id, text.c.body)
        .join(text, text.c.id == version.c.text_id)
        .order_by(version.c.version)
    )
    return {int(key): str(body) for key, body in connection.execute(statement) if body}


def chunks_of_evidence(connection: Connection, snapshot_id: int) -> dict[str, list[str]]:
    """Give the chunks that carry each evidence of a snapshot, ordered by their ids."""
    chunk, link, evidence = table(Chunk), table(ChunkEvidence), table(Evidence)
    statement = (
        sa.select(evidence.c.external_id, chunk.c.external_id)
        .join(link, link.c.evidence_id == evidence.c.id)
        .join(chunk, chunk.c.id == link.c.chunk_id)
        .where(link.c.snapshot_id == snapshot_id)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for name, carrying in connection.execute(statement):
        found[str(name)].append(str(carrying))
    return {name: sorted(chunks) for name, chunks in found.items()}
