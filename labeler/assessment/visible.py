"""Text from outside, made safe for a terminal.

A passage can hold escape sequences, bells, and direction overrides; none of them may reach the
terminal. Every control becomes a glyph that shows what it was.
"""

from __future__ import annotations

import unicodedata

__all__ = ["visible", "visible_line"]

_KEPT = frozenset("\n\t")
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DELETE = 0x7F


def _glyph(character: str) -> str:
    code = ord(character)
    if code < 0x20:  # noqa: PLR2004 - C0 controls have pictures from U+2400 on
        return chr(0x2400 + code)
    if code == _DELETE:
        return "\u2421"
    if character in _DIRECTION or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return f"<U+{code:04X}>"
    return character


def visible(text: str) -> str:
    """Replace every control but newline and tab by a visible glyph; line ends become newlines."""
    text = text.replace("\r\n", "\n")
    return "".join(
        character if character in _KEPT or character.isprintable() else _glyph(character)
        for character in text
    )


def visible_line(text: str) -> str:
    """Make a text safe and one line long, for tables and messages."""
    return visible(text.replace("\n", "\u2424").replace("\t", " "))
