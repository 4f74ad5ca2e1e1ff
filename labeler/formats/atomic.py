"""Write a file as a whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from labeler.errors import OutputError

__all__ = ["is_stream", "replacing"]

_OF_DEVICES = (Path("/dev"), Path("/dev/fd"))


def is_stream(path: Path) -> bool:
    """Tell whether a path is a device or a pipe, such as ``/dev/stdout``, and no file.

    ``/dev/stdout`` is one also where the shell has sent it to a file: nothing takes its place.
    """
    if path.absolute().parent in _OF_DEVICES:
        return True
    return path.exists() and not path.is_file()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to; it takes the place of ``path`` when the block ends well.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then renamed.
    After an error the old file is as it was and the temporary one is gone. A symbolic link is
    followed, so that the link stays and its target is replaced. An existing file keeps its mode.
    What isn't a file, such as ``/dev/stdout`` or a pipe, is written to directly.

    Raises:
        OutputError: When it can't be written.
    """
    try:
        with _replacing(path) as file:
            yield file
    except BrokenPipeError:  # whoever read it has gone away: no fault of the file
        raise
    except FileNotFoundError:
        raise OutputError(
            f"{path} can't be written: there is no folder {path.parent}",
            hint="make the folder first",
        ) from None
    except OSError as error:
        raise OutputError(
            f"{path} can't be written: {error.strerror or error}", hint="name another file"
        ) from None


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))
    if is_stream(path):
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
