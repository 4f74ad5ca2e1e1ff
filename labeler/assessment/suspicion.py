"""Signs that a passage was written to sway a judge. A flag sends the item to people.

The patterns are kept narrow: what they miss costs a label that the audit may find, what they flag
without need costs a reviewer's time on every run. They read the passage alone; a query that talks
to the judge changes nothing about the passage.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from labeler.search.lexical import tokens

__all__ = ["FLAGS", "flags"]

FLAGS = ("addresses_judge", "fakes_answer", "stuffs_query")
"""All flags that `flags` gives, in its order."""

_GRADE = r"(?:(?:fully|highly|perfectly|partially|very)[\s_-]relevant|relevant\s*[=:]\s*[1-3])"
_JUDGE = r"(?:judge|grader|assessor|annotator|evaluator|rater|labell?er)"
_WORDS = r"(?:\w+\s+){0,3}"
_QUOTE = r"[\"'“”‘’`]?"
_KEY = r"(?:label|grade|relevance|relevance_score|level|verdict|rating)"


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.IGNORECASE | re.MULTILINE) for source in sources)


_ADDRESSES_JUDGE = _patterns(
    # "ignore all instructions above", "disregard the previous prompt", and cousins
    r"\b(?:ignore|disregard|forget|override)\s+"
    r"(?:(?:all|any|every|the|these|those|your|of|previous|prior|above|earlier|other)\s+){1,4}"
    r"(?:instructions?|prompts?|rubrics?|guidelines|system\s+message)\b",
    rf"\bignor(?:ez|a|e|iere)\s+{_WORDS}"
    r"(?:instrucciones|instructions\s+pr\w+|instruções|anweisungen)\b",
    # A text may speak of a judge in court; one that is told how to answer is another.
    rf"\byou\s+are\s+now\s+(?:an?|the)\s+{_WORDS}{_JUDGE}\b",
    rf"\byou\s+are\s+(?:an?|the)\s+{_WORDS}(?:relevance|search|retrieval)\s+{_JUDGE}\b",
    rf"\byou\s+are\s+(?:an?|the)\s+{_WORDS}{_JUDGE}\s+(?:that|who|which)\s+(?:only|always)\b",
    rf"\b(?:dear|attention|note\s+to(?:\s+the)?)\s+(?:\w+\s+)?{_JUDGE}\b",
    rf"\b(?:answer|respond|reply|output|label|rate|grade|mark|score)\s+{_WORDS}{_QUOTE}{_GRADE}",
    rf"\bthis\s+(?:passage|document|text|result)\s+(?:is|must\s+be|should\s+be)\s+{_WORDS}{_GRADE}",
    r"^\s*system\s*(?:prompt|message)?\s*:\s*you\b",
)

_FAKES_ANSWER = _patterns(
    # a verdict in JSON: {"label": "fully", ...} or {"grade": 3}
    rf"[{{,]\s*[\"']{_KEY}[\"']\s*:\s*[\"']?(?:(?:fully|partially|not|highly|perfectly|relevant)"
    r"|[0-3][\"']?\s*[,}])",
    rf"\bfinal\s+(?:score|grade|label|answer|verdict)\s*[:=]\s*{_QUOTE}(?:[0-3]\b|fully)",
    r"^\s*(?:label|grade|relevance)\s*[:=]\s*(?:[0-3]\s*$|(?:fully|partially|not)\b)",
    # the end of a prompt's section, a chat template's marks, a chain of thought
    r"</?\s*(?:passage|document|query|instructions?|rubric|system)\s*>\s*(?:\n|$)",
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id)\|>|\[/?INST\]|<<SYS>>",
    r"</?think(?:ing)?>",
)

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")

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
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", passage))
    found = (
        any(pattern.search(plain) for pattern in _ADDRESSES_JUDGE),
        any(pattern.search(plain) for pattern in _FAKES_ANSWER),
        stuffs_query(tokens(query), tokens(plain)),
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
