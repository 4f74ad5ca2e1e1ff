"""A sign that a text may show: a pattern, and words that are looked for first, since that is cheap.

Patterns are written in lower case and search folded text. None has two unbounded repetitions that
could share a character, so that the time they take grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from labeler.judges.suspicion.disguises import folded_pattern

__all__ = ["Sign", "is_shown", "sign"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign.

    Attributes:
        needs: Every text that matches holds one word of each group.
        pattern: What is searched for.
    """

    needs: tuple[tuple[str, ...], ...]
    pattern: re.Pattern[str]


def sign(needs: str, *parts: str) -> Sign:
    """Make a sign.

    Args:
        needs: Words, parted by blanks, of which every match holds one; after a bar come others, of
            which it holds one too.
        parts: The pattern, in parts; ``^`` and ``$`` stand for the ends of a line.
    """
    pattern = re.compile(folded_pattern("".join(parts)), re.MULTILINE)
    groups = folded_pattern(needs).split(" | ")
    return Sign(tuple(tuple(group.split()) for group in groups), pattern)


def is_shown(signs: Iterable[Sign], text: str) -> bool:
    """Tell whether a folded text shows any of the signs."""
    return any(
        all(any(word in text for word in group) for group in one.needs) and one.pattern.search(text)
        for one in signs
    )
