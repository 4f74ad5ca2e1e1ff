"""A query corrected: its next version; what was judged under the one before goes out of force."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind import BlindQuery
from labeler.assessment.decisions import record_withdrawals, settle_items, standing_decisions
from labeler.assessment.query_changes import QueryChange
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.imports.queries import store_queries
from labeler.imports.query_rows import QueryRow
from labeler.records import table
from labeler.records.judgments import CorrectionTarget, Judgment
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.proposals import QueryProposal, QueryProposalAnswer
from labeler.records.queries import Origin, Query, QueryVersion
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import judgments_in_force, refresh

__all__ = ["CorrectedQuery", "QueryCorrection", "correct_query", "decline_proposal", "plan_query"]

_PROPOSAL, _ANSWER = table(QueryProposal), table(QueryProposalAnswer)
_QUERY, _VERSION = table(Query), table(QueryVersion)


@dataclass(frozen=True, slots=True)
class QueryCorrection:
    """How a query is to be corrected.

    Attributes:
        query: The query's id.
        domain: The domain; an empty text takes it away, None leaves it.
        conditions: Conditions to set, by name; an empty text takes one away.
        proposal: The number of a reviewer's proposal to apply, or None.
        keep_labels: Leave judgments and labels in force although a condition changes.
    """

    query: str
    domain: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    proposal: int | None = None
    keep_labels: bool = False


@dataclass(frozen=True, slots=True)
class CorrectedQuery:
    """What a correction changes.

    Attributes:
        version: The number of the query's new version.
        differences: What differs from the one before: name, before, now.
        items: The query's items whose judgments are taken out of force.
        judgments: These judgments.
        decisions: Labels that are taken out of force.
    """

    version: int
    differences: tuple[tuple[str, str | None, str | None], ...]
    items: tuple[int, ...] = ()
    judgments: tuple[int, ...] = ()
    decisions: tuple[int, ...] = ()


def plan_query(connection: Connection, correction: QueryCorrection) -> CorrectedQuery:
    """Find what a correction would change.

    A domain says where a query belongs. A condition is part of what was asked: what was judged
    before it changes is about another question.

    Raises:
        NotFoundError: When there is no such query or proposal.
        ConflictError: When the proposal was answered, or another version is in force since.
        UsageError: When nothing would change, or a condition can't be one.
    """
    row = _in_force(connection, correction.query)
    differences = _change(connection, row, correction).differences(_as_shown(row))
    if not differences:
        raise UsageError(f"nothing would change in the query '{correction.query}'")
    corrected = CorrectedQuery(row.version + 1, tuple(differences))
    if correction.keep_labels or all(name == "domain" for name, _, _ in differences):
        return corrected
    item, judgment = table(Item), table(Judgment)
    of_query = sa.select(item.c.id).where(item.c.query_id == row.query_id).order_by(item.c.id)
    items = [int(key) for (key,) in connection.execute(of_query)]
    judged = sa.select(judgment.c.id).where(
        is_one_of(connection, judgment.c.item_id, items), judgments_in_force()
    )
    return replace(
        corrected,
        items=tuple(items),
        judgments=tuple(int(key) for (key,) in connection.execute(judged)),
        decisions=tuple(standing_decisions(connection, items)),
    )


def correct_query(store: Store, correction: QueryCorrection, reason: str) -> CorrectedQuery:
    """Append the next version of a query; proposals that ask for just that are applied with it.

    Raises:
        NotFoundError: When there is no such query or proposal.
        ConflictError: When the proposal was answered, or another version is in force since.
        UsageError: When the reason is empty, nothing would change, or a condition can't be one.
    """
    _need(reason)
    with store.write(f"correct query {correction.query}") as tx:
        corrected = plan_query(tx.connection, correction)
        row = _in_force(tx.connection, correction.query)
        change = _change(tx.connection, row, correction)
        new = replace(_as_row(row), domain=change.domain, conditions=dict(change.conditions))
        store_queries(tx, [new], update=True, path="")
        made = _in_force(tx.connection, correction.query)
        for proposal in _open_proposals(tx.connection, row.id):
            if _proposed(proposal) == change:
                _answer(tx, proposal.id, made.id, reason)
        if corrected.judgments or corrected.decisions:
            record_withdrawals(
                tx,
                CorrectionTarget.JUDGMENT,
                correction.query,
                f"conditions of the query changed: {reason}",
                judgments=corrected.judgments,
                decisions=corrected.decisions,
            )
            settle_items(tx, corrected.items)
            refresh(tx.connection, list(corrected.items))
    return corrected


def decline_proposal(store: Store, query: str, number: int, reason: str) -> None:
    """Store that a reviewer's proposal isn't followed.

    Raises:
        NotFoundError: When there is no such query or proposal.
        ConflictError: When the proposal was answered, or another version is in force since.
        UsageError: When the reason is empty.
    """
    _need(reason)
    with store.write(f"correct query {query}") as tx:
        row = _in_force(tx.connection, query)
        _answer(tx, _proposal(tx.connection, row, number).id, None, reason)


def _need(reason: str) -> None:
    if not reason.strip():
        raise UsageError("a correction needs a reason", hint="--reason 'why it is wrong'")


def _in_force(connection: Connection, name: str) -> sa.Row[Any]:
    text, need = table(Text), table(Text).alias("need")
    statement = (
        sa.select(_VERSION, _QUERY.c.external_id, text.c.body, need.c.body.label("need"))
        .join(_QUERY, _QUERY.c.id == _VERSION.c.query_id)
        .join(text, text.c.id == _VERSION.c.text_id)
        .outerjoin(need, need.c.id == _VERSION.c.need_id)
        .where(_QUERY.c.external_id == name)
        .order_by(_VERSION.c.version.desc())
    )
    row = connection.execute(statement.limit(1)).first()
    if row is None:
        raise NotFoundError(f"there is no query '{name}' with a text")
    if row.body is None or (row.need_id is not None and row.need is None):
        raise ConflictError(f"a text of the query '{name}' was erased")
    return row


def _as_shown(row: sa.Row[Any]) -> BlindQuery:
    return BlindQuery(row.body, row.need, json.loads(row.conditions), row.language, row.domain)


def _as_row(row: sa.Row[Any]) -> QueryRow:
    return QueryRow(
        key=row.external_id,
        text=row.body,
        need=row.need,
        domain=row.domain,
        language=row.language,
        slices=tuple(json.loads(row.slices)),
        weight=row.weight,
        origin=Origin(row.origin),
        conditions=json.loads(row.conditions),
        group_keys=json.loads(row.group_keys),
        required_evidence=tuple(tuple(group) for group in json.loads(row.required_evidence)),
    )


def _change(connection: Connection, row: sa.Row[Any], correction: QueryCorrection) -> QueryChange:
    query = _as_shown(row)
    if correction.proposal is not None:
        query = replace(query, **_fields(_proposal(connection, row, correction.proposal)))
    domain = query.domain if correction.domain is None else correction.domain
    return QueryChange.read(domain or "", {**query.conditions, **correction.conditions})


def _fields(proposal: sa.Row[Any]) -> dict[str, Any]:
    change = _proposed(proposal)
    return {"domain": change.domain, "conditions": change.conditions}


def _proposed(proposal: sa.Row[Any]) -> QueryChange:
    return QueryChange(proposal.domain, json.loads(proposal.conditions))


def _open_proposals(connection: Connection, version_id: int) -> list[sa.Row[Any]]:
    answered = sa.exists().where(_ANSWER.c.proposal_id == _PROPOSAL.c.id)
    statement = sa.select(_PROPOSAL).where(_PROPOSAL.c.version_id == version_id, ~answered)
    return list(connection.execute(statement.order_by(_PROPOSAL.c.id)))


def _proposal(connection: Connection, row: sa.Row[Any], number: int) -> sa.Row[Any]:
    """Find an open proposal for a query's version in force."""
    for proposal in _open_proposals(connection, row.id):
        if proposal.id == number:
            return proposal
    of_query = (
        sa.select(_PROPOSAL.c.id)
        .join(_VERSION, _VERSION.c.id == _PROPOSAL.c.version_id)
        .where(_VERSION.c.query_id == row.query_id, _PROPOSAL.c.id == number)
    )
    hint = "`labeler report query-issues` lists those that are open"
    if connection.execute(of_query).first() is None:
        raise NotFoundError(f"there is no proposal {number} for this query", hint=hint)
    raise ConflictError(f"the proposal {number} is answered or overtaken already", hint=hint)


def _answer(tx: WriteTransaction, proposal: int, version: int | None, reason: str) -> None:
    tx.connection.execute(
        sa.insert(_ANSWER).values(
            proposal_id=proposal, version_id=version, reason=reason, revision_id=tx.revision_id
        )
    )
