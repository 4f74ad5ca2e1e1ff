"""Prompt files: a TOML header between +++ lines, a system message, a mark, a user message.

Placeholders stand in braces and are filled in one pass, so what a passage holds is never taken for
one. What a header holds, and which placeholders there are, is for the prompt's own kind to say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeler.errors import Fault, InputError

__all__ = ["PromptFile", "fill", "read_prompt_file"]

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_HEADER = re.compile(r"\A\+\+\+\n(.*?)^\+\+\+\n(.*)\Z", re.DOTALL | re.MULTILINE)
_USER_MARK = "--- user ---\n"


@dataclass(frozen=True)
class PromptFile:
    """The parts of a prompt file.

    Attributes:
        header: The TOML header.
        system: The system message, with placeholders; empty for none.
        user: The user message, with placeholders.
        text: The whole file, its line ends made alike.
        placeholders: Name and line of each placeholder, in their order.
        faults: What is wrong with the body, whatever its kind.
    """

    header: Mapping[str, Any]
    system: str
    user: str
    text: str
    placeholders: tuple[tuple[str, int], ...]
    faults: tuple[Fault, ...]


def read_prompt_file(text: str, *, path: str) -> PromptFile:
    """Part a prompt file.

    Args:
        text: The file's text.
        path: Names the file in faults.

    Raises:
        InputError: When there is no header, or it isn't TOML.
    """
    text = text.replace("\r\n", "\n")
    parts = _HEADER.match(text)
    if parts is None:
        raise InputError([Fault(path, 1, "a prompt begins with a TOML header between +++ lines")])
    try:
        header = tomllib.loads(parts[1])
    except tomllib.TOMLDecodeError as error:
        raise InputError([Fault(path, None, f"the header is not TOML: {error}")]) from None
    system, mark, user = parts[2].partition(_USER_MARK)
    missing = Fault(path, None, f"the line '{_USER_MARK.strip()}' is missing")
    return PromptFile(
        header=header,
        system=system.strip(),
        user=user.strip(),
        text=text,
        placeholders=tuple(
            (place[1], text.count("\n", 0, place.start()) + 1)
            for place in _PLACEHOLDER.finditer(text, parts.start(2))
        ),
        faults=() if mark else (missing,),
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in the place of placeholders, in one pass; one without a value stays."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
