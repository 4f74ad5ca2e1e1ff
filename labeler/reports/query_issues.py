"""Which queries need work: marked as unclear, or with corrections that reviewers propose."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.assessment.blind import BlindQuery
from labeler.assessment.labels_in_force import items_of_pool
from labeler.assessment.query_changes import QUERY_UNCLEAR, QueryChange
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.proposals import QueryProposal, QueryProposalAnswer
from labeler.records.queries import Query, QueryVersion
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.records.scales import Assessor
from labeler.reports.item_notes import notes_on_items
from labeler.store.bulk import is_one_of
from labeler.store.projections import judgments_in_force
from labeler.store.registry import pool_named

__all__ = ["Proposal", "ProposalState", "QueryIssue", "read_query_issues"]

_EVENT, _TEXT, _ITEM, _TASK = table(ReviewEvent), table(Text), table(Item), table(Task)
_ASSESSOR, _VERSION, _JUDGMENT = table(Assessor), table(QueryVersion), table(Judgment)

_Row = sa.Row[*tuple[Any, ...]]


class ProposalState(StrEnum):
    """What became of a proposal."""

    OPEN = "open"
    APPLIED = "applied"
    DECLINED = "declined"
    OVERTAKEN = "overtaken"
    """Another version of the query came into force before anybody answered."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a reviewer proposes for a query.

    Attributes:
        number: Its number, for `labeler correct query`.
        by: Who proposed it.
        at: When, in UTC.
        differences: What should differ from the version that was shown: name, before, then.
        words: What was written with it.
        state: What became of it.
    """

    number: int
    by: str
    at: datetime
    differences: tuple[tuple[str, str | None, str | None], ...]
    words: str
    state: ProposalState


@dataclass(frozen=True, slots=True)
class QueryIssue:
    """A query that somebody marked as unclear, or wants to be corrected.

    Attributes:
        query: The query's id in the project's files.
        text: What was asked, or empty when it was erased.
        reviewers: Who marked it or proposed something, without repeats.
        unclear: Who marked it as unclear.
        cannot_judge: Votes in force that it can't be judged for that reason.
        words: What was written with the marks.
        notes: What was noted and flagged on the same items beside that.
        proposals: What is proposed, in order.
    """

    query: str
    text: str
    reviewers: tuple[str, ...]
    unclear: tuple[str, ...]
    cannot_judge: int
    words: tuple[str, ...]
    notes: tuple[str, ...]
    proposals: tuple[Proposal, ...]


def read_query_issues(connection: Connection, pool: str | None = None) -> tuple[QueryIssue, ...]:
    """Read every query that needs work; first those that most reviewers say it of.

    Args:
        connection: A transaction's connection.
        pool: Look at the items and queries of this pool only.

    Raises:
        NotFoundError: When there is no such pool.
    """
    pooled = None
    if pool is not None:
        pooled = items_of_pool(pool_named(connection, pool).id)
    marks = _marks(connection, pooled)
    proposals = _proposals(connection, pooled)
    marked = sorted({one.item_id for own in marks.values() for one in own})
    notes = notes_on_items(connection, marked, beside=_says_unclear)
    found: list[QueryIssue] = []
    for row in _queries(connection, sorted({*marks, *proposals})):
        own = marks.get(row.query_id, [])
        unclear = tuple(dict.fromkeys(str(mark.name) for mark in own))
        proposed = tuple(proposals.get(row.query_id, ()))
        found.append(
            QueryIssue(
                query=str(row.external_id),
                text=str(row.body or ""),
                reviewers=tuple(dict.fromkeys([*unclear, *(one.by for one in proposed)])),
                unclear=unclear,
                cannot_judge=sum(mark.kind == EventKind.VOTE.value for mark in own),
                words=tuple(said for mark in own if (said := _words(str(mark.body)))),
                notes=tuple(
                    note
                    for item in dict.fromkeys(mark.item_id for mark in own)
                    for note in notes.get(item, ())
                ),
                proposals=proposed,
            )
        )
    return tuple(sorted(found, key=lambda one: (-len(one.reviewers), one.query)))


def _says_unclear(note: ColumnElement[str | None]) -> ColumnElement[bool]:
    return sa.or_(note == QUERY_UNCLEAR, note.startswith(f"{QUERY_UNCLEAR}:"))


def _words(body: str) -> str:
    return body[len(QUERY_UNCLEAR) :].lstrip(":").strip()


def _marks(connection: Connection, pooled: sa.Select[int] | None) -> dict[int, list[_Row]]:
    """Read flags and votes in force that say so, by query."""
    votes = sa.and_(_EVENT.c.kind == EventKind.VOTE.value, judgments_in_force())
    statement = (
        sa.select(
            _ITEM.c.query_id,
            _ITEM.c.id.label("item_id"),
            _EVENT.c.kind,
            _ASSESSOR.c.name,
            _TEXT.c.body,
        )
        .select_from(_EVENT)
        .join(_TASK, _TASK.c.id == _EVENT.c.task_id)
        .join(_ITEM, _ITEM.c.id == _TASK.c.item_id)
        .join(_ASSESSOR, _ASSESSOR.c.id == _EVENT.c.assessor_id)
        .join(_TEXT, _TEXT.c.id == _EVENT.c.note_id)
        .outerjoin(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .where(_says_unclear(_TEXT.c.body), sa.or_(_EVENT.c.kind == EventKind.FLAG.value, votes))
        .order_by(_EVENT.c.id)
    )
    if pooled is not None:
        statement = statement.where(_ITEM.c.id.in_(pooled))
    found: dict[int, list[_Row]] = defaultdict(list)
    for row in connection.execute(statement):
        found[row.query_id].append(row)
    return found


def _proposals(connection: Connection, pooled: sa.Select[int] | None) -> dict[int, list[Proposal]]:
    proposal, answer, note = table(QueryProposal), table(QueryProposalAnswer), _TEXT.alias("note")
    later = _VERSION.alias("later")
    overtaken = sa.exists().where(
        later.c.query_id == _VERSION.c.query_id, later.c.version > _VERSION.c.version
    )
    statement = (
        sa.select(
            proposal,
            _VERSION.c.query_id,
            _VERSION.c.domain.label("domain_was"),
            _VERSION.c.conditions.label("conditions_were"),
            _ASSESSOR.c.name,
            note.c.body,
            answer.c.id.label("answer_id"),
            answer.c.version_id.label("made_id"),
            overtaken.label("is_overtaken"),
        )
        .join(_VERSION, _VERSION.c.id == proposal.c.version_id)
        .join(_ASSESSOR, _ASSESSOR.c.id == proposal.c.assessor_id)
        .outerjoin(answer, answer.c.proposal_id == proposal.c.id)
        .outerjoin(note, note.c.id == proposal.c.note_id)
        .order_by(proposal.c.id)
    )
    if pooled is not None:
        queries = sa.select(_ITEM.c.query_id).where(_ITEM.c.id.in_(pooled))
        statement = statement.where(_VERSION.c.query_id.in_(queries))
    found: dict[int, list[Proposal]] = defaultdict(list)
    for row in connection.execute(statement):
        was = BlindQuery("", None, json.loads(row.conditions_were), None, row.domain_was)
        change = QueryChange(row.domain, json.loads(row.conditions))
        found[row.query_id].append(
            Proposal(
                number=row.id,
                by=row.name,
                at=row.at,
                differences=tuple(change.differences(was)),
                words=row.body or "",
                state=_state(row),
            )
        )
    return found


def _state(row: _Row) -> ProposalState:
    if row.answer_id is not None:
        return ProposalState.DECLINED if row.made_id is None else ProposalState.APPLIED
    return ProposalState.OVERTAKEN if row.is_overtaken else ProposalState.OPEN


def _queries(connection: Connection, keys: Sequence[int]) -> Sequence[_Row]:
    query, newer = table(Query), _VERSION.alias("newer")
    overtaken = sa.exists().where(
        newer.c.query_id == _VERSION.c.query_id, newer.c.version > _VERSION.c.version
    )
    statement = (
        sa.select(_VERSION.c.query_id, query.c.external_id, _TEXT.c.body)
        .join(query, query.c.id == _VERSION.c.query_id)
        .join(_TEXT, _TEXT.c.id == _VERSION.c.text_id)
        .where(is_one_of(connection, _VERSION.c.query_id, keys), ~overtaken)
    )
    return connection.execute(statement).all()
