"""Words: what a term is, in any script, and where in a text each one stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

__all__ = ["Findable", "Word", "compatible", "loosened", "tokens", "words"]


def _marks(*blocks: range) -> str:
    """List the combining marks of some blocks, as ranges of a character class."""
    ranges: list[list[int]] = []
    for code in (code for block in blocks for code in block):
        if unicodedata.category(chr(code)).startswith("M"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Three times as quick as the next one, and the same for texts of ASCII.
_ASCII_WORD = re.compile(r"[^\W_]+", re.ASCII)

# Combining marks: vowel signs and points belong to the word, although `\w` leaves them out.
_WORD = re.compile(rf"(?:[^\W_]|[{_marks(range(0x300, 0x1D00))}])+")

# Accents, the points of Hebrew and Arabic, and the stroke that lengthens Arabic words.
_LOOSE = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670]")

# Scripts written without blanks between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese).
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@cache
def _pieces() -> re.Pattern[str]:
    """Split a text into pieces of which each can be normalized by itself."""
    # What a normal form may join with the character before it: marks, the vowels and finals of
    # Korean syllables, and the half-width sound marks and letters that become such.
    joining = (
        _marks(range(0x300, 0x20000), range(0xE0100, 0xE01F0))
        + "\u1160-\u11ff\ud7b0-\ud7fb\uff9e\uff9f\uffa0-\uffdc"
    )
    return re.compile(rf"[\x00-\x7f]+(?![{joining}])|.[{joining}]*", re.DOTALL)


_MOST_MARKS = 30
"""Of a run of combining marks so many are kept."""


@dataclass(frozen=True, slots=True)
class Word:
    """A term, and where the characters that it was made from stand in a text."""

    term: str
    start: int
    end: int


def compatible(text: str) -> str:
    """Bring a text to NFKC. Of a run of combining marks the first 30 are kept.

    No word has as many, and normalizing takes time with the square of the run (the same limit as
    the Stream-Safe Text Format of Unicode Standard Annex 15).
    """
    others = len(text) - len(text.encode("ascii", "ignore"))
    if others > _MOST_MARKS:
        text = _long_runs().sub(r"\1", text)
    return unicodedata.normalize("NFKC", text) if others else text


@cache
def _long_runs() -> re.Pattern[str]:
    marks = _marks(range(0x300, 0x20000))
    return re.compile(rf"([{marks}]{{{_MOST_MARKS}}})[{marks}]+")


def tokens(text: str) -> list[str]:
    """Split a text into terms, in the order of the text.

    The text is brought to NFKC and case-folded; a term is a run of letters, digits and combining
    marks. Runs in scripts that put no blanks between words become overlapping pairs of characters,
    a single character stays single (as Lucene's CJKAnalyzer does). No stemming, no stop words.
    """
    folded = compatible(text).casefold()
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    if not _UNSPACED.search(folded):
        return _WORD.findall(folded)
    found: list[str] = []
    for match in _WORD.finditer(folded):
        word = match.group()
        found.extend(word[start:end] for start, end in _split_scripts(word))
    return found


def words(text: str) -> Iterator[Word]:
    """Give the terms of `tokens` with their places.

    A character that stands for several letters, such as a ligature, is the place of each of them.
    """
    if text.isascii():
        for match in _WORD.finditer(text.casefold()):
            yield Word(match.group(), match.start(), match.end())
        return
    folded, starts, ends = _folded(text, _fold)
    for match in _WORD.finditer(folded):
        word, first = match.group(), match.start()
        for start, end in _split_scripts(word):
            yield Word(word[start:end], starts[first + start], ends[first + end - 1])


def _split_scripts(word: str) -> Iterator[tuple[int, int]]:
    """Tell where the terms of a word begin and end."""
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield end, run.start()
        end = run.end()
        if end - run.start() == 1:
            yield run.span()
        else:
            yield from ((at, at + 2) for at in range(run.start(), end - 1))
    if end < len(word):
        yield end, len(word)


def loosened(term: str) -> str:
    """Leave out accents and vowel points, so that what is typed without them is found as well.

    Marks that make another letter stay: the signs of Indic scripts, the sound marks of Kana.
    """
    decomposed = unicodedata.normalize("NFD", term)
    return unicodedata.normalize("NFC", _LOOSE.sub("", decomposed))


class Findable:
    """A text in which phrases are looked for, whatever their case, accents and blanks.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self._folded, self._starts, self._ends = _folded(text, _fold_loosely)

    def places(self, phrase: str) -> list[tuple[int, int]]:
        """Give where a phrase stands: for each place its first character, and after its last."""
        parts = [re.escape(_folded(part, _fold_loosely)[0]) for part in phrase.split()]
        parts = [part for part in parts if part]
        if not parts:
            return []
        return [
            (self._starts[found.start()], self._ends[found.end() - 1])
            for found in re.finditer(r"\s+".join(parts), self._folded)
        ]


def _folded(text: str, fold: Callable[[str], str]) -> tuple[str, list[int], list[int]]:
    """Normalize and fold a text, and tell of each character which ones it was made from."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _pieces().finditer(text):
        piece, (start, end) = match.group(), match.span()
        if piece.isascii():
            pieces.append(piece.casefold())
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            folded = fold(piece)
            pieces.append(folded)
            starts += [start] * len(folded)
            ends += [end] * len(folded)
    return "".join(pieces), starts, ends


@lru_cache(maxsize=4096)
def _fold(piece: str) -> str:
    return unicodedata.normalize("NFKC", piece).casefold()


@lru_cache(maxsize=4096)
def _fold_loosely(piece: str) -> str:
    return loosened(_fold(piece))
