"""Text from outside, made safe for a terminal.

A passage can hold escape sequences, bells, and direction overrides; none of them may reach the
terminal. Every control becomes a glyph that shows what it was.
"""

from __future__ import annotations

import re

__all__ = ["steady", "visible", "visible_line"]

_C0_END, _DELETE = 0x20, 0x7F

# Controls but newline and tab (C0, DEL, C1), what turns the direction of writing, the separators of
# lines and paragraphs, and halves of characters.
_DRIVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_JOINERS = re.compile("[\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def _glyph(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < _C0_END:  # C0 controls have pictures from U+2400 on
        return chr(0x2400 + code)
    if code == _DELETE:
        return "\u2421"
    return f"<U+{code:04X}>"


def visible(text: str) -> str:
    """Replace every control but newline and tab by a visible glyph; line ends become newlines."""
    return _DRIVING.sub(_glyph, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """Make a text safe and one line long, for tables and messages."""
    return visible(text.replace("\n", "\u2424").replace("\t", " "))


def steady(text: str) -> str:
    """Leave out what terminals draw in more than one width, so that a layout holds on all of them.

    The joiner of joined emoji goes, and they stand side by side; so do the sign that asks for an
    emoji's coloured form, and skin tones. Letters, marks and other signs stay as they are.
    """
    return _JOINERS.sub("", text)
