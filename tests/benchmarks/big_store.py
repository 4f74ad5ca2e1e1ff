"""A project of any size, filled through the store's own bulk functions from a fixed seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.records import Record
from labeler.records.scales import AssessorKind
from labeler.store.bulk import insert_rows
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import refresh
from labeler.store.registry import assessor_key, policy_key, rubric_key, scale_key, store_texts

TEXTS = 1_000
ITEMS_PER_QUERY = 200
SMALL_POOL_SHARE = 500
"""One item in so many is also in the pool 'small': those that come last in the queue."""
RARE_QUERIES = 5
"""So many queries, the last in the queue, are of the domain 'rare'."""


def slice_of(query: int, queries: int) -> tuple[str, str]:
    """Give a query's domain and language: half of the queue is 'early', one in seven 'pt'."""
    domain = "late" if query <= queries // 2 else "early"
    return "rare" if query <= RARE_QUERIES else domain, "en" if query % 7 else "pt"


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that further rows refer to."""

    revision: int
    snapshot: int
    rubric: int
    judge: int
    policy: int
    level: int


def table_of(name: str) -> sa.Table:
    """Give a table by its name."""
    return Record.metadata.tables[name]


def put(
    tx: WriteTransaction, name: str, columns: str, rows: Iterator[Sequence[Any]] | list[Any]
) -> int:
    """Insert rows into a table; columns are divided by blanks."""
    return insert_rows(tx.connection, table_of(name), columns.split(), rows)


def ground(tx: WriteTransaction, items: int, bodies: Sequence[str] = ()) -> Keys:
    """Fill everything below the items: texts, snapshot, passages, queries, rubric, assessors.

    Args:
        tx: The write transaction.
        items: How many items there will be.
        bodies: `TEXTS` different texts; by default short ones.
    """
    rubric = default_rubric()
    revision = tx.revision_id
    judge = assessor_key(tx, AssessorKind.LLM, "judge", "d" * 64)
    policy = policy_key(tx, name="threshold", digest="p" * 64, body="{}")
    rubric_id = rubric_key(
        tx, name=rubric.name, digest=rubric.digest, body=rubric.to_json(), scale=rubric.scale
    )
    _, levels = scale_key(tx, rubric.scale)
    bodies = bodies or [f"passage number {number} about something" for number in range(TEXTS)]
    texts = list(store_texts(tx.connection, bodies).values())
    now = datetime(2026, 1, 1, tzinfo=UTC)
    insert = sa.insert(table_of("snapshot")).values(
        name="s", ingested_at=now, digest="s", revision_id=revision
    )
    snapshot = int(tx.connection.execute(insert.returning(sa.text("id"))).scalar_one())
    numbers = range(1, items + 1)
    queries = range(1, items // ITEMS_PER_QUERY + 2)
    put(tx, "document", "id external_id", [(1, "doc")])
    put(tx, "snapshot_document", "snapshot_id document_id title", [(snapshot, 1, "t")])
    put(tx, "query", "id external_id", ((n, f"q{n:06d}") for n in queries))
    put(
        tx,
        "query_version",
        "query_id version text_id domain language slices weight origin conditions group_keys"
        " required_evidence digest revision_id",
        (
            (
                *(n, 1, texts[n % TEXTS], *slice_of(n, len(queries)), "[]", 1.0, "historical"),
                *("{}", "{}", "[]", "d", revision),
            )
            for n in queries
        ),
    )
    for name in ("chunk", "evidence"):
        put(tx, name, "id external_id", ((n, f"passage-{n:08d}") for n in numbers))
    put(
        tx,
        "snapshot_chunk",
        "snapshot_id chunk_id document_id text_id position",
        ((snapshot, n, 1, texts[n % TEXTS], 0) for n in numbers),
    )
    put(
        tx,
        "snapshot_evidence",
        "snapshot_id evidence_id chunk_id text_id",
        ((snapshot, n, n, texts[n % TEXTS]) for n in numbers),
    )
    return Keys(revision, snapshot, rubric_id, judge, policy, next(iter(levels.values())))


def item_rows(keys: Keys, items: int) -> Iterator[tuple[Any, ...]]:
    """Give the rows of items: columns query, evidence, rubric, snapshot, text."""
    for n in range(1, items + 1):
        yield n // ITEMS_PER_QUERY + 1, n, keys.rubric, keys.snapshot, n % TEXTS + 1


ITEM_COLUMNS = "query_id evidence_id rubric_id snapshot_id text_id"
JUDGMENT_COLUMNS = (
    "item_id assessor_id outcome level_id confidence probabilities signals flags request_digest"
    " sample occasion revision_id"
)
DECISION_COLUMNS = "item_id outcome level_id grade basis policy_id revision_id"


def judgment_rows(keys: Keys, items: int) -> Iterator[tuple[Any, ...]]:
    """Give one judgment of the judge on each item; a block of items shares its request."""
    signals = '{"cosine": 0.8123, "lexical": 0.4411}'
    chances = '{"fully_relevant": 0.2, "not_relevant": 0.5, "partially_relevant": 0.3}'
    for n in range(1, items + 1):
        request = f"{n // ITEMS_PER_QUERY:064x}"
        head = (n, keys.judge, "judged", keys.level, 0.5, chances, signals)
        yield (*head, "[]", request, 0, "first", keys.revision)


def decision_rows(keys: Keys, items: int) -> Iterator[tuple[Any, ...]]:
    """Give one accepted decision on every other item."""
    for n in range(1, items + 1, 2):
        head = (n, "judged", keys.level, "not_relevant", "accepted")
        yield (*head, keys.policy, keys.revision)


def queue_of(tx: WriteTransaction, keys: Keys, items: int) -> None:
    """Put every item into the pool 'all' and the queue, and some into the pool 'small'."""
    numbers, queries = range(1, items + 1), len(range(1, items // ITEMS_PER_QUERY + 2))
    pool_columns = "id name snapshot_id rubric_id depth order_rule passages digest revision_id"
    for key, name in ((1, "all"), (2, "small")):
        row = (key, name, keys.snapshot, keys.rubric, 10, "score", items, name, keys.revision)
        put(tx, "pool", pool_columns, [row])
    put(tx, "candidate", "pool_id item_id source", ((1, n, "run") for n in numbers))
    few = range(1, items // SMALL_POOL_SHARE + 1)
    put(tx, "candidate", "pool_id item_id source", ((2, n, "run") for n in few))
    put(tx, "task", "id item_id revision_id", ((n, n, keys.revision) for n in numbers))
    put(
        tx,
        "task_reason",
        "task_id reason action policy_id revision_id",
        ((n, "low_confidence", "raised", keys.policy, keys.revision) for n in numbers),
    )
    put(
        tx,
        "assignment",
        "task_id item_id slot purpose state priority domain language",
        # The last item is the most urgent, so that order and age differ.
        (
            (n, n, 0, "primary", "waiting", items - n, *slice_of(n // ITEMS_PER_QUERY + 1, queries))
            for n in numbers
        ),
    )


def fill(store: Store, items: int) -> Keys:
    """Fill an empty project: items, a judgment each, half of them decided, all in the queue."""
    with store.write("fill") as tx:
        keys = ground(tx, items)
        put(tx, "item", ITEM_COLUMNS, item_rows(keys, items))
        put(tx, "judgment", JUDGMENT_COLUMNS, judgment_rows(keys, items))
        put(tx, "decision", DECISION_COLUMNS, decision_rows(keys, items))
        queue_of(tx, keys, items)
        refresh(tx.connection, None)
    return keys
