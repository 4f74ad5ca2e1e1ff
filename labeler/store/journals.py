"""Where events lie that couldn't be written to the database: files beside it.

A sitting has a file of its own. Beside a database on a server, and where its folder can't be
written, the files lie in the user's state folder.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from labeler.store.location import Location

__all__ = ["JournalPlace", "journal_places", "left_journals", "left_lines"]


@dataclass(frozen=True, slots=True)
class JournalPlace:
    """A folder, and how the names of a database's journals begin there."""

    folder: Path
    beginning: str

    def new_file(self) -> Path:
        """Name a journal that isn't there yet."""
        return self.folder / f"{self.beginning}{secrets.token_hex(4)}.jsonl"

    @property
    def not_replayed(self) -> Path:
        """The file of what couldn't be replayed."""
        return self.folder / f"{self.beginning}not-replayed.jsonl"

    def journals(self) -> list[Path]:
        """List the journals that are there, what couldn't be replayed left out."""
        if not self.folder.is_dir():
            return []
        found = self.folder.iterdir()
        return sorted(
            path
            for path in found
            if path.name.startswith(self.beginning)
            and path.suffix == ".jsonl"
            and path != self.not_replayed
        )


def journal_places(location: Location) -> tuple[JournalPlace, ...]:
    """Give the places of a database's journals, the one to be used first."""
    import platformdirs

    state = platformdirs.user_state_path("labeler", appauthor=False) / "unsaved"
    if location.is_postgresql:
        digest = hashlib.sha256(location.shown.encode()).hexdigest()
        return (JournalPlace(state, f"{digest[:16]}-"),)
    path = location.path.absolute()
    digest = hashlib.sha256(str(path).encode()).hexdigest()
    return (
        JournalPlace(path.parent, f"{path.name}.unsaved-"),
        JournalPlace(state, f"{digest[:16]}-"),
    )


def left_journals(location: Location) -> tuple[list[Path], list[Path]]:
    """List the journals of a database, and the files of what couldn't be replayed."""
    places = journal_places(location)
    waiting = [path for place in places for path in place.journals()]
    return waiting, [place.not_replayed for place in places if place.not_replayed.exists()]


def left_lines(path: Path) -> int | None:
    """Count the lines of a journal; None when it is another user's."""
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return None
