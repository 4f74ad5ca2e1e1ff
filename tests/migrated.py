"""Databases that are migrated once, then copied: a test that makes one waits for no migration."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from labeler.store import database
from labeler.store.location import Location
from labeler.store.schema import bring_up_to_date


@contextmanager
def copied_when_made(folder: Path) -> Iterator[None]:
    """Let every SQLite file that this process makes begin as a copy of one that was migrated.

    A file that is there already goes through its migrations as ever, and so does whatever a
    process of its own makes.
    """
    template = folder / "template.db"

    def brought(read: Callable[..., Any], *rest: Any) -> None:
        store: database.Store = read.__self__  # type: ignore[attr-defined]
        if store.is_sqlite and not store.location.path.exists():
            _copy(template, store.location.path)
        bring_up_to_date(read, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "bring_up_to_date", brought)
        yield


def _copy(template: Path, path: Path) -> None:
    """Put a copy in place, unless another thread or process was faster or no file can be there."""
    if path == template:
        return
    if not template.exists():
        database.open_store(Location(str(template)), create=True).close()
    whole = path.with_name(f"{path.name}.{os.getpid()}.copy")
    with suppress(OSError):
        shutil.copyfile(template, whole)
        os.link(whole, path)
    whole.unlink(missing_ok=True)
