"""Corrections: later records that take judgments and decisions out of force, with a reason."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select

from labeler.assessment.decisions import record_withdrawals, settle_items, standing_decisions
from labeler.errors import NotFoundError, UsageError
from labeler.labels import CANNOT_JUDGE, Outcome
from labeler.records import table
from labeler.records.corpus import (
    ChunkEvidence,
    Document,
    Evidence,
    Snapshot,
    SnapshotChunk,
)
from labeler.records.judgments import CorrectionTarget, DecisionSupport, Judgment, Occasion
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.records.scales import Assessor, AssessorKind, RubricRecord, ScaleLevel
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import judgments_in_force, refresh
from labeler.store.registry import assessor_key, scale_key, scale_of

__all__ = ["Correction", "Touched", "correct", "find_touched"]

_ITEM, _JUDGMENT = table(Item), table(Judgment)


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be corrected.

    Attributes:
        target: A judgment, an evidence, a document or a rubric.
        name: The id of the evidence or the document, the name of the rubric (or the beginning of
            its digest); for a judgment the id of its evidence.
        query: For a judgment, the id of its query.
        assessor: For a judgment, whose it is; None means everybody's.
        snapshot: In which snapshot; None means in all.
        level: For a judgment, the level that takes its place, or ``cannot_judge``.
    """

    target: CorrectionTarget
    name: str
    query: str | None = None
    assessor: str | None = None
    snapshot: str | None = None
    level: str | None = None

    @property
    def subject(self) -> str:
        """What the correction record states as its subject."""
        parts = [self.query, self.name, self.assessor, self.snapshot]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Touched:
    """What a correction takes out of force."""

    items: tuple[int, ...]
    judgments: tuple[int, ...]
    decisions: tuple[int, ...]


def find_touched(connection: Connection, correction: Correction) -> Touched:
    """Find what a correction would take out of force.

    Raises:
        NotFoundError: When there is nothing of that name, or nothing of it was judged.
    """
    items = _items(connection, correction)
    conditions: list[ColumnElement[bool]] = [
        is_one_of(connection, _JUDGMENT.c.item_id, items),
        judgments_in_force(),
    ]
    if correction.assessor is not None:
        assessor = table(Assessor)
        named = sa.select(assessor.c.id).where(assessor.c.name == correction.assessor)
        conditions.append(_JUDGMENT.c.assessor_id.in_(named))
    judged = connection.execute(sa.select(_JUDGMENT.c.id).where(*conditions))
    judgments = [int(key) for (key,) in judged]
    decisions = standing_decisions(connection, items)
    if correction.target is CorrectionTarget.JUDGMENT:
        support = table(DecisionSupport)
        resting = sa.select(support.c.decision_id).where(
            is_one_of(connection, support.c.judgment_id, judgments)
        )
        rests = {int(key) for (key,) in connection.execute(resting)}
        decisions = [key for key in decisions if key in rests]
    if not judgments and not decisions:
        raise NotFoundError(
            f"nothing in force rests on {correction.target.value} '{correction.subject}'",
            hint="`labeler export jsonl` shows every judgment in force",
        )
    return Touched(tuple(items), tuple(judgments), tuple(decisions))


def correct(store: Store, correction: Correction, reason: str) -> Touched:
    """Append a correction: what it touches is no longer in force, and stays in the record.

    Items that lose their label are unknown until somebody judges them; `labeler route` sends them
    to people.

    Raises:
        UsageError: When the reason is empty, or a level is not one of the rubric's scale.
        NotFoundError: When nothing is touched.
    """
    if not reason.strip():
        raise UsageError("a correction needs a reason", hint="--reason 'why it is wrong'")
    with store.write(f"correct {correction.target.value} {correction.subject}") as tx:
        touched = find_touched(tx.connection, correction)
        record_withdrawals(
            tx,
            correction.target,
            correction.subject,
            reason,
            judgments=touched.judgments,
            decisions=touched.decisions,
        )
        if correction.level is not None:
            _replace(tx, touched, correction.level)
        settle_items(tx, touched.items)
        refresh(tx.connection, list(touched.items))
    return touched


