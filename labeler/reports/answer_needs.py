"""Whether runs bring what an answer needs: required evidence, and passages of the right domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.evaluation.ranking import JudgedRanking, Measured, Numbers
from labeler.evaluation.retrieved import (
    UNKNOWN_DOMAIN,
    domain_accuracy_at,
    required_coverage_at,
)
from labeler.records import table
from labeler.records.corpus import Evidence, SnapshotChunk, SnapshotDocument, SnapshotEvidence
from labeler.retrieval.query_facts import QueryFacts
from labeler.store.bulk import find_ids

__all__ = ["measure_domains", "measure_required"]

_NOWHERE = 0
"""Stands for required evidence that the project doesn't know; no place has this key."""


def measure_required(
    connection: Connection,
    facts: Sequence[QueryFacts],
    ranking: JudgedRanking,
    cutoff: int,
) -> Numbers:
    """Give the share of each query's required evidence in the first ``cutoff`` places.

    Args:
        connection: An open connection.
        facts: What is known of each query of the ranking, in its order.
        ranking: What was ranked.
        cutoff: How many places count.
    """
    names = sorted({name for one in facts for group in one.required_evidence for name in group})
    keys = find_ids(connection, table(Evidence), names)
    required = [
        [[keys.get(name, _NOWHERE) for name in group] for group in one.required_evidence]
        for one in facts
    ]
    return required_coverage_at(ranking, required, cutoff)


def measure_domains(
    connection: Connection,
    snapshot_id: int,
    facts: Sequence[QueryFacts],
    ranking: JudgedRanking,
    cutoff: int,
) -> Measured:
    """Give the share of the first ``cutoff`` places that are of each query's domain.

    The domain of an evidence is that of the document that its text is taken from.
    """
    by_evidence = _domains(connection, snapshot_id)
    codes = {
        name: code for code, name in enumerate(sorted({one.domain for one in facts if one.domain}))
    }
    # A domain that no query has is known all the same: it is a wrong one.
    other = len(codes)
    of_queries = np.array(
        [codes.get(one.domain or "", UNKNOWN_DOMAIN) for one in facts], dtype=np.int64
    )
    unique, where = np.unique(ranking.evidence, return_inverse=True)
    found = [
        codes.get(by_evidence[key], other) if key in by_evidence else UNKNOWN_DOMAIN
        for key in unique.tolist()
    ]
    of_places: NDArray[np.int64] = np.array(found, dtype=np.int64)[where]
    return domain_accuracy_at(ranking, of_queries, of_places, cutoff)


def _domains(connection: Connection, snapshot_id: int) -> dict[int, str]:
    """Give the domain of every evidence of a snapshot that has one."""
    shown, chunk, document = (
        table(SnapshotEvidence),
        table(SnapshotChunk),
        table(SnapshotDocument),
    )
    statement = (
        sa.select(shown.c.evidence_id, document.c.domain)
        .join(
            chunk,
            sa.and_(
                chunk.c.chunk_id == shown.c.chunk_id, chunk.c.snapshot_id == shown.c.snapshot_id
            ),
        )
        .join(
            document,
            sa.and_(
                document.c.document_id == chunk.c.document_id,
                document.c.snapshot_id == shown.c.snapshot_id,
            ),
        )
        .where(shown.c.snapshot_id == snapshot_id, document.c.domain.is_not(None))
    )
    return {int(evidence): str(domain) for evidence, domain in connection.execute(statement)}
