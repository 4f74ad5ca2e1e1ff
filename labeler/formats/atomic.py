"""Write a file as a whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to; it takes the place of ``path`` when the block ends well.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then renamed.
    After an error the old file is as it was and the temporary one is gone. A symbolic link is
    followed, so that the link stays and its target is replaced. An existing file keeps its mode.
    What isn't a file, such as ``/dev/stdout`` or a pipe, is written to directly.

    Raises:
        OSError: When the folder can't be written to.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    temporary = target.parent / f".{target.name[:80]}.{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself last; not every system lets a folder be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
