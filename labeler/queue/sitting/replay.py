"""Journals that sittings left behind, brought into the database: each event once."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.query_changes import QueryChange
from labeler.assessment.reading import blocks_of
from labeler.errors import ConflictError, LabelerError, NotFoundError, StoreError
from labeler.queue.claims import Claim, give_back
from labeler.queue.proposals import propose_evidence
from labeler.queue.query_proposals import propose_query_change
from labeler.queue.questions.replay import replay_question_event
from labeler.queue.sitting.journal import PROPOSE_EVIDENCE, PROPOSE_QUERY, QUESTION, lock_file
from labeler.queue.undo import undo_last
from labeler.queue.votes import Event, record_event
from labeler.records import table
from labeler.records.questions import QuestionEventKind
from labeler.records.queue import EventKind, ReviewEvent, Task, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.journals import JournalPlace, journal_places
from labeler.store.registry import assessor_key

__all__ = ["Replayed", "replay_journals"]

_EVENT, _TASK = table(ReviewEvent), table(Task)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of the journals that were left.

    Attributes:
        stored: Events that are in the database now and weren't before.
        known: Events that were in it already.
        problems: Why each of the others couldn't be stored.
        kept_in: The files in which these are kept.
    """

    stored: int = 0
    known: int = 0
    problems: tuple[str, ...] = ()
    kept_in: tuple[Path, ...] = ()

    def describe(self) -> str:
        """Say it in a line, or nothing when there is nothing to say."""
        told = []
        if self.stored:
            told.append(f"{_events(self.stored)} of a sitting that broke off stored now")
        if self.problems:
            files = ", ".join(str(path) for path in self.kept_in)
            kept = f"{_events(len(self.problems))} couldn't be stored, kept in {files}"
            told.append(f"{kept}: {self.problems[0]}")
        return "; ".join(told)


def replay_journals(store: Store) -> Replayed:
    """Store what the journals of this database hold; those of sittings that go on are let alone.

    Raises:
        DatabaseBusyError: When another process writes for longer than 10 seconds; the journals
            stay as they are.
    """
    stored, known = 0, 0
    problems: list[str] = []
    files: list[Path] = []
    for place in journal_places(store.location):
        for path in place.journals():
            lines = _Lines.take(path)
            if lines is None:
                continue
            with lines:
                failed: list[dict[str, Any]] = []
                for line in lines.read():
                    try:
                        was_new = _replay(store, line)
                    except StoreError:
                        raise
                    except LabelerError as error:
                        failed.append({**line, "problem": error.message})
                        continue
                    stored += was_new
                    known += not was_new
                if failed:
                    _keep(place, failed)
                    problems += [str(line["problem"]) for line in failed]
                    files.append(place.not_replayed)
                lines.remove()
    return Replayed(stored, known, tuple(problems), tuple(dict.fromkeys(files)))


@dataclass
class _Lines:
    """A journal that nobody else has, while it is read."""

    path: Path
    file: int

    @classmethod
    def take(cls, path: Path) -> _Lines | None:
        try:
            file = os.open(path, os.O_RDWR)
        except OSError:
            return None
        if lock_file(file):
            return cls(path, file)
        os.close(file)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    def read(self) -> list[dict[str, Any]]:
        found = []
        content = self.path.read_text(encoding="utf-8", errors="replace")
        for text in filter(None, content.splitlines()):
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            found.append(line if isinstance(line, dict) else {"line": text})
        return found

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()


def _keep(place: JournalPlace, lines: list[dict[str, Any]]) -> None:
    """Append what couldn't be replayed to its file, each once, and wait for the disk."""
    path = place.not_replayed
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    fresh = [text for line in lines if (text := json.dumps(line)) not in there]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, "".join(text + "\n" for text in fresh).encode())
        os.fsync(file)
    finally:
        os.close(file)


def _replay(store: Store, line: Mapping[str, Any]) -> bool:
    """Store an event; False when it was there already.

    Raises:
        LabelerError: When it can't be stored.
    """
    try:
        key, name = str(line["key"]), str(line["reviewer"])
        at = datetime.fromisoformat(line["at"])
        with store.read() as connection:
            known = sa.select(_EVENT.c.id).where(_EVENT.c.event_key == key)
            if connection.execute(known).first() is not None:
                return False
        with store.write("review start", actor=name) as tx:
            reviewer_id = assessor_key(tx, AssessorKind.PERSON, name)
        if line["kind"].startswith(QUESTION):
            done = QuestionEventKind(line["kind"].removeprefix(QUESTION))
            return replay_question_event(store, (name, reviewer_id), done, at, line)
        if line["kind"] in {PROPOSE_EVIDENCE, PROPOSE_QUERY}:
            return _propose(store, reviewer_id, key, at, line)
        kind = EventKind(line["kind"])
        if kind is EventKind.UNDO:
            _undo(store, reviewer_id, key, line["of"], at)
        else:
            claim = Claim(
                int(line["assignment"]),
                int(line["task"]),
                int(line["item"]),
                VotePurpose(line["purpose"]),
            )
            record_event(store, reviewer_id, claim, _event(store, claim, kind, at, line))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConflictError(f"not an event of a journal ({error})") from None
    return True


def _undo(store: Store, reviewer_id: int, key: str, of: str | None, at: datetime) -> None:
    held = undo_last(store, reviewer_id, key, of=of, at=at)
    if held is None:
        raise ConflictError("the vote that was to be taken back doesn't stand any more")
    with store.work() as connection:
        give_back(connection, [held], reviewer_id)


def _propose(
    store: Store, reviewer_id: int, key: str, at: datetime, line: Mapping[str, Any]
) -> bool:
    item_id = int(line["item"])
    if line["kind"] == PROPOSE_EVIDENCE:
        found = int(line["evidence"])
        return propose_evidence(store, reviewer_id, key, item_id=item_id, evidence_id=found, at=at)
    return propose_query_change(
        store,
        reviewer_id,
        key,
        item_id=item_id,
        shown=_block(store, int(line["task"]), item_id, line).query,
        change=QueryChange(line["domain"], line["conditions"]),
        words=str(line["note"]),
        at=at,
    )


def _block(store: Store, task_id: int, item_id: int, line: Mapping[str, Any]) -> Block:
    """Read what a reviewer was shown."""
    with store.read() as connection:
        task = sa.select(_TASK.c.item_id).where(_TASK.c.id == task_id)
        blocks = blocks_of(connection, [item_id], seed="")
        if connection.execute(task).scalar() != item_id or not blocks:
            raise NotFoundError("the item isn't in this database")
    if blocks[0].digest != line["shown"]:
        raise ConflictError("the item isn't what was shown")
    return blocks[0]


def _event(
    store: Store, claim: Claim, kind: EventKind, at: datetime, line: Mapping[str, Any]
) -> Event:
    block = _block(store, claim.task_id, claim.item_id, line)
    code = line.get("level")
    level = None if code is None else block.rubric.scale.level(int(code))
    return Event(
        str(line["key"]),
        kind,
        block,
        level,
        str(line.get("note", "")),
        line.get("dwell_ms"),
        at,
    )


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"
