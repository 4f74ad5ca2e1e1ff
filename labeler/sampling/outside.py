"""Samples of what no run found: pairs of a query and an evidence outside a pool.

The pairs are far too many to list: the frame is given by a rule (the pool's queries, the evidence
of its snapshot or of named sources, less what the pool holds), and a seeded generator draws pairs
from it with equal probability, the queries and evidences standing in the order of their names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.draws.frames import NewStratum, add_frame, add_rule_stratum
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.allocation import LEAST_VARIANCE, next_units
from labeler.records import table
from labeler.records.corpus import (
    Evidence,
    SnapshotChunk,
    SnapshotDocument,
    SnapshotEvidence,
)
from labeler.records.pools import Candidate, Item, PoolQuery
from labeler.records.queries import Query, QueryVersion
from labeler.sampling.draw import AskPeople, DrawReport
from labeler.sampling.plan import DEFAULT_VOTES, SampleOptions, seed_number
from labeler.sampling.population import sampled_queries
from labeler.sampling.stored import OUTSIDE, Design, add_design
from labeler.store.bulk import intern_keys, is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import pool_named

__all__ = ["SOURCE_FIELDS", "draw_outside"]

SOURCE_FIELDS = ("domain", "product", "region", "language", "source")
"""What a source stratum can be named by."""

_RARE = 0.01
_ITEM, _CANDIDATE = table(Item), table(Candidate)


@dataclass(frozen=True, slots=True)
class _Source:
    """A part of the corpus: its evidences in the order of their names, with their texts."""

    name: str
    evidences: tuple[int, ...]


def draw_outside(
    store: Store,
    name: str,
    options: SampleOptions,
    sources: Mapping[str, Sequence[str]],
    ask_people: AskPeople,
) -> DrawReport:
    """Draw pairs of the pool's queries with evidence that the pool doesn't hold for them.

    Args:
        store: The project.
        name: The sample's name.
        options: Its pool, votes and seed.
        sources: Values of one field of documents (domain, product, region, language or source),
            each a stratum of its own; none is the whole corpus.
        ask_people: Puts items in front of people.

    Raises:
        ConflictError: When there is a sample of that name.
        NotFoundError: When there is no such pool, or a source holds no evidence.
        UsageError: When two fields are named, or there are fewer pairs than votes.
    """
    votes = DEFAULT_VOTES if options.votes is None else options.votes
    with store.write(f"sample draw {options.comparison.pool} --outside --name {name}") as tx:
        pool = pool_named(tx.connection, options.comparison.pool)
        queries = _queries(tx.connection, pool.id)
        parts = _sources(tx.connection, pool.snapshot_id, sources)
        pooled = _pooled(tx.connection, pool.id)
        sizes = [_size(part, queries, pooled) for part in parts]
        if not 1 <= votes <= sum(sizes):
            raise UsageError(f"{votes} can't be drawn of {sum(sizes):,} pairs outside the pool")
        counts = next_units(sizes, [_RARE] * len(parts), votes)
        seed = options.seed or pool.digest
        words = (
            f"{sum(sizes)} pairs of the {len(queries)} queries of the pool '{pool.name}' and the "
            f"evidence of {', '.join(part.name for part in parts)} that the pool doesn't hold"
        )
        content = hashlib.sha256(f"{name}\n{seed}\n{words}\n{pool.digest}".encode()).hexdigest()
        frame_id = add_frame(tx, words, content, pool_id=pool.id)
        names = [part.name for part in parts]
        design = Design(
            kind=OUTSIDE,
            comparison=options.comparison,
            queries=len(queries),
            retrieved=dict.fromkeys(names, ()),
            rates=dict.fromkeys(names, _RARE),
            worth=dict.fromkeys(names, 1.0),
            least_variance=LEAST_VARIANCE,
        )
        add_design(tx, name, frame_id, design)
        drawn: list[int] = []
        for part, size, count in zip(parts, sizes, counts, strict=True):
            pairs = _draw_pairs(f"{seed}\n{part.name}", queries, part.evidences, pooled, count)
            items = _items(tx, pairs, pool)
            add_rule_stratum(tx, NewStratum(frame_id, part.name, 1, seed), size, items)
            drawn += items
        ask_people(tx, sorted(drawn))
        rows = tuple(
            (part.name, size, count, 0)
            for part, size, count in zip(parts, sizes, counts, strict=True)
        )
        return DrawReport(name, words, 1, rows, len(drawn), tx.revision_id)


def _queries(connection: Connection, pool_id: int) -> list[int]:
    """Give the sampled queries of the pool that have a text, in the order of their names."""
    counted, _ = sampled_queries(connection, pool_id)
    asked, query = table(PoolQuery), table(Query)
    statement = (
        sa.select(query.c.id, query.c.external_id)
        .join(asked, asked.c.query_id == query.c.id)
        .where(
            asked.c.pool_id == pool_id, query.c.id.in_(sa.select(table(QueryVersion).c.query_id))
        )
    )
    found = connection.execute(statement)
    rows = [(str(name), int(key)) for key, name in found if key in counted]
    if not rows:
        raise NotFoundError("no query of the pool has a text", hint="`labeler import queries FILE`")
    return [key for _, key in sorted(rows)]


def _sources(
    connection: Connection, snapshot_id: int, sources: Mapping[str, Sequence[str]]
) -> list[_Source]:
    if len(sources) > 1:
        raise UsageError("sources are named by one field, so that no evidence counts twice")
    field, values = next(iter(sources.items()), ("", ()))
    if field and field not in SOURCE_FIELDS:
        raise UsageError(f"--source knows {', '.join(SOURCE_FIELDS)}; not '{field}'")
    shown, name = table(SnapshotEvidence), table(Evidence)
    chunk, document = table(SnapshotChunk), table(SnapshotDocument)
    column = document.c[field] if field else sa.literal("")
    statement = (
        sa.select(shown.c.evidence_id, name.c.external_id, column)
        .join(name, name.c.id == shown.c.evidence_id)
        .join(
            chunk,
            (chunk.c.snapshot_id == shown.c.snapshot_id) & (chunk.c.chunk_id == shown.c.chunk_id),
        )
        .join(
            document,
            (document.c.snapshot_id == shown.c.snapshot_id)
            & (document.c.document_id == chunk.c.document_id),
            isouter=True,
        )
        .where(shown.c.snapshot_id == snapshot_id)
    )
    rows = sorted((str(n), int(key), value) for key, n, value in connection.execute(statement))
    if not field:
        found = [_Source("the whole corpus", tuple(key for _, key, _ in rows))]
    else:
        found = [
            _Source(f"{field} {wanted}", tuple(key for _, key, value in rows if value == wanted))
            for wanted in dict.fromkeys(values)
        ]
    for part in found:
        if not part.evidences:
            raise NotFoundError(f"the pool's snapshot holds no evidence of {part.name}")
    return found


def _pooled(connection: Connection, pool_id: int) -> set[tuple[int, int]]:
    statement = (
        sa.select(_ITEM.c.query_id, _ITEM.c.evidence_id)
        .join(_CANDIDATE, _CANDIDATE.c.item_id == _ITEM.c.id)
        .where(_CANDIDATE.c.pool_id == pool_id)
    )
    return {(int(query), int(evidence)) for query, evidence in connection.execute(statement)}


def _size(part: _Source, queries: Sequence[int], pooled: set[tuple[int, int]]) -> int:
    there, asked = set(part.evidences), set(queries)
    held = sum(query in asked and evidence in there for query, evidence in pooled)
    return len(queries) * len(part.evidences) - held


def _draw_pairs(
    seed: str,
    queries: Sequence[int],
    evidences: Sequence[int],
    pooled: set[tuple[int, int]],
    count: int,
) -> list[tuple[int, int]]:
    """Draw pairs without replacement, all equally likely, by turning down what isn't outside."""
    rng = np.random.default_rng(seed_number(seed))
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        place = int(rng.integers(len(queries) * len(evidences)))
        pair = queries[place // len(evidences)], evidences[place % len(evidences)]
        if pair not in pooled:
            found[pair] = None
    return list(found)


def _items(tx: WriteTransaction, pairs: Sequence[tuple[int, int]], pool: Any) -> list[int]:
    """Give the items of some pairs, making those that aren't there."""
    shown = table(SnapshotEvidence)
    evidences = sorted({evidence for _, evidence in pairs})
    texts = {
        int(key): int(text)
        for key, text in tx.connection.execute(
            sa.select(shown.c.evidence_id, shown.c.text_id).where(
                shown.c.snapshot_id == pool.snapshot_id,
                is_one_of(tx.connection, shown.c.evidence_id, evidences),
            )
        )
    }
    keys = intern_keys(
        tx.connection,
        _ITEM,
        ["query_id", "evidence_id", "rubric_id", "snapshot_id"],
        [(query, evidence, pool.rubric_id, pool.snapshot_id) for query, evidence in pairs],
        known=sa.and_(
            _ITEM.c.snapshot_id == pool.snapshot_id,
            _ITEM.c.rubric_id == pool.rubric_id,
            is_one_of(tx.connection, _ITEM.c.evidence_id, evidences),
        ),
        extra=(["text_id"], lambda key: [texts[key[1]]]),
    )
    return sorted(keys.values())
