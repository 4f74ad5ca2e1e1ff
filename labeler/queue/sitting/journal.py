"""Events that the database doesn't take for now: on disk all the same, one JSON line each.

An event is expected once it is given to the database, and settled once it is in it. What isn't
settled within a moment is appended to the sitting's journal by a thread of its own, which waits
for the disk: the screen waits for neither. A process that is killed leaves its journal behind; the
next sitting replays it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler.queue.questions.orders import Decide, QuestionOrder, TakeBack
from labeler.queue.sitting.orders import (
    Note,
    Order,
    ProposeEvidence,
    ProposeQuery,
    Skip,
    Undo,
    Vote,
)
from labeler.queue.sitting.outbox import Event
from labeler.records.queue import EventKind
from labeler.store.journals import JournalPlace

__all__ = [
    "MOMENT",
    "PROPOSE_EVIDENCE",
    "PROPOSE_QUERY",
    "QUESTION",
    "Journal",
    "journal_line",
    "lock_file",
]

PROPOSE_EVIDENCE, PROPOSE_QUERY = "propose_evidence", "propose_query"
"""The kinds of lines that are proposals, beside those of review events."""

QUESTION = "question_"
"""How the kinds of lines begin that are about a generated question."""

MOMENT = 0.3
"""Seconds that an event may take before it is written to the journal."""

_OPEN = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND


_Kept = Event | Decide | TakeBack


class Journal:
    """One sitting's journal; its file is there only while it is needed. Safe for threads.

    Args:
        places: Where the file may lie, best first.
        reviewer: The reviewer's name.
        clock: Tells the time of events, in UTC.
        moment: How long an event may take, in seconds.
    """

    def __init__(
        self,
        places: Sequence[JournalPlace],
        reviewer: str,
        clock: Callable[[], datetime],
        moment: float = MOMENT,
    ) -> None:
        self._places = places
        self._reviewer = reviewer
        self._clock = clock
        self._moment = moment
        self._changed = threading.Condition()
        self._expected: dict[str, tuple[float, _Kept, datetime]] = {}
        self._written: set[str] = set()
        self._hurry = False
        self._closing = False
        self._is_torn = False
        self._path: Path | None = None
        self._file: int | None = None
        self._thread: threading.Thread | None = None

    @property
    def path(self) -> Path | None:
        """The file, while there is one."""
        return self._path

    @property
    def kept(self) -> int:
        """How many events are in the file and not in the database."""
        with self._changed:
            return len(self._written & self._expected.keys())

    def expect(self, order: Order | QuestionOrder) -> None:
        """Take note of an order that was given to the database; events alone are kept."""
        if not isinstance(order, Event | Decide | TakeBack):
            return
        due = time.monotonic() + self._moment
        with self._changed:
            self._expected[order.key] = (due, order, self._clock())
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="labeler-journal", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def settled(self, order: Order | QuestionOrder) -> None:
        """Take note that an order was done: its event is in the database, or was refused by it."""
        if isinstance(order, Event | Decide | TakeBack):
            with self._changed:
                self._expected.pop(order.key, None)
                self._changed.notify_all()

    def flush(self, patience: float = 5.0) -> int:
        """Write everything that isn't in the database at once; tell how much couldn't be.

        Args:
            patience: Seconds after which a disk that doesn't answer is given up.
        """
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._due(), timeout=patience)
            return len(self._expected.keys() - self._written)

    def close(self) -> None:
        """End; the file is removed unless something in it isn't in the database."""
        with self._changed:
            self._closing = self._hurry = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self._let_go()

    def _due(self) -> list[str]:
        now = time.monotonic()
        return [
            key
            for key, (due, _, _) in self._expected.items()
            if key not in self._written and (self._hurry or due <= now)
        ]

    def _next_due(self) -> float | None:
        dues = [one[0] for key, one in self._expected.items() if key not in self._written]
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (due := self._due()) and not self._is_spent() and not self._closing:
                    self._changed.wait(self._next_due())
                events = [self._expected[key][1:] for key in due]
                spent, closing = self._is_spent(), self._closing
            lines = [journal_line(event, self._reviewer, at) for event, at in events]
            if lines and self._append(lines):
                with self._changed:
                    self._written |= set(due)
                    self._changed.notify_all()
            elif lines:
                # The disk is full, say: tried again, and told as unsaved until then.
                time.sleep(self._moment)
            if spent:
                self._remove()
            if closing and not lines:
                return

    def _is_spent(self) -> bool:
        """Tell whether all that the file holds is in the database."""
        return bool(self._written) and not self._written & self._expected.keys()

    def _append(self, lines: list[str]) -> bool:
        file = self._file if self._file is not None else self._open()
        if file is None:
            return False
        # After a line that was cut off, a blank one keeps the next apart.
        data = ("\n" * self._is_torn + "".join(line + "\n" for line in lines)).encode()
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError:
            self._is_torn = True
            return False
        self._is_torn = False
        return True

    def _open(self) -> int | None:
        """Make the file, in the first place where that is possible; None when there is none."""
        for place in self._places:
            path = place.new_file()
            try:
                place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = os.open(path, _OPEN, 0o600)
            except OSError:
                continue
            self._path = path
            lock_file(self._file)
            _sync_folder(path.parent)
            return self._file
        return None

    def _remove(self) -> None:
        path = self._path
        self._let_go()
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()
        with self._changed:
            self._written.clear()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = self._path = None


def journal_line(event: Event | Decide | TakeBack, reviewer: str, at: datetime) -> str:
    """Write an event as one line: with all that a replay needs, and no text of the corpus."""
    line: dict[str, Any] = {"key": event.key, "at": at.isoformat(), "reviewer": reviewer}
    match event:
        case TakeBack(of=of):
            return json.dumps({**line, "kind": f"{QUESTION}undo", "of": of})
        case Decide(question=question, kind=kind, text=text, note=note, dwell_ms=dwell_ms):
            line |= {"kind": QUESTION + kind.value, "question": question.question_id}
            line |= {"text": text, "note": note, "dwell_ms": dwell_ms, "shown": question.digest}
            return json.dumps(line)
        case Undo(of=of):
            return json.dumps({**line, "kind": EventKind.UNDO.value, "of": of})
        case Vote(level=level, note=note, dwell_ms=dwell_ms):
            line |= {"kind": EventKind.VOTE.value, "note": note, "dwell_ms": dwell_ms}
            line["level"] = None if level is None else level.code
        case Skip(dwell_ms=dwell_ms):
            line |= {"kind": EventKind.SKIP.value, "dwell_ms": dwell_ms}
        case Note(text=text, is_flag=is_flag):
            line["kind"] = (EventKind.FLAG if is_flag else EventKind.NOTE).value
            line["note"] = text
        case ProposeEvidence(evidence_id=evidence_id):
            line |= {"kind": PROPOSE_EVIDENCE, "evidence": evidence_id}
        case ProposeQuery(change=change, words=words):
            line |= {"kind": PROPOSE_QUERY, "note": words, "domain": change.domain}
            line["conditions"] = dict(change.conditions)
    claim = event.shown.claim
    line |= {
        "assignment": claim.assignment_id,
        "task": claim.task_id,
        "item": claim.item_id,
        "purpose": claim.purpose.value,
        "shown": event.shown.block.digest,
    }
    return json.dumps(line)


def lock_file(file: int) -> bool:
    """Take the lock by which others see that a journal's process lives; False when it is taken.

    Where the system has no such locks, a file that is open can't be removed either.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make sure that a new file's name is on disk as well, where folders can be opened."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
