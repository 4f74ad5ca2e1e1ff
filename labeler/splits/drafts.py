"""The latest plan's edges, kept so that a freeze and a question need not find them again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.providers.embeddings import Embedder
from labeler.records import table
from labeler.records.splits import DraftEdge, SplitDraft, SplitPart
from labeler.splits.assigning import DEFAULT_SHARES
from labeler.splits.content import Content, read_content
from labeler.splits.edges import Edge
from labeler.splits.plan import Plan, edge_scheme, find_edges, make_plan
from labeler.splits.rulings import rulings_of_edges
from labeler.splits.storing import EDGE_COLUMNS, edge_row, edges_in
from labeler.store.bulk import insert_rows
from labeler.store.database import Store

__all__ = ["draft_edges", "plan_split"]

_DRAFT, _EDGE = table(SplitDraft), table(DraftEdge)


def plan_split(
    store: Store,
    *,
    snapshot: str | None = None,
    seed: str = "labeler",
    shares: Mapping[SplitPart, float] = DEFAULT_SHARES,
    embedder: Embedder | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Plan a snapshot's split; edges that were found before of the same content are taken over.

    Raises:
        NotFoundError: When there is no such snapshot.
        UsageError: When several snapshots could be meant.
    """
    scheme = edge_scheme(embedder)
    with store.read() as connection:
        content = read_content(connection, snapshot)
        found = _load(connection, content, scheme)
    if found is None:
        found = find_edges(content, embedder, progress)
        _save(store, content, scheme, found)
    with store.read() as connection:
        rulings = rulings_of_edges(connection)
    return make_plan(content, found, rulings, scheme, seed=seed, shares=shares)


def draft_edges(connection: Connection, snapshot_id: int) -> list[Edge]:
    """Read the edges of the latest plan of a snapshot, before any ruling.

    Raises:
        NotFoundError: When nothing was planned.
    """
    draft = sa.select(_DRAFT.c.id).where(_DRAFT.c.snapshot_id == snapshot_id)
    key = connection.execute(draft).scalar()
    if key is None:
        raise NotFoundError("nothing is planned yet", hint="`labeler split plan` finds the edges")
    return edges_in(connection, _EDGE, _EDGE.c.draft_id == key)


def _stored(scheme: Mapping[str, object]) -> str:
    return json.dumps(scheme, sort_keys=True, ensure_ascii=False)


def _load(
    connection: Connection, content: Content, scheme: Mapping[str, object]
) -> list[Edge] | None:
    row = connection.execute(
        sa.select(_DRAFT).where(_DRAFT.c.snapshot_id == content.snapshot_id)
    ).first()
    if row is None or row.content_digest != content.digest:
        return None
    if row.scheme != _stored(scheme):
        return None
    return edges_in(connection, _EDGE, _EDGE.c.draft_id == row.id)


def _save(
    store: Store, content: Content, scheme: Mapping[str, object], found: Sequence[Edge]
) -> None:
    with store.work() as connection:
        old = sa.select(_DRAFT.c.id).where(_DRAFT.c.snapshot_id == content.snapshot_id)
        connection.execute(sa.delete(_EDGE).where(_EDGE.c.draft_id.in_(old)))
        connection.execute(sa.delete(_DRAFT).where(_DRAFT.c.snapshot_id == content.snapshot_id))
        row = sa.insert(_DRAFT).values(
            snapshot_id=content.snapshot_id,
            scheme=_stored(scheme),
            content_digest=content.digest,
            at=store.clock(),
        )
        key = connection.execute(row.returning(_DRAFT.c.id)).scalar_one()
        insert_rows(
            connection,
            _EDGE,
            ["draft_id", *EDGE_COLUMNS],
            ((key, *edge_row(one)) for one in found),
        )
