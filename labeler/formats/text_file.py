"""Small text files of the user's: settings of one command, such as a gate, a rubric or a policy."""

from __future__ import annotations

from pathlib import Path

from labeler.errors import Fault, InputError

__all__ = ["read_text_file"]


def read_text_file(path: Path) -> str:
    """Read a whole file as UTF-8, without its byte order mark.

    Raises:
        InputError: When there is no such file, or it can't be read as UTF-8; it says why.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        problem = "there is no such file"
    except IsADirectoryError:
        problem = "this is a folder; a file is wanted"
    except UnicodeDecodeError as error:
        problem = (
            f"this is no text in UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        )
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
    raise InputError([Fault(str(path), None, problem)], hint="name a text file that is there")
