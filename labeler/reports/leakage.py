"""Leakage: what a frozen split doesn't hold apart, and who has seen what is sealed.

Relevance makes no groups: a passage that answers a sealed query and one of train ties the two all
the same, so it is reported here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.label_states import LabelSource, is_of_people
from labeler.assessment.labels_in_force import labels_in_force
from labeler.labels import State
from labeler.records import table
from labeler.records.corpus import ChunkEvidence, Document, Evidence, SnapshotChunk
from labeler.records.pools import Item
from labeler.records.splits import (
    EdgeAction,
    EdgeRuling,
    Exposure,
    SplitEdge,
    SplitGroup,
    SplitMember,
    SplitPart,
)
from labeler.retrieval.query_facts import read_query_facts
from labeler.sealing.exposures import broken_exposures
from labeler.sealing.openings import OpenedBefore, development_queries, read_openings
from labeler.sealing.split_in_force import FrozenSplit, Membership, read_membership

__all__ = ["Away", "LeakageReport", "SharedEvidence", "report_leakage"]

_EVIDENCE, _ITEM, _DOCUMENT = table(Evidence), table(Item), table(Document)


@dataclass(frozen=True, slots=True)
class SharedEvidence:
    """An evidence that is relevant to queries of several parts.

    Attributes:
        evidence: Its id.
        queries: By part, the ids of the queries.
    """

    evidence: str
    queries: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Away:
    """A relevant evidence whose document is in another part than the query.

    Attributes:
        query: The query's id.
        part: Its part.
        evidence: The evidence's id.
        document: The document's id.
        document_part: The document's part.
    """

    query: str
    part: str
    evidence: str
    document: str
    document_part: str


@dataclass(frozen=True, slots=True)
class LeakageReport:
    """What is to be known of a split before its results are believed.

    Attributes:
        split: The split.
        labels: Whose labels tell what is relevant.
        parts: By part, how many documents and queries, and how many queries of each origin.
        relevant: How many pairs of a placed query and a relevant evidence there are.
        shared: Evidence that is relevant to queries of several parts.
        away: Relevant evidence in a document of another part than the query's, where one of the
            two is sealed.
        waiting: How many edges across parts wait for a person.
        exposures: By part, how many documents went to a generator.
        broken_exposures: How many exposure records don't follow from the one before.
        openings: Who looked at sealed results.
        development: How many sealed queries count as development data.
        quarantined: How many documents and queries have no part, since they would join groups.
        topic_measured: Whether any query had a provenance key.
    """

    split: FrozenSplit
    labels: str
    parts: Mapping[str, Mapping[str, int]]
    relevant: int
    shared: tuple[SharedEvidence, ...]
    away: tuple[Away, ...]
    waiting: int
    exposures: Mapping[str, int]
    broken_exposures: int
    openings: tuple[OpenedBefore, ...]
    development: int
    quarantined: int
    topic_measured: bool

    @property
    def sealed_shared(self) -> tuple[SharedEvidence, ...]:
        """The shared evidence that answers a sealed query."""
        return tuple(one for one in self.shared if SplitPart.TEST.value in one.queries)

    @property
    def named_queries(self) -> frozenset[str]:
        """The queries whose relevant evidence the report names."""
        shared = {name for one in self.shared for names in one.queries.values() for name in names}
        return frozenset(shared | {one.query for one in self.away})

    @property
    def is_found(self) -> bool:
        """Whether something sealed is not apart from the rest."""
        exposed = self.exposures.get(SplitPart.TEST.value, 0)
        return bool(self.sealed_shared or self.away or exposed or self.broken_exposures)


def report_leakage(
    connection: Connection,
    split: FrozenSplit,
    *,
    source: LabelSource = LabelSource.HUMAN_AUTO,
    as_of: int | None = None,
) -> LeakageReport:
    """Tell what a frozen split doesn't hold apart.

    Args:
        connection: A transaction's connection.
        split: The split.
        source: Whose labels tell what is relevant; what queries require counts, too.
        as_of: The labels after this revision; None is the present.
    """
    membership = read_membership(connection, split)
    relevant = _relevant(connection, source, as_of)
    placed = sorted(pair for pair in relevant if pair[0] in membership.queries)
    names = _names(connection)
    return LeakageReport(
        split=split,
        labels=source.value,
        parts=_parts(connection, membership),
        relevant=len(placed),
        shared=_shared(placed, membership, names, _query_names(connection)),
        away=_away(connection, split, placed, membership, names),
        waiting=_waiting(connection, split),
        exposures=_exposures(connection, split),
        broken_exposures=len(broken_exposures(connection)),
        openings=tuple(read_openings(connection, split.id)),
        development=len(development_queries(connection) & membership.queries.keys()),
        quarantined=len(membership.quarantined_documents) + len(membership.quarantined_queries),
        topic_measured=split.topic_measured,
    )


def _relevant(
    connection: Connection, source: LabelSource, as_of: int | None
) -> set[tuple[int, int]]:
    """Give the pairs of a query and an evidence that is relevant to it, by their keys."""
    labels = labels_in_force(connection, sa.select(_ITEM.c.id), as_of)
    rows = connection.execute(sa.select(_ITEM.c.id, _ITEM.c.query_id, _ITEM.c.evidence_id))
    found = {
        (int(query), int(evidence))
        for item, query, evidence in rows
        if item in labels
        and labels[item].state is State.RELEVANT
        and (source is LabelSource.HUMAN_AUTO or is_of_people(labels[item]))
    }
    keys = {name: key for key, name in _names(connection).items()}
    for query in read_query_facts(connection, as_of).values():
        required = (name for group in query.required_evidence for name in group)
        found |= {(query.key, keys[name]) for name in required if name in keys}
    return found


def _names(connection: Connection) -> dict[int, str]:
    rows = connection.execute(sa.select(_EVIDENCE.c.id, _EVIDENCE.c.external_id))
    return {int(key): str(name) for key, name in rows}


def _query_names(connection: Connection) -> dict[int, str]:
    return {key: one.name for key, one in read_query_facts(connection).items()}


def _parts(connection: Connection, membership: Membership) -> dict[str, dict[str, int]]:
    found = {part.value: Counter({"documents": 0, "queries": 0}) for part in SplitPart}
    for place in membership.documents.values():
        found[place.part.value]["documents"] += 1
    origins = {key: one.origin for key, one in read_query_facts(connection).items()}
    for key, place in membership.queries.items():
        found[place.part.value]["queries"] += 1
        origin = origins.get(key)
        if origin is not None:
            found[place.part.value][f"{origin.value}_queries"] += 1
    return {part: dict(counts) for part, counts in found.items()}


def _shared(
    placed: list[tuple[int, int]],
    membership: Membership,
    names: Mapping[int, str],
    queries: Mapping[int, str],
) -> tuple[SharedEvidence, ...]:
    holders: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for query, evidence in placed:
        holders[evidence][membership.queries[query].part.value].append(queries[query])
    found = [
        SharedEvidence(names[evidence], {part: tuple(by_part[part]) for part in sorted(by_part)})
        for evidence, by_part in holders.items()
        if len(by_part) > 1
    ]
    return tuple(sorted(found, key=lambda one: one.evidence))


def _away(
    connection: Connection,
    split: FrozenSplit,
    placed: list[tuple[int, int]],
    membership: Membership,
    names: Mapping[int, str],
) -> tuple[Away, ...]:
    carried, chunk = table(ChunkEvidence), table(SnapshotChunk)
    statement = (
        sa.select(carried.c.evidence_id, _DOCUMENT.c.id, _DOCUMENT.c.external_id)
        .distinct()
        .join(
            chunk,
            sa.and_(
                chunk.c.snapshot_id == carried.c.snapshot_id,
                chunk.c.chunk_id == carried.c.chunk_id,
            ),
        )
        .join(_DOCUMENT, _DOCUMENT.c.id == chunk.c.document_id)
        .where(carried.c.snapshot_id == split.snapshot_id)
    )
    documents: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for evidence, key, name in connection.execute(statement):
        documents[int(evidence)].append((int(key), str(name)))
    queries = _query_names(connection)
    found = []
    for query, evidence in placed:
        own = membership.queries[query].part
        for key, name in documents.get(evidence, ()):
            place = membership.documents.get(key)
            if place is not None and place.part is not own and SplitPart.TEST in {place.part, own}:
                found.append(
                    Away(queries[query], own.value, names[evidence], name, place.part.value)
                )
    return tuple(sorted(found, key=lambda one: (one.query, one.evidence, one.document)))


def _waiting(connection: Connection, split: FrozenSplit) -> int:
    edge, ruling = table(SplitEdge), table(EdgeRuling)
    parts = _parts_by_node(connection, split)
    said = connection.execute(
        sa.select(ruling.c.left, ruling.c.right, ruling.c.action).order_by(ruling.c.id)
    )
    latest = {(left, right): action for left, right, action in said}
    settled = {ends for ends, action in latest.items() if action != EdgeAction.REVIEW}
    rows = connection.execute(
        sa.select(edge.c.left, edge.c.right).where(
            edge.c.split_id == split.id, edge.c.action == EdgeAction.REVIEW.value
        )
    )
    return sum(
        left in parts and right in parts and parts[left] != parts[right]
        for left, right in rows
        if (left, right) not in settled
    )


def _parts_by_node(connection: Connection, split: FrozenSplit) -> dict[str, str]:
    from labeler.records.queries import Query

    group, member, query = table(SplitGroup), table(SplitMember), table(Query)
    found: dict[str, str] = {}
    for kind, named, column in (
        ("document", _DOCUMENT, member.c.document_id),
        ("query", query, member.c.query_id),
    ):
        statement = (
            sa.select(named.c.external_id, group.c.part)
            .join(member, column == named.c.id)
            .join(group, group.c.id == member.c.group_id)
            .where(group.c.split_id == split.id)
        )
        found |= {f"{kind}:{name}": str(part) for name, part in connection.execute(statement)}
    return found


def _exposures(connection: Connection, split: FrozenSplit) -> dict[str, int]:
    """Count the documents that ever went to a generator, whatever the split was then."""
    exposure, group, member = table(Exposure), table(SplitGroup), table(SplitMember)
    statement = (
        sa.select(group.c.part, sa.func.count(sa.distinct(exposure.c.document_id)))
        .join(member, member.c.document_id == exposure.c.document_id)
        .join(group, group.c.id == member.c.group_id)
        .where(group.c.split_id == split.id)
        .group_by(group.c.part)
    )
    counted = {part.value: 0 for part in SplitPart}
    return counted | {str(part): int(count) for part, count in connection.execute(statement)}
