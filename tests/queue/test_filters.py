"""Sittings that take one domain or language: the same order, found wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE
from labeler.queue import front
from labeler.queue.claims import claim, queue_left, release
from labeler.queue.filters import EVERYTHING, QueueFilter, queue_filter
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import Counted, Fetch, Fetched, Vote, Widen
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.small import QUERIES, pooled, write_jsonl

ASKED = {"q1": ("returns", "en"), "q2": ("network", "pt"), "q3": ("network", "pt-BR")}


def describe_queries(store: Store, folder: Path, asked: dict[str, tuple[str, str]]) -> None:
    """Say of which domain and in which language queries are."""
    rows: list[dict[str, object]] = [
        {"_id": key, "text": QUERIES[key], "domain": domain, "language": language}
        for key, (domain, language) in asked.items()
    ]
    import_queries(store, [write_jsonl(folder / "q.jsonl", rows)], QueryOptions(update=True))


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool whose queries have domains and languages: 11 items wait."""
    pooled(store, own_folder)
    describe_queries(store, own_folder, ASKED)
    route_pool(store, "p", UNCALIBRATED)
    return store


@pytest.fixture
def ana(queue: Store) -> int:
    with queue.write("review start") as tx:
        return assessor_key(tx, AssessorKind.PERSON, "ana")


def asked_for(
    store: Store, pool: str | None = None, domain: str | None = None, language: str | None = None
) -> QueueFilter:
    with store.read() as connection:
        return queue_filter(connection, pool=pool, domain=domain, language=language)


def queries_of(store: Store, items: list[int]) -> list[int]:
    item = table(Item)
    with store.read() as connection:
        rows = connection.execute(sa.select(item.c.id, item.c.query_id)).all()
    found = {row.id: row.query_id for row in rows}
    return [found[one] for one in items]


def taken(store: Store, reviewer: int, only: QueueFilter) -> list[int]:
    items = [one.item_id for one in claim(store, reviewer, 100, only=only)]
    release(store, reviewer)
    return items


@pytest.mark.parametrize("pool", [None, "p"])
@pytest.mark.parametrize("largest_small_pool", [0, 10_000])
@pytest.mark.parametrize(
    ("domain", "language", "queries"),
    [
        ("returns", None, {1}),
        ("network", None, {2, 3}),
        ("NETWORK", None, {2, 3}),
        (None, "en", {1}),
        (None, "pt", {2, 3}),
        (None, "pt-br", {3}),
        ("network", "pt-BR", {3}),
        ("returns", "pt", set()),
    ],
)
def test_what_is_asked_for_is_taken_in_the_order_of_the_queue(
    queue: Store,
    ana: int,
    monkeypatch: pytest.MonkeyPatch,
    pool: str | None,
    largest_small_pool: int,
    domain: str | None,
    language: str | None,
    queries: set[int],
) -> None:
    monkeypatch.setattr(front, "_SMALL_POOL", largest_small_pool)
    monkeypatch.setattr(front, "_NEAREST", 2)
    everything = taken(queue, ana, EVERYTHING)
    assert len(everything) == 11
    of_query = dict(zip(everything, queries_of(queue, everything), strict=True))
    expected = [item for item in everything if of_query[item] in queries]
    only = asked_for(queue, pool, domain, language)
    assert taken(queue, ana, only) == expected
    left = queue_left(queue, ana, only)
    assert left.waiting == len(expected)
    first = [one.item_id for one in claim(queue, ana, 2, only=only)]
    assert first == expected[:2]
    assert [one.item_id for one in claim(queue, ana, 100, only=only)] == expected[2:]


@pytest.mark.parametrize(
    ("domain", "language", "told", "hint"),
    [
        ("retruns", None, "no query is of the domain 'retruns'", "known: network, returns"),
        (None, "p", "no query is of the language 'p'", "known: en, pt, pt-BR"),
        ("returns", "de", "no query is of the language 'de'", "known: en, pt, pt-BR"),
        ("", None, "no query is of the domain ''", "known: network, returns"),
    ],
)
def test_what_nobody_knows_is_an_error_that_lists_what_is_known(
    queue: Store, domain: str | None, language: str | None, told: str, hint: str
) -> None:
    with pytest.raises(NotFoundError) as error:
        asked_for(queue, domain=domain, language=language)
    assert (error.value.message, error.value.hint) == (told, hint)


def test_without_any_domain_the_error_says_how_to_state_one(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    with pytest.raises(NotFoundError) as error:
        asked_for(store, domain="returns")
    assert error.value.hint == "no query has a domain; a queries file can state it"


def test_a_corrected_query_is_found_under_what_it_is_now(
    queue: Store, ana: int, own_folder: Path
) -> None:
    before = taken(queue, ana, asked_for(queue, domain="returns"))
    held = claim(queue, ana, 1, only=asked_for(queue, domain="returns"))
    describe_queries(queue, own_folder, {"q1": ("network", "en"), "q2": ("returns", "pt")})
    release(queue, ana)
    assert held[0].item_id in taken(queue, ana, asked_for(queue, domain="network"))
    now = taken(queue, ana, asked_for(queue, domain="returns"))
    assert now
    assert set(now).isdisjoint(before)
    assert set(before) <= set(taken(queue, ana, asked_for(queue, domain="network")))


def test_a_desk_counts_what_is_asked_for_and_widens_to_everything(queue: Store) -> None:
    desk = Desk(queue, "ana", asked_for(queue, domain="returns", language="pt"))
    nothing = desk.perform(Fetch(3, frozenset()))
    assert isinstance(nothing, Fetched)
    assert (nothing.items, nothing.elsewhere) == ((), 11)
    assert desk.perform(Widen(no_filter=False)) is not None
    again = desk.perform(Fetch(3, frozenset()))
    assert isinstance(again, Fetched)
    assert again.items == ()
    desk.perform(Widen(no_filter=True))
    wide = desk.perform(Fetch(3, frozenset()))
    assert isinstance(wide, Fetched)
    assert len(wide.items) == 3


def test_progress_is_that_of_what_is_asked_for(queue: Store) -> None:
    from labeler.queue.sitting.orders import Count

    only = asked_for(queue, domain="returns")
    desk = Desk(queue, "ana", only)
    total = desk.perform(Count())
    assert isinstance(total, Counted)
    fetched = desk.perform(Fetch(1, frozenset()))
    assert isinstance(fetched, Fetched)
    desk.perform(Vote("k1", fetched.items[0], NATIVE.levels[0], "", 900))
    assert desk.perform(Count()) == Counted(1, total.open - 1)
    assert Desk(queue, "ana", asked_for(queue, domain="network")).perform(Count()) == Counted(
        0, 11 - total.open
    )


def test_on_sqlite_a_domain_is_found_in_one_index_in_the_order_of_the_queue(
    sqlite_store: Store,
) -> None:
    only = QueueFilter(slices=(("returns", "en"), ("returns", "pt")))
    with sqlite_store.read() as connection:
        (look,) = front.looks(connection, only, with_skipped=False)
        text = look.params(reviewer=1, count=3).compile(
            sqlite_store.engine, compile_kwargs={"literal_binds": True}
        )
        plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
    index = "ix_assignment_state_domain_language_priority_id"
    assert f"SEARCH wanted USING INDEX {index} (state=? AND domain=? AND language=?)" in plan
    scans = [line for line in plan if line.startswith("SCAN")]
    assert all("slices" in line or "CONSTANT ROW" in line for line in scans)
    # What is sorted at the end is what each domain and language gave: 3 each.
    assert plan.count("USE TEMP B-TREE FOR ORDER BY") <= 1
