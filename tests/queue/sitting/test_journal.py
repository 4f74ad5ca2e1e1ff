"""The journal: what the database doesn't take for now is on disk, and comes into it once."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE, Grade, Level
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.journal import Journal, journal_line
from labeler.queue.sitting.orders import Count, Fetch, Fetched, Note, Shown, Skip, Undo, Vote
from labeler.queue.sitting.replay import replay_journals
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.project import Text
from labeler.records.queue import Assignment, AssignmentState, ReviewEvent
from labeler.records.scales import Assessor
from labeler.store.database import Store
from labeler.store.journals import JournalPlace, journal_places, left_journals
from labeler.store.location import Location
from labeler.store.maintenance import check
from tests.conftest import Ticking
from tests.small import QUERIES, pooled, write_jsonl

FULLY, PARTIALLY, NOT = NATIVE.levels
AT = datetime(2026, 7, 1, 9, 30, tzinfo=UTC)
PATIENCE = 20.0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it didn't happen"
        time.sleep(0.005)


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait."""
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    return store


@pytest.fixture
def shown(queue: Store) -> tuple[Shown, ...]:
    """The items that ana held before her sitting broke off: all 11."""
    desk = Desk(queue, "ana")
    answer = desk.perform(Fetch(11, frozenset()))
    assert isinstance(answer, Fetched)
    desk.close()
    return answer.items


@pytest.fixture
def place(tmp_path: Path) -> JournalPlace:
    folder = tmp_path / "beside"
    folder.mkdir()
    return JournalPlace(folder, "queue.db.unsaved-")


@pytest.fixture
def journal(place: JournalPlace) -> Iterator[Journal]:
    opened = Journal([place], "ana", lambda: AT, moment=0.0)
    yield opened
    opened.close()


def vote(key: str, shown: Shown, level: Level | None = FULLY, note: str = "") -> Vote:
    return Vote(key, shown, level, note, 1200)


def keys_in(path: Path) -> list[str]:
    return [json.loads(line)["key"] for line in path.read_text().splitlines()]


# Writing


