"""What databases in tests need to do once only: be migrated, and have their statements compiled."""

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


class Compiled(dict[tuple[Any, ...], Any]):
    """Compiled statements that all engines of one dialect share.

    SQLAlchemy keeps them for each engine apart: the first part of a key is the engine's dialect.
    """

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        """Give what an engine of the same dialect has compiled."""
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        if len(self) >= _STATEMENTS:
            self.clear()
        super().__setitem__((type(key[0]), *key[1:]), compiled)


_STATEMENTS = 2_000


@contextmanager
def quick_stores(folder: Path) -> Iterator[None]:
    """Let this process compile each statement once, and copy a database where it makes one.

    A SQLite file that is there already goes through its migrations as ever, and so does whatever
    another process makes.
    """
    template, compiled = folder / "template.db", Compiled()

    def brought(read: Callable[..., Any], *rest: Any) -> None:
        store: database.Store = read.__self__  # type: ignore[attr-defined]
        store.engine.update_execution_options(compiled_cache=compiled)
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
