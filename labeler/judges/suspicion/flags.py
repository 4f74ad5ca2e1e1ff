"""The flags of a passage that was written to sway a judge. A flag sends the item to people.

The signs are kept narrow: what they miss costs a label that the audit may find, what they flag
without need costs a reviewer's time on every run. They read the passage alone; a query that talks
to the judge changes nothing about the passage. What they are is in `orders_to_judges`,
`orders_abroad` and `fake_answers`; `disguises` undoes what would hide them.
"""

from __future__ import annotations

from collections import Counter

from labeler.judges.suspicion.disguises import folded, readings
from labeler.judges.suspicion.fake_answers import shows_fake_answer
from labeler.judges.suspicion.orders_abroad import ORDERS_ABROAD
from labeler.judges.suspicion.orders_to_judges import ORDERS
from labeler.judges.suspicion.signs import is_shown
from labeler.search.lexical import tokens

__all__ = ["FLAGS", "flags"]

FLAGS = ("addresses_judge", "fakes_answer", "stuffs_query")
"""All flags that `flags` gives, in its order."""

_STUFFED_LENGTH = 20
_STUFFED_SHARE = 0.6
_STUFFED_REPEATS = 4.0
_STUFFED_PHRASES = 5


def flags(query: str, passage: str) -> tuple[str, ...]:
    """Tell the signs that a passage shows, in the order of `FLAGS`.

    - ``addresses_judge``: it gives a judge orders or claims a grade for itself.
    - ``fakes_answer``: it holds what looks like a judge's answer or the end of a prompt's section.
    - ``stuffs_query``: the query's words, again and again (see `stuffs_query`).
    """
    read = readings(passage)
    found = (
        any(is_shown((*ORDERS, *ORDERS_ABROAD), text) for text in read),
        any(shows_fake_answer(text) for text in read),
        stuffs_query(tokens(folded(query)), tokens(read[0])),
    )
    return tuple(name for name, shown in zip(FLAGS, found, strict=True) if shown)


def stuffs_query(query_terms: list[str], passage_terms: list[str]) -> bool:
    """Tell whether a passage is made of the query's words.

    True when 60 % of 20 terms or more are terms of the query and each stands there 4 times on
    average, or when a query of three terms or more is repeated word for word 5 times.
    """
    if not query_terms or len(passage_terms) < _STUFFED_LENGTH:
        return False
    counts = Counter(passage_terms)
    wanted = set(query_terms)
    hits = sum(counts[term] for term in wanted)
    if hits >= _STUFFED_SHARE * len(passage_terms) and hits >= _STUFFED_REPEATS * len(wanted):
        return True
    if len(query_terms) < 3:  # noqa: PLR2004 - one or two words recur in any honest text
        return False
    phrase, text = " ".join(query_terms), " ".join(passage_terms)
    return (
        f" {text} ".replace(" ", "  ").count(f" {phrase} ".replace(" ", "  ")) >= _STUFFED_PHRASES
    )
