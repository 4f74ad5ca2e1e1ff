"""Scales by name or from a file."""

from __future__ import annotations

from pathlib import Path

from labeler.errors import UsageError
from labeler.labels import Scale, parse_scale, shipped_scale

__all__ = ["scale_named"]


def scale_named(name: str) -> Scale:
    """Find a scale: a shipped one by name, or one in a TOML file.

    Raises:
        UsageError: When the file holds no scale.
        NotFoundError: When there is neither.
    """
    if not name.endswith(".toml"):
        return shipped_scale(name)
    try:
        return parse_scale(Path(name).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the scale {name} can't be read: {error}") from None
