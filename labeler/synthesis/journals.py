"""Where packs and journals lie, and journals that a run left behind.

A journal holds what models answered, line by line, before anything else is done with it. Its
answers are copied to the ledger while a run goes on; what was not copied when a run was stopped is
copied when the next one begins. A line is told from others by its request and the time of its try,
so copying it twice changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labeler.errors import ConflictError, StoreError
from labeler.store.location import Location
from labeler.synthesis.orders import Answered, read_line

__all__ = ["answers_in", "held", "left_journals", "new_journal", "work_folder"]


def work_folder(location: Location) -> Path:
    """Give the folder of a project's packs and journals, and make it: beside the database's file.

    Beside a database on a server it lies in the user's state folder. Nobody else can read it.

    Raises:
        StoreError: When it can't be made.
    """
    if location.is_postgresql:
        import platformdirs

        digest = hashlib.sha256(location.shown.encode()).hexdigest()
        state = platformdirs.user_state_path("labeler", appauthor=False)
        folder = state / "generate" / digest[:16]
    else:
        path = location.path.absolute()
        folder = path.parent / f"{path.name}.generate"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}") from None
    return folder


def new_journal(folder: Path, job_digest: str) -> Path:
    """Name a journal that isn't there yet; by digest, since a key could be another database's."""
    return folder / f"journal-{job_digest}-{secrets.token_hex(4)}.jsonl"


def left_journals(folder: Path) -> list[tuple[str, Path]]:
    """List the journals that are there, with the digest of each one's job."""
    paths = sorted(folder.glob("journal-*-*.jsonl"))
    return [(path.name.split("-")[1], path) for path in paths]


def answers_in(path: Path) -> list[Answered]:
    """Read a journal; a last line that was cut off holds no answer that anybody saw."""
    content = path.read_text(encoding="utf-8", errors="replace")
    lines = [read_line(line) for line in content.splitlines()]
    return [Answered.from_json(line) for line in lines if line is not None and "request" in line]


@contextmanager
def held(folder: Path) -> Iterator[int | None]:
    """Hold the folder for one run; yields the descriptor of the lock, for the other process.

    The lock goes when both processes have ended, however they end, so that nobody takes a journal
    away from one that still writes. Where the platform has no such locks, None is given.

    Raises:
        ConflictError: When another run holds it.
    """
    try:
        import fcntl
    except ImportError:
        yield None
        return
    descriptor = os.open(folder / "run.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(
                "questions are being generated for this project already",
                hint="wait until that has ended; after a crash, until its last requests have",
            ) from None
        yield descriptor
    finally:
        os.close(descriptor)
