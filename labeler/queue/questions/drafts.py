"""Wordings that a reviewer has begun: in a file beside the database, so that they aren't lost."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from labeler.errors import OutputError
from labeler.formats.atomic import replacing
from labeler.store.journals import JournalPlace

__all__ = ["Drafts"]


class Drafts:
    """One reviewer's drafts by the digest of what they are about.

    They are work in progress: where no folder takes the file they last as long as the process.

    Args:
        places: Where the file may lie, best first.
        reviewer: The reviewer's name.
    """

    def __init__(self, places: Sequence[JournalPlace], reviewer: str) -> None:
        named = hashlib.sha256(reviewer.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._paths = [one.folder / f"{one.beginning}drafts-{named}.json" for one in places]
        self._texts: dict[str, str] = {}
        for path in reversed(self._paths):
            self._texts |= _read(path)

    def of(self, digest: str) -> str | None:
        """Give the draft about something, or None."""
        return self._texts.get(digest)

    def keep(self, digest: str, text: str) -> None:
        """Keep a draft in place of the one before; an empty one is forgotten."""
        if self._texts.get(digest, "") == text:
            return
        self._texts = {name: one for name, one in self._texts.items() if name != digest}
        if text:
            self._texts[digest] = text
        for path in self._paths:
            try:
                self._write(path)
            except (OSError, OutputError):
                continue
            return

    def _write(self, path: Path) -> None:
        if not self._texts:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(path) as file:
            file.write(json.dumps(self._texts).encode())
        with contextlib.suppress(OSError):
            path.chmod(0o600)


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)}
