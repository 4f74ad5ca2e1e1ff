"""Facts about what a run missed: passages, documents, versions and words around it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import (
    ChunkEvidence,
    SnapshotChunk,
    SnapshotDocument,
    SnapshotEvidence,
)
from labeler.records.project import Text
from labeler.records.queries import QueryVersion
from labeler.records.runs import Run
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.failure_classes import MissFacts, family_of
from labeler.retrieval.clusters import connected
from labeler.search.function_words import telling
from labeler.search.words import tokens

__all__ = ["FactReader"]

_CONDITIONS = ("product", "region")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a passage stands."""

    document: int
    position: int


@dataclass(frozen=True, eq=False)
class FactReader:
    """What is known of a snapshot's passages and of a run's results, to tell facts of misses.

    Attributes:
        places: Where each chunk stands.
        chunks: The chunks that carry each evidence.
        versions: The family of versions of each document.
        metadata: Product and region of each document.
        conditions: Product and region that each query states.
        returned: The evidences in the top k of each query.
        terms_of_query: The telling words of each query.
        texts: The text of each evidence.
        family: How the run retrieves, or None.
    """

    places: Mapping[int, _Place]
    chunks: Mapping[int, tuple[int, ...]]
    versions: Mapping[int, int]
    metadata: Mapping[int, Mapping[str, str | None]]
    conditions: Mapping[int, Mapping[str, str]]
    returned: Mapping[int, frozenset[int]]
    terms_of_query: Mapping[int, frozenset[str]]
    texts: Mapping[int, str]
    family: str | None

    @classmethod
    def read(
        cls, connection: Connection, evaluated: EvaluatedRuns, run: str, cutoff: int
    ) -> FactReader:
        """Read what facts about one run's misses are made of."""
        snapshot = evaluated.snapshot_id
        ranking = evaluated.rankings[run]
        top = ranking.ranks <= cutoff
        returned: dict[int, set[int]] = defaultdict(set)
        for query, one in zip(
            ranking.query_of_places[top].tolist(), ranking.evidence[top].tolist(), strict=True
        ):
            returned[query].add(one)
        documents, versions = _documents(connection, snapshot)
        conditions, terms = _queries(connection, evaluated)
        of_run = table(Run)
        configured = sa.select(of_run.c.retrieval_config).where(
            of_run.c.id == evaluated.runs[run].key
        )
        return cls(
            places=_places(connection, snapshot),
            chunks=_chunks(connection, snapshot),
            versions=versions,
            metadata=documents,
            conditions=conditions,
            returned={query: frozenset(found) for query, found in returned.items()},
            terms_of_query=terms,
            texts=_texts(connection, snapshot),
            family=family_of(connection.execute(configured).scalar()),
        )

    def of(self, query: int, evidence: int, rank: int | None) -> MissFacts:
        """Tell the facts of one miss."""
        own = [self.places[chunk] for chunk in self.chunks.get(evidence, ())]
        returned = self.returned.get(query, frozenset())
        others = [
            self.places[chunk]
            for one in returned
            for chunk in self.chunks.get(one, ())
            if chunk in self.places
        ]
        stated = self.conditions.get(query, {})
        return MissFacts(
            is_in_snapshot=bool(own),
            rank=rank,
            other_version_returned=any(
                self.versions[a.document] == self.versions[b.document] and a.document != b.document
                for a in own
                for b in others
            ),
            neighbour_returned=any(
                a.document == b.document and abs(a.position - b.position) == 1
                for a in own
                for b in others
            ),
            fits_conditions=any(self._fits(place.document, stated) for place in own),
            all_returned_fit=bool(stated)
            and bool(others)
            and all(self._fits(place.document, stated) for place in others),
            shared_terms=self._shared(query, evidence),
            family=self.family,
        )

    def _fits(self, document: int, stated: Mapping[str, str]) -> bool:
        """Tell whether a document fits conditions; one that says nothing fits all."""
        own = self.metadata.get(document, {})
        return all(own.get(name) in {None, value} for name, value in stated.items())

    def _shared(self, query: int, evidence: int) -> float | None:
        asked, text = self.terms_of_query.get(query), self.texts.get(evidence)
        if not asked or text is None:
            return None
        return len(asked & set(tokens(text))) / len(asked)


def _places(connection: Connection, snapshot: int) -> dict[int, _Place]:
    chunk = table(SnapshotChunk)
    statement = sa.select(chunk.c.chunk_id, chunk.c.document_id, chunk.c.position)
    rows = connection.execute(statement.where(chunk.c.snapshot_id == snapshot))
    return {int(key): _Place(int(document), int(at)) for key, document, at in rows}


def _chunks(connection: Connection, snapshot: int) -> dict[int, tuple[int, ...]]:
    link, chunk = table(ChunkEvidence), table(SnapshotChunk)
    there = sa.and_(chunk.c.chunk_id == link.c.chunk_id, chunk.c.snapshot_id == link.c.snapshot_id)
    statement = sa.select(link.c.evidence_id, link.c.chunk_id).join(chunk, there)
    found: dict[int, list[int]] = defaultdict(list)
    for evidence, key in connection.execute(statement.where(link.c.snapshot_id == snapshot)):
        found[int(evidence)].append(int(key))
    return {evidence: tuple(keys) for evidence, keys in found.items()}


def _documents(
    connection: Connection, snapshot: int
) -> tuple[dict[int, Mapping[str, str | None]], dict[int, int]]:
    """Give each document's metadata, and the family of versions that it is of."""
    document = table(SnapshotDocument)
    rows = connection.execute(
        sa.select(document).where(document.c.snapshot_id == snapshot)
    ).mappings()
    metadata: dict[int, Mapping[str, str | None]] = {}
    links = []
    for row in rows:
        key = int(row["document_id"])
        metadata[key] = {name: row[name] for name in _CONDITIONS}
        if row["supersedes_id"] is not None:
            links.append((key, int(row["supersedes_id"])))
    nodes = {*metadata, *(older for _, older in links)}
    return metadata, connected(nodes, links)


def _queries(
    connection: Connection, evaluated: EvaluatedRuns
) -> tuple[dict[int, Mapping[str, str]], dict[int, frozenset[str]]]:
    version, text = table(QueryVersion), table(Text)
    statement = (
        sa.select(version.c.query_id, version.c.conditions, version.c.language, text.c.body)
        .join(text, text.c.id == version.c.text_id)
        .order_by(version.c.version)
    )
    wanted = set(evaluated.queries.tolist())
    conditions: dict[int, Mapping[str, str]] = {}
    terms: dict[int, frozenset[str]] = {}
    for query, stated, language, body in connection.execute(statement):
        if query in wanted:
            known = json.loads(stated)
            conditions[query] = {name: known[name] for name in _CONDITIONS if name in known}
            terms[query] = telling(tokens(body or ""), language)
    return conditions, terms


def _texts(connection: Connection, snapshot: int) -> dict[int, str]:
    there, text = table(SnapshotEvidence), table(Text)
    statement = (
        sa.select(there.c.evidence_id, text.c.body)
        .join(text, text.c.id == there.c.text_id)
        .where(there.c.snapshot_id == snapshot, text.c.body.is_not(None))
    )
    return {int(evidence): str(body) for evidence, body in connection.execute(statement)}
