"""Logs of queries: nothing personal is stored, near duplicates are one query, counts are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.errors import InputError
from labeler.imports.query_log import LogOptions, import_query_log
from labeler.records import table
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.records.query_log import LoggedQuery, QueryLog
from labeler.store.database import Store

ROWS: list[dict[str, object]] = [
    {"query": "Reset the router", "time": "2026-01-01T10:00:00Z", "session_id": "s1",
     "domain": "net", "clicked": True, "score": 0.9},
    {"query": "reset the router!", "time": 1767348000, "session_id": "s2", "domain": "net",
     "clicked": False, "score": 0.5},
    {"query": "reset the routers", "time": 1767348000000, "session_id": "s2", "domain": "home"},
    {"query": "send it to ada@example.com", "session_id": "ada@example.com", "clicked": 0},
    {"query": "call +49 30 1234567", "session_id": "s9"},
    {"query": "4111 1111 1111 1111"},
]  # fmt: skip


def write(folder: Path, rows: list[dict[str, object]], name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def stored(store: Store) -> dict[str, sa.Row[tuple[object, ...]]]:
    """Give what is stored of each logged query, by its text."""
    logged, version, text = table(LoggedQuery), table(QueryVersion), table(Text)
    statement = (
        sa.select(
            text.c.body,
            logged,
            version.c.weight,
            version.c.domain,
            version.c.group_keys,
            version.c.origin,
        )
        .join(version, version.c.query_id == logged.c.query_id)
        .join(text, text.c.id == version.c.text_id)
    )
    with store.read() as connection:
        return {str(row.body): row for row in connection.execute(statement)}


def test_near_duplicates_are_one_query_with_their_counts(store: Store, own_folder: Path) -> None:
    report = import_query_log(store, [write(own_folder, ROWS)], LogOptions())
    assert (report.counts["rows"], report.counts["queries"]) == (6, 3)
    assert report.counts["nothing but personal data"] == 1
    row = stored(store)["Reset the router"]
    assert (row.asked, row.variants, row.conversations) == (3, 3, 2)
    assert (row.click_known, row.clicked, row.score_known) == (2, 1, 2)
    assert row.mean_score == pytest.approx(0.7)
    assert (row.weight, row.domain, row.origin) == (3.0, "net", "historical")
    assert row.group_keys == "{}"
    assert row.first_at is not None
    assert (row.first_at.day, row.last_at.day, row.last_at.hour) == (1, 2, 10)


def test_personal_data_reaches_nothing_that_is_stored(store: Store, own_folder: Path) -> None:
    report = import_query_log(store, [write(own_folder, ROWS)], LogOptions())
    assert {name: count for name, count in report.counts.items() if "replaced" in name} == {
        "replaced: card": 1, "replaced: mail": 1, "replaced: phone": 1
    }  # fmt: skip
    assert any("names" in str(notice) for notice in report.notices)
    with store.read() as connection:
        everything = " ".join(
            str(row)
            for one in (Text, QueryVersion, QueryLog, LoggedQuery, Query)
            for row in connection.execute(sa.select(table(one)))
        )
    for personal in ("ada@", "example.com", "1234567", "4111", "s9", "s1"):
        assert personal not in everything
    assert "send it to [mail]" in everything


def test_a_conversation_is_kept_as_a_digest_where_it_is_the_only_one(
    store: Store, own_folder: Path
) -> None:
    import_query_log(store, [write(own_folder, ROWS)], LogOptions())
    keys = json.loads(str(stored(store)["call [phone]"].group_keys))
    assert len(keys["conversation"]) == 16


def test_the_same_log_again_changes_nothing_and_another_one_adds(
    store: Store, own_folder: Path
) -> None:
    first = import_query_log(store, [write(own_folder, ROWS)], LogOptions())
    again = import_query_log(store, [write(own_folder, ROWS)], LogOptions())
    assert (first.counts["added"], again.counts["added"], again.revision) == (3, 0, None)
    more: list[dict[str, object]] = [*ROWS[:1], {"query": "invoice by post"}]
    later = import_query_log(store, [write(own_folder, more, "later.jsonl")], LogOptions())
    assert later.counts["added"] == 1
    with store.read() as connection:
        asked = connection.execute(sa.select(sa.func.sum(table(LoggedQuery).c.asked))).scalar()
    assert asked == 5 + 2


def test_csv_with_counts(store: Store, own_folder: Path) -> None:
    path = own_folder / "log.csv"
    path.write_text("search_term,searches,clicks\nreset router,10,4\ninvoice,3,0\n", "utf-8")
    report = import_query_log(store, [path], LogOptions(domain="net", language="en"))
    assert report.counts["asked"] == 13
    row = stored(store)["reset router"]
    assert (row.asked, row.click_known, row.clicked, row.domain) == (10, 10, 4, "net")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"query": ""}, "text is missing"),
        ({"query": "a", "count": 0}, "count"),
        ({"query": "a", "time": "yesterday"}, "time"),
        ({"query": "a", "clicked": "maybe"}, "click"),
        ({"query": "a", "score": "good"}, "score"),
    ],
)
def test_a_faulty_row_is_told_by_its_line_and_not_quoted(
    store: Store, own_folder: Path, row: dict[str, object], problem: str
) -> None:
    path = write(own_folder, [{"query": "reset"}, row])
    with pytest.raises(InputError) as caught:
        import_query_log(store, [path], LogOptions())
    assert [fault.line for fault in caught.value.faults] == [2]
    assert problem in caught.value.faults[0].problem
    lenient = import_query_log(store, [path], LogOptions(lenient=True))
    assert (lenient.counts["left out"], lenient.counts["queries"]) == (1, 1)


def test_a_time_without_a_zone_is_told(store: Store, own_folder: Path) -> None:
    path = write(own_folder, [{"query": "reset", "time": "2026-01-01 10:00:00"}])
    report = import_query_log(store, [path], LogOptions())
    assert any("taken as UTC" in str(notice) for notice in report.notices)