def test_what_takes_long_is_written_and_the_file_ends_with_it(
    journal: Journal, place: JournalPlace, shown: tuple[Shown, ...]
) -> None:
    votes = [vote(f"k{number}", one) for number, one in enumerate(shown[:3])]
    for one in votes:
        journal.expect(one)
    until(lambda: journal.kept == 3)
    (path,) = place.journals()
    assert keys_in(path) == ["k0", "k1", "k2"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    journal.settled(votes[0])
    until(lambda: journal.kept == 2)
    assert path.exists()
    for one in votes[1:]:
        journal.settled(one)
    until(lambda: not path.exists())
    journal.expect(vote("k9", shown[3]))
    until(lambda: journal.kept == 1)
    assert keys_in(place.journals()[0]) == ["k9"]


def test_what_the_database_takes_in_time_is_never_written(
    place: JournalPlace, shown: tuple[Shown, ...]
) -> None:
    journal = Journal([place], "ana", lambda: AT, moment=600)
    journal.expect(vote("k", shown[0]))
    journal.expect(Count())
    journal.settled(vote("k", shown[0]))
    journal.close()
    assert place.journals() == []


def test_giving_up_writes_all_at_once(place: JournalPlace, shown: tuple[Shown, ...]) -> None:
    journal = Journal([place], "ana", lambda: AT, moment=600)
    journal.expect(vote("k", shown[0]))
    assert journal.kept == 0
    assert journal.flush() == 0
    assert keys_in(place.journals()[0]) == ["k"]
    journal.close()
    assert keys_in(place.journals()[0]) == ["k"]


def test_closing_keeps_what_is_not_settled(place: JournalPlace, shown: tuple[Shown, ...]) -> None:
    journal = Journal([place], "ana", lambda: AT, moment=600)
    journal.expect(vote("k", shown[0]))
    journal.close()
    assert keys_in(place.journals()[0]) == ["k"]


def test_where_the_first_place_can_t_be_written_the_next_one_is(
    tmp_path: Path, place: JournalPlace, shown: tuple[Shown, ...]
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    journal = Journal([JournalPlace(blocked / "folder", "x-"), place], "ana", lambda: AT, 0.0)
    journal.expect(vote("k", shown[0]))
    until(lambda: journal.kept == 1)
    assert len(place.journals()) == 1
    journal.close()


def test_where_nothing_can_be_written_nothing_is_called_kept(
    tmp_path: Path, shown: tuple[Shown, ...]
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    journal = Journal([JournalPlace(blocked / "folder", "x-")], "ana", lambda: AT, moment=0.01)
    journal.expect(vote("k", shown[0]))
    assert journal.flush(patience=0.1) == 1
    assert journal.kept == 0
    journal.settled(vote("k", shown[0]))
    journal.close()


def test_after_a_full_disk_what_was_cut_off_spoils_nothing(
    journal: Journal, place: JournalPlace, shown: tuple[Shown, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    room = [20, 0]

    def full(file: int, data: bytes) -> int:
        if not room:
            return write(file, data)
        left = room.pop(0)
        if not left:
            raise OSError(28, "No space left on device")
        return write(file, data[:left])

    monkeypatch.setattr(os, "write", full)
    journal.expect(vote("k", shown[0]))
    until(lambda: journal.kept == 1)
    text = place.journals()[0].read_text().splitlines()
    assert len(text) == 2
    assert json.loads(text[1])["key"] == "k"


def test_a_line_holds_no_text_of_the_corpus(shown: tuple[Shown, ...]) -> None:
    line = journal_line(vote("k", shown[0], note="see [b]\n\x1b"), "ana", AT)
    assert "\n" not in line
    assert shown[0].item.passage not in line
    assert shown[0].block.query.text not in line
    assert line.isascii()


# Replaying


def left_behind(store: Store, *events: Vote | Skip | Note | Undo, reviewer: str = "ana") -> Path:
    """Write a journal as a sitting that was killed leaves it."""
    place = journal_places(store.location)[0]
    place.folder.mkdir(parents=True, exist_ok=True)
    path = place.new_file()
    path.write_text("".join(journal_line(one, reviewer, AT) + "\n" for one in events))
    return path


def stored(store: Store) -> list[tuple[str, str, str | None]]:
    """Give the events on disk: keys, kinds and notes, first to last."""
    event, text = table(ReviewEvent), table(Text)
    statement = (
        sa.select(event.c.event_key, event.c.kind, text.c.body)
        .outerjoin(text, text.c.id == event.c.note_id)
        .order_by(event.c.id)
    )
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(statement)]


def grades(store: Store) -> dict[int, Grade | None]:
    with store.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1))
    return {item: label.grade for item, label in labels.items()}


def test_every_kind_of_event_is_replayed_in_order_and_the_file_goes(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    first, second, third, fourth = shown[:4]
    path = left_behind(
        queue,
        vote("k1", first, NOT),
        Note("k2", second, "a note"),
        Note("k3", second, "a flag", is_flag=True),
        vote("k4", second, None, "garbled"),
        vote("k5", third, FULLY),
        Undo("k6", "k5"),
        Skip("k7", fourth, 300),
    )
    found = replay_journals(queue)
    assert (found.stored, found.known, found.problems) == (7, 0, ())
    assert found.describe() == "7 events of a sitting that broke off stored now"
    assert stored(queue) == [
        ("k1", "vote", None),
        ("k2", "note", "a note"),
        ("k3", "flag", "a flag"),
        ("k4", "vote", "garbled"),
        ("k5", "vote", None),
        ("k6", "undo", None),
        ("k7", "skip", None),
    ]
    assert grades(queue) == {first.claim.item_id: Grade.NOT_RELEVANT, second.claim.item_id: None}
    assert not path.exists()
    slot, event = table(Assignment), table(ReviewEvent)
    with queue.read() as connection:
        held = sa.select(slot.c.id).where(slot.c.state == AssignmentState.HELD.value)
        assert connection.execute(held).all() == []
        assert set(connection.execute(sa.select(event.c.at)).scalars()) == {AT}
        names = connection.execute(sa.select(table(Assessor).c.name)).scalars().all()
    assert names == ["ana"]
    assert all(not finding.problems for finding in check(queue))


def test_what_was_stored_after_all_is_not_stored_again(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    desk = Desk(queue, "ana")
    desk.perform(vote("k1", shown[0]))
    desk.perform(Undo("k2", "k1"))
    desk.close()
    before = stored(queue)
    left_behind(queue, vote("k1", shown[0]), Undo("k2", "k1"))
    found = replay_journals(queue)
    assert (found.stored, found.known, found.describe()) == (0, 2, "")
    assert stored(queue) == before
    # Cut off in the middle, and replayed once more: the rest is stored, and nothing twice.
    left_behind(queue, vote("k1", shown[0]), Undo("k2", "k1"), vote("k3", shown[1]))
    assert replay_journals(queue).stored == 1
    assert replay_journals(queue).stored == 0


def test_a_vote_that_comes_too_late_is_kept_as_extra(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    bo = ReviewSession(queue, "bo")
    assert bo.current is not None
    assert bo.current.claim.item_id == shown[0].claim.item_id
    bo.vote(NOT)
    bo.close()
    left_behind(queue, vote("k1", shown[0], FULLY))
    assert replay_journals(queue).stored == 1
    assert grades(queue) == {shown[0].claim.item_id: Grade.NOT_RELEVANT}


def test_an_undo_of_an_earlier_sitting_s_vote_takes_back_no_vote_given_since(
    queue: Store, shown: tuple[Shown, ...], clock: Ticking
) -> None:
    path = left_behind(queue, Undo("k1", None))
    desk = Desk(queue, "ana")
    clock.advance(3600)
    desk.perform(vote("later", shown[0]))
    desk.close()
    found = replay_journals(queue)
    assert found.problems == ("the vote that was to be taken back doesn't stand any more",)
    assert [key for key, _, _ in stored(queue)] == ["later"]
    assert not path.exists()


def test_what_can_t_be_stored_is_told_and_kept_and_the_rest_is_stored(
    queue: Store, shown: tuple[Shown, ...], own_folder: Path
) -> None:
    changed = shown[0].block.query.text
    key = next(key for key, text in QUERIES.items() if text == changed)
    rows: list[dict[str, object]] = [{"_id": key, "text": "something else"}]
    import_queries(queue, [write_jsonl(own_folder / "q.jsonl", rows)], QueryOptions(update=True))
    other = next(one for one in shown if one.block.query.text != changed)
    path = left_behind(queue, vote("k1", shown[0]), vote("k2", other))
    with path.open("a") as file:
        file.write('{"key": "k3", "rev\n[1]\n{"key": "k4", "reviewer": "ana", "kind": "dance"}\n')
    found = replay_journals(queue)
    assert (found.stored, len(found.problems)) == (1, 4)
    assert found.problems[0] == "the item isn't what was shown"
    assert all("not an event of a journal" in problem for problem in found.problems[1:])
    assert not path.exists()
    (kept,) = found.kept_in
    assert "4 events couldn't be stored, kept in" in found.describe()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [line.get("key") for line in lines] == ["k1", None, None, "k4"]
    assert lines[0]["problem"] == "the item isn't what was shown"
    assert lines[1]["line"] == '{"key": "k3", "rev'
    assert [key for key, _, _ in stored(queue)] == ["k2"]
    # It isn't tried again, and the same journal is not kept twice.
    assert replay_journals(queue).describe() == ""
    left_behind(queue, vote("k1", shown[0]))
    replay_journals(queue)
    assert len(kept.read_text().splitlines()) == 4


def test_an_item_of_another_database_is_not_taken_for_one_of_this(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    place = journal_places(queue.location)[0]
    place.folder.mkdir(parents=True, exist_ok=True)
    line = json.loads(journal_line(vote("k1", shown[0]), "ana", AT))
    for name, wrong in (("item", 999), ("task", 999), ("shown", "0" * 64)):
        other = {**line, "key": f"wrong {name}", name: wrong}
        place.new_file().write_text(json.dumps(other) + "\n")
    assert len(replay_journals(queue).problems) == 3
    assert stored(queue) == []


def test_the_journal_of_a_sitting_that_goes_on_is_let_alone(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    journal = Journal(journal_places(queue.location), "ana", queue.clock, moment=0.0)
    journal.expect(vote("k1", shown[0]))
    until(lambda: journal.kept == 1)
    assert replay_journals(queue).stored == 0
    waiting, _ = left_journals(queue.location)
    assert len(waiting) == 1
    journal.close()
    assert replay_journals(queue).stored == 1
    assert left_journals(queue.location) == ([], [])


def test_the_check_mentions_what_waits_and_what_is_kept(
    queue: Store, shown: tuple[Shown, ...]
) -> None:
    path = left_behind(queue, vote("k1", shown[0]), Undo("k2", "never"))

    def notes() -> tuple[str, ...]:
        (finding,) = [one for one in check(queue) if "outside" in one.check]
        assert finding.problems == ()
        return finding.notes

    (note,) = notes()
    assert note.startswith(f"2 events in {path}")
    replay_journals(queue)
    (note,) = notes()
    assert "1 event in" in note
    assert "couldn't be stored" in note


def test_a_server_s_journal_lies_in_the_state_folder_and_names_no_password(
    tmp_path: Path,
) -> None:
    (place,) = journal_places(Location("postgresql://ana:secret@host/labels"))
    same = journal_places(Location("postgresql://ana:other@host/labels"))[0]
    assert place == same
    assert place.folder == tmp_path / "state" / "labeler" / "unsaved"
    assert "secret" not in str(place.new_file())
    beside, state = journal_places(Location(str(tmp_path / "queue.db")))
    assert beside.new_file().name.startswith("queue.db.unsaved-")
    assert (beside.folder, state.folder) == (tmp_path, place.folder)


def test_a_line_mode_sitting_goes_on_while_the_database_is_busy(
    queue: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labeler.errors import DatabaseBusyError, StoreError
    from labeler.store.database import Store as OpenStore

    place = journal_places(queue.location)[0]
    journal = Journal(journal_places(queue.location), "ana", queue.clock, moment=0.0)
    session = ReviewSession(queue, "ana", journal=journal)
    assert session.current is not None
    write = OpenStore.write

    def busy(*_: object, **__: object) -> None:
        raise DatabaseBusyError("another process is writing")

    monkeypatch.setattr(OpenStore, "write", busy)
    with pytest.raises(StoreError):
        session.vote(FULLY)
    until(lambda: journal.kept == 1)
    assert session.current is not None
    with pytest.raises(StoreError):
        session.vote(NOT)
    until(lambda: journal.kept == 2)
    monkeypatch.setattr(OpenStore, "write", write)
    assert session.current is not None
    session.close()
    assert len(stored(queue)) == 2
    assert place.journals() == []
