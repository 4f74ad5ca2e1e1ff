"""Write a file as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to; it takes the place of ``path`` when the block ends well.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then renamed.
    After an error the old file is as it was and the temporary one is gone. A symbolic link is
    followed, so that the link stays and its target is replaced. An existing file keeps its mode.

    Raises:
        OSError: When the folder can't be written to.
    """
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:80]}.", suffix=".tmp", dir=target.parent
    )
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield cast("BinaryIO", file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int:
    """Give the mode of the old file, or the one that a new file gets (mkstemp's is 0600)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself last; not every system lets a folder be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
