"""Which stretches of a passage stand out: words of the query, and what is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from labeler.assessment.blind import BlindQuery
from labeler.search.function_words import telling
from labeler.search.words import loosened, tokens, words

__all__ = ["query_terms", "stretches", "terms_in"]

_AROUND = 200
"""Characters before and after a line in which the ends of its words are looked for."""

_BETWEEN = re.compile(r"[\s、。，．！？「」（）]")
"""Signs that no word goes on across, in scripts with blanks and without."""


def query_terms(query: BlindQuery) -> frozenset[str]:
    """Give the words of a query that stand out in a passage: as search terms, without accents.

    Words that hold a sentence together are left out, unless there are no others.
    """
    return frozenset(map(loosened, telling(tokens(query.text), query.language)))


def terms_in(text: str, start: int, end: int, terms: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Give where words of a query stand in a part of a text, first to last.

    Only the surroundings of the part are read, so that any length of text is quick. A word counts
    whole: of a part that begins or ends within a word, what is inside is given.

    Args:
        text: The text.
        start: Where the part begins.
        end: Where it ends.
        terms: The terms, as `query_terms` makes them.
    """
    if not terms:
        return
    first = max(0, start - _AROUND)
    before = [found.end() for found in _BETWEEN.finditer(text, first, start)]
    first = before[-1] if before else first
    after = _BETWEEN.search(text, end, min(len(text), end + _AROUND))
    last = after.start() if after else min(len(text), end + _AROUND)
    is_cut = bool(first and not before), bool(last < len(text) and not after)
    for word in words(text[first:last]):
        place = word.start + first, word.end + first
        # Of a word that goes on beyond the surroundings nobody knows what it is.
        if (is_cut[0] and place[0] == first) or (is_cut[1] and place[1] == last):
            continue
        if place[1] > start and place[0] < end and loosened(word.term) in terms:
            yield max(place[0], start), min(place[1], end)


def stretches(
    start: int, end: int, marks: list[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Divide a line into stretches of one style each.

    Args:
        start: Where the line begins.
        end: Where it ends.
        marks: Begin, end and style of what stands out; a later one lies over an earlier one.

    Yields:
        Begin, end and style; the style of what doesn't stand out is empty.
    """
    edges = {start, end}
    for first, last, _ in marks:
        edges |= {max(first, start), min(last, end)}
    ordered = sorted(edge for edge in edges if start <= edge <= end)
    for one, other in pairwise(ordered):
        covering = [style for first, last, style in marks if first <= one and other <= last]
        yield one, other, covering[-1] if covering else ""
