"""Rulings: what people said of edges, appended with who and why."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.project import Revision
from labeler.records.queries import Query
from labeler.records.splits import EdgeAction, EdgeRuling
from labeler.splits.edges import Rulings, document_node, query_node
from labeler.store.database import Store

__all__ = ["Ruling", "find_node", "read_rulings", "rulings_of_edges", "settle_edge"]

_RULING, _REVISION = table(EdgeRuling), table(Revision)

_DONE = {EdgeAction.LINK: "linked", EdgeAction.IGNORE: "set aside", EdgeAction.REVIEW: "reopened"}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was ruled of the edges between two nodes, by whom and why."""

    left: str
    right: str
    action: EdgeAction
    reason: str
    by: str
    revision: int

    @property
    def words(self) -> str:
        """Say it as it stands in an edge's evidence."""
        return f"{_DONE[self.action]} by {self.by} at revision {self.revision}: {self.reason}"


def read_rulings(connection: Connection) -> dict[tuple[str, str], Ruling]:
    """Read the ruling in force of every two ends: the latest."""
    statement = (
        sa.select(_RULING, _REVISION.c.actor)
        .join(_REVISION, _REVISION.c.id == _RULING.c.revision_id)
        .order_by(_RULING.c.id)
    )
    return {
        (row.left, row.right): Ruling(
            row.left, row.right, EdgeAction(row.action), row.reason, row.actor, row.revision_id
        )
        for row in connection.execute(statement)
    }


def rulings_of_edges(connection: Connection) -> Rulings:
    """Read what `labeler.splits.edges.ruled` applies: the action of every two ends, and why."""
    return {ends: (one.action, one.words) for ends, one in read_rulings(connection).items()}


def find_node(connection: Connection, given: str) -> str:
    """Find the document or query that a person means by an id, or by ``document:ID``.

    Raises:
        NotFoundError: When the project knows neither.
        UsageError: When it knows both.
    """
    kind, colon, rest = given.partition(":")
    found = []
    for name, node, where in (
        ("document", document_node, table(Document)),
        ("query", query_node, table(Query)),
    ):
        wanted = {given, rest} if colon and kind == name else {given}
        known = connection.execute(
            sa.select(where.c.external_id).where(where.c.external_id.in_(wanted))
        ).scalars()
        found += [node(one) for one in known]
    if not found:
        raise NotFoundError(f"there is no document or query '{given}'")
    if len(found) > 1:
        raise UsageError(f"'{given}' can mean {' or '.join(found)}", hint="write it like that")
    return found[0]


def settle_edge(
    store: Store, one: str, other: str, action: EdgeAction, reason: str, *, actor: str | None = None
) -> Ruling:
    """Append what a person says of the edges of likeness between two nodes.

    Linking two nodes without an edge is a statement, too: they belong together. Provenance and
    equal texts are facts and stay links whatever is ruled.

    Raises:
        NotFoundError: When a node isn't there.
        UsageError: When both are the same node, or no reason is given.
    """
    if not reason.strip():
        raise UsageError("a ruling needs a reason", hint="say why with --why")
    with store.write("split settle", actor=actor) as tx:
        left, right = sorted(find_node(tx.connection, given) for given in (one, other))
        if left == right:
            raise UsageError(f"both ends are {left}")
        tx.connection.execute(
            sa.insert(_RULING).values(
                left=left,
                right=right,
                action=action.value,
                reason=reason.strip(),
                revision_id=tx.revision_id,
            )
        )
        return read_rulings(tx.connection)[left, right]
