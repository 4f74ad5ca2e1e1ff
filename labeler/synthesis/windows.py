"""Where in a chunk the evidence stands: the words that a model copied, or the likest window."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from labeler.providers.embeddings import Embedder
from labeler.search.words import Findable, tokens

__all__ = [
    "EvidenceWindow",
    "best_window",
    "sentences",
    "span_of",
    "telling_sentences",
    "windows_of",
]

_SENTENCE_END = re.compile(r"(?<=[.!?。！？؟])[\"'”’)\]]*\s+|\n\s*\n|(?<=[。！？])|\n(?=[-*•])")
_MOST_CHARACTERS = 350
_SHORT_CHARACTERS = 30
_FEWEST_WORDS = 8
_MOST_EMBEDDED = 4
"""Windows of one text that are embedded: a long text has dozens, and each takes 0.2 s."""


@dataclass(frozen=True, slots=True)
class EvidenceWindow:
    """A part of a chunk's text: ``text[start:end]``.

    Attributes:
        start: Its first character.
        end: After its last character.
        similarity: The cosine of its embedding to the question's, or None where a model named it.
    """

    start: int
    end: int
    similarity: float | None = None


def sentences(text: str) -> list[tuple[int, int]]:
    """Tell where the sentences of a text stand, blanks at their ends left out."""
    found: list[tuple[int, int]] = []
    start = 0
    ends = [match.span() for match in _SENTENCE_END.finditer(text)]
    for end, after in [*ends, (len(text), len(text))]:
        stripped = text[start:end]
        left = start + len(stripped) - len(stripped.lstrip())
        right = start + len(stripped.rstrip())
        if right > left:
            found.append((left, right))
        start = after
    return found


def telling_sentences(text: str, *, but: str = "") -> list[str]:
    """List the sentences that a question can be about, those that say most first.

    A sentence has 8 words at least; one with a number comes before one without, then the longer
    one of those up to 350 characters.

    Args:
        text: A passage.
        but: What is left out, such as the passage's title.
    """
    found = [text[start:end] for start, end in sentences(text)]
    found = [one for one in found if len(tokens(one)) >= _FEWEST_WORDS and one != but]
    return sorted(
        found,
        key=lambda one: (
            not any(letter.isdigit() for letter in one),
            len(one) > _MOST_CHARACTERS,
            -len(one),
        ),
    )


def windows_of(text: str) -> list[tuple[int, int]]:
    """List the windows of a text: its sentences, a short one together with the one before it.

    A window is cut at 350 characters, so that a text without sentences has some too.
    """
    found: list[tuple[int, int]] = []
    for start, end in sentences(text):
        for at in range(start, end, _MOST_CHARACTERS):
            part = (at, min(at + _MOST_CHARACTERS, end))
            if (
                found
                and part[1] - part[0] < _SHORT_CHARACTERS
                and part[1] - found[-1][0] <= _MOST_CHARACTERS
            ):
                found[-1] = (found[-1][0], part[1])
            else:
                found.append(part)
    return found


def best_window(
    question: str, text: str, embedder: Embedder, *, title: str = ""
) -> EvidenceWindow | None:
    """Choose the window that is most like a question; of equal ones the first, then the shorter.

    A window is embedded under its title, where it doesn't hold it: what a sentence is about often
    stands there alone. Of a long text the four windows are embedded that share most words with the
    question. None for a text without words.
    """
    asked = set(tokens(question))

    def strange(window: tuple[int, int]) -> int:
        return len(asked.difference(tokens(text[slice(*window)])))

    windows = sorted(sorted(windows_of(text), key=strange)[:_MOST_EMBEDDED])
    if not windows:
        return None
    vector = embedder.queries([question])[0]
    parts = [text[start:end] for start, end in windows]
    if title:
        parts = [part if title in part else f"{title}\n{part}" for part in parts]
    vectors = embedder.passages(parts)
    scores = [float(one) for one in vectors @ vector]
    place = max(range(len(windows)), key=lambda one: (scores[one], -one))
    return EvidenceWindow(*windows[place], similarity=scores[place])


def span_of(text: str, span: str) -> EvidenceWindow | None:
    """Find the words that a model says it copied, white space, case and quotation marks aside.

    None where they don't stand there; an ellipsis between two parts is no copy.
    """
    wanted = span.strip().strip("\"'“”‘’«»").strip()
    if not wanted:
        return None
    places: Sequence[tuple[int, int]] = Findable(text).places(wanted)
    return EvidenceWindow(*places[0]) if places else None
