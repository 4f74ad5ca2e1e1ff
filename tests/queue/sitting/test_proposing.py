"""Proposals in a sitting: ordered as events, journaled, replayed once, refused without harm."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.query_changes import QueryChange
from labeler.calibration.policies import UNCALIBRATED
from labeler.queue.evidence import EvidenceSearch
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.journal import journal_line
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import (
    Fetch,
    Fetched,
    Kept,
    ProposeEvidence,
    ProposeQuery,
    Shown,
    TurnedDown,
)
from labeler.queue.sitting.outbox import Event
from labeler.queue.sitting.replay import replay_journals
from labeler.records import Record, table
from labeler.records.proposals import EvidenceProposal, QueryProposal
from labeler.store.database import Store
from labeler.store.journals import journal_places
from tests.small import pooled

AT = datetime(2026, 7, 1, 9, 30, tzinfo=UTC)
CHANGE = QueryChange("billing", {"region": "EU"})


@pytest.fixture
def queue(sqlite_store: Store, own_folder: Path) -> Store:
    pooled(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", UNCALIBRATED)
    return sqlite_store


@pytest.fixture
def shown(queue: Store) -> Shown:
    fetched = Desk(queue, "ana").perform(Fetch(1, frozenset()))
    assert isinstance(fetched, Fetched)
    return fetched.items[0]


def fresh(store: Store, shown: Shown) -> int:
    """Find an evidence that isn't known for the item's query."""
    found = EvidenceSearch(store, lambda: None).find(shown.claim.item_id, "about fact")
    return next(one.evidence_id for one in found if not one.is_known)


def count(store: Store, of: type[Record]) -> int:
    with store.read() as connection:
        statement = sa.select(sa.func.count()).select_from(table(of))
        return int(connection.execute(statement).scalar_one())


def test_a_proposal_is_unsaved_until_it_is_on_disk_and_judges_nothing(shown: Shown) -> None:
    sitting = Sitting()
    sitting.begin()
    sitting.take_orders()
    sitting.answered(Fetched((shown,)))
    sitting.take_orders()
    sitting.propose_evidence(shown, 7)
    sitting.propose_query(shown, CHANGE, " so it says ")
    first, second = [order for order in sitting.take_orders() if isinstance(order, Event)]
    assert isinstance(first, ProposeEvidence)
    assert isinstance(second, ProposeQuery)
    assert (sitting.unsaved, second.words) == (2, "so it says")
    sitting.answered(Kept(first.key))
    sitting.answered(TurnedDown(second.key, "the query is like that already", None))
    assert sitting.notice == "not saved: the query is like that already"
    assert (sitting.unsaved, sitting.standing, sitting.tally.done) == (0, 0, 0)
    assert sitting.current is shown
    # Votes go on as before.
    sitting.painted(shown, 1.0)
    sitting.pressed(Press("d", 2.0))
    assert sitting.choose(3)


def test_what_the_database_did_not_take_is_stored_at_the_next_start(
    queue: Store, shown: Shown
) -> None:
    events: list[Event] = [
        ProposeEvidence("k1", shown, fresh(queue, shown)),
        ProposeQuery("k2", shown, CHANGE, "so it says"),
    ]
    lines = [journal_line(event, "ana", AT) for event in events]
    assert shown.item.passage not in "".join(lines)
    for expected in ((2, 0), (0, 2)):
        place = next(iter(journal_places(queue.location)))
        place.folder.mkdir(parents=True, exist_ok=True)
        place.new_file().write_text("".join(line + "\n" for line in lines))
        replayed = replay_journals(queue)
        assert (replayed.stored, replayed.known, replayed.problems) == (*expected, ())
    assert (count(queue, EvidenceProposal), count(queue, QueryProposal)) == (1, 1)
    proposal = table(QueryProposal)
    with queue.read() as connection:
        row = connection.execute(sa.select(proposal)).one()
    assert (row.domain, json.loads(row.conditions), row.at) == ("billing", {"region": "EU"}, AT)


def test_a_proposal_on_what_changed_meanwhile_is_kept_aside(queue: Store, shown: Shown) -> None:
    line = json.loads(journal_line(ProposeQuery("k2", shown, CHANGE, ""), "ana", AT))
    place = next(iter(journal_places(queue.location)))
    place.folder.mkdir(parents=True, exist_ok=True)
    place.new_file().write_text(json.dumps(line | {"shown": "0" * 64}) + "\n")
    replayed = replay_journals(queue)
    assert replayed.problems == ("the item isn't what was shown",)
    assert count(queue, QueryProposal) == 0
