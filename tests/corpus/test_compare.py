"""Snapshots compared by their evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.corpus.compare import Change, diff_snapshots, list_snapshots
from labeler.errors import ConflictError, NotFoundError
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.store.database import Store
from tests.small import passages, pooled, write_jsonl


def second(store: Store, folder: Path) -> None:
    """Import a later snapshot: c03 reworded, c12 gone, c13 new."""
    rows = passages()[:-1]
    rows[2]["text"] = "another wording of c03"
    rows.append({"_id": "c13", "text": "a new passage", "document": "doc-9"})
    import_corpus(
        store, [write_jsonl(folder / "later.jsonl", rows)], CorpusOptions(snapshot="2026-08")
    )


def test_unchanged_changed_new_gone(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    labels: list[dict[str, object]] = [
        {"query_id": "q1", "doc_id": name, "label": "fully"} for name in ("c01", "c03", "c12")
    ]
    import_labels(store, [write_jsonl(own_folder / "l.jsonl", labels)], LabelOptions())
    second(store, own_folder)
    with store.read() as connection:
        diff = diff_snapshots(connection, "2026-07", "2026-08")
        back = diff_snapshots(connection, "2026-08", "2026-07")
        same = diff_snapshots(connection, "2026-07", "2026-07")
    assert diff.evidence[Change.CHANGED] == ["c03"]
    assert diff.evidence[Change.NEW] == ["c13"]
    assert diff.evidence[Change.GONE] == ["c12"]
    assert len(diff.evidence[Change.UNCHANGED]) == 9
    assert (diff.labels_kept, diff.labels_lost) == (1, 2)
    assert back.evidence[Change.NEW] == ["c12"]
    assert len(same.evidence[Change.UNCHANGED]) == 11


def test_snapshots_are_listed_with_their_sizes(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    second(store, own_folder)
    with store.read() as connection:
        rows = list_snapshots(connection)
    columns = ("snapshot", "documents", "chunks", "evidence")
    sizes = [tuple(row[column] for column in columns) for row in rows]
    assert sizes == [("2026-07", 3, 12, 11), ("2026-08", 4, 12, 11)]


def test_a_snapshot_is_frozen(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    rows = passages()
    rows[0]["text"] = "reworded"
    with pytest.raises(ConflictError, match="frozen"):
        import_corpus(
            store, [write_jsonl(own_folder / "x.jsonl", rows)], CorpusOptions(snapshot="2026-07")
        )


def test_a_snapshot_that_is_not_there(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    with store.read() as connection, pytest.raises(NotFoundError, match="no snapshot 'x'"):
        diff_snapshots(connection, "2026-07", "x")
