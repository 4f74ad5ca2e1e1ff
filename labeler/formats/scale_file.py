"""Scales by name or from a file."""

from __future__ import annotations

from pathlib import Path

from labeler.formats.text_file import read_text_file
from labeler.labels import Scale, parse_scale, shipped_scale

__all__ = ["scale_named"]


def scale_named(name: str) -> Scale:
    """Find a scale: a shipped one by name, or one in a TOML file.

    Raises:
        InputError: When the file can't be read.
        UsageError: When it holds no scale.
        NotFoundError: When there is neither.
    """
    if not name.endswith(".toml"):
        return shipped_scale(name)
    return parse_scale(read_text_file(Path(name)))
