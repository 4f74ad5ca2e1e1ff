"""What stands around a passage, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.context import Surroundings, surroundings_of
from labeler.assessment.rubric import default_rubric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.store.database import Store
from tests.small import write_jsonl, write_run


def project(store: Store, folder: Path) -> None:
    """Import a document whose file has its chunks out of order, and one with a single chunk."""
    rows: list[dict[str, object]] = [
        {"_id": "c3", "text": "third", "document": "guide", "position": 30},
        {"_id": "c1", "text": "first", "document": "guide", "position": 10},
        {"_id": "c2", "text": "second", "document": "guide", "position": 20},
        {"_id": "alone", "text": "alone", "document": "leaflet"},
    ]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    other = [{**row, "text": f"newer {row['text']}"} for row in rows]
    import_corpus(store, [write_jsonl(folder / "o.jsonl", other)], CorpusOptions(snapshot="t"))
    query: dict[str, object] = {"_id": "q", "text": "what"}
    import_queries(store, [write_jsonl(folder / "q.jsonl", [query])], QueryOptions())
    run = write_run(folder / "r.run", "r", {"q": ["c1", "c2", "c3", "alone"]})
    import_runs(store, [run], RunOptions(snapshot="s"))
    create_pool(store, "p", PoolOptions(depth=4, rubric=default_rubric(), snapshot="s"))


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("c1", Surroundings("guide", 1, 3, None, "second")),
        ("c2", Surroundings("guide", 2, 3, "first", "third")),
        ("c3", Surroundings("guide", 3, 3, "second", None)),
        ("alone", Surroundings("leaflet", 1, 1, None, None)),
    ],
)
def test_chunks_stand_in_the_order_of_their_document(
    store: Store, own_folder: Path, chunk: str, expected: Surroundings
) -> None:
    project(store, own_folder)
    item, evidence = table(Item), table(Evidence)
    key = sa.select(item.c.id).join(evidence, evidence.c.id == item.c.evidence_id)
    with store.read() as connection:
        found = connection.execute(key.where(evidence.c.external_id == chunk)).scalar_one()
        assert surroundings_of(connection, found) == expected
        assert surroundings_of(connection, -1) is None