def _scales_of(connection: Connection, judgments: Sequence[int]) -> set[int]:
    """Give the scales of the levels of some judgments."""
    level = table(ScaleLevel)
    statement = (
        sa.select(level.c.scale_id)
        .join(_JUDGMENT, _JUDGMENT.c.level_id == level.c.id)
        .where(is_one_of(connection, _JUDGMENT.c.id, judgments))
        .distinct()
    )
    return {int(row[0]) for row in connection.execute(statement)}


def _replace(tx: WriteTransaction, touched: Touched, word: str) -> None:
    """Append the corrector's own judgment in place of what was withdrawn.

    The level is one of the scale that the withdrawn judgments were on; of the rubric's where they
    were on several or none.
    """
    rubric = table(RubricRecord)
    person = assessor_key(tx, AssessorKind.PERSON, tx.actor)
    scales = _scales_of(tx.connection, touched.judgments)
    for item in touched.items:
        statement = (
            sa.select(rubric.c.scale_id, rubric.c.digest)
            .join(_ITEM, _ITEM.c.rubric_id == rubric.c.id)
            .where(_ITEM.c.id == item)
        )
        row = tx.connection.execute(statement).one()
        scale_id = next(iter(scales)) if len(scales) == 1 else row.scale_id
        scale = scale_of(tx.connection, scale_id)
        level = None if word == CANNOT_JUDGE else scale.read(word)
        if level is None and word != CANNOT_JUDGE:
            raise UsageError(f"'{word}' is no level", hint=scale.describe())
        request = hashlib.sha256(f"correct\n{row.digest}\n{tx.revision_id}".encode()).hexdigest()
        tx.connection.execute(
            sa.insert(_JUDGMENT).values(
                item_id=item,
                assessor_id=person,
                outcome=(Outcome.ABSTAINED if level is None else Outcome.JUDGED).value,
                level_id=None if level is None else scale_key(tx, scale)[1][level.code],
                request_digest=request,
                sample=0,
                occasion=Occasion.FIRST.value,
                judged_at=tx.clock(),
                revision_id=tx.revision_id,
            )
        )


def _items(connection: Connection, correction: Correction) -> list[int]:
    statement = sa.select(_ITEM.c.id).order_by(_ITEM.c.id)
    if correction.snapshot is not None:
        key = _key(connection, Snapshot, "name", correction.snapshot, "snapshot")
        statement = statement.where(_ITEM.c.snapshot_id == key)
    match correction.target:
        case CorrectionTarget.DOCUMENT:
            document = _key(connection, Document, "external_id", correction.name, "document")
            statement = _of_document(statement, document)
        case CorrectionTarget.RUBRIC:
            rubric = table(RubricRecord)
            named = sa.or_(
                rubric.c.name == correction.name, rubric.c.digest.startswith(correction.name)
            )
            keys = [key for (key,) in connection.execute(sa.select(rubric.c.id).where(named))]
            if not keys:
                raise NotFoundError(f"there is no rubric '{correction.name}'")
            statement = statement.where(_ITEM.c.rubric_id.in_(keys))
        case _:
            evidence = _key(connection, Evidence, "external_id", correction.name, "evidence")
            statement = statement.where(_ITEM.c.evidence_id == evidence)
    if correction.query is not None:
        query = _key(connection, Query, "external_id", correction.query, "query")
        statement = statement.where(_ITEM.c.query_id == query)
    return [int(key) for (key,) in connection.execute(statement)]


def _of_document(statement: Select[int], document: int) -> Select[int]:
    """Keep the items whose evidence a chunk of the document carries in the item's snapshot."""
    chunk, link = table(SnapshotChunk), table(ChunkEvidence)
    carried = (
        sa.select(link.c.snapshot_id, link.c.evidence_id)
        .join(
            chunk,
            sa.and_(chunk.c.chunk_id == link.c.chunk_id, chunk.c.snapshot_id == link.c.snapshot_id),
        )
        .where(chunk.c.document_id == document)
    )
    return statement.where(sa.tuple_(_ITEM.c.snapshot_id, _ITEM.c.evidence_id).in_(carried))


def _key(connection: Connection, of: type, column: str, name: str, what: str) -> int:
    named = table(of)
    key = connection.execute(sa.select(named.c.id).where(named.c[column] == name)).scalar()
    if key is None:
        raise NotFoundError(f"there is no {what} '{name}'")
    return int(key)
