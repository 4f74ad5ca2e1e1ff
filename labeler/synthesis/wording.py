"""What a question's words give away: that it leans on its passage, or that it isn't one question.

Patterns for English, German, French, Spanish, Portuguese and Italian; other languages pass unless
a form that needs no words (two question marks, a list) shows.
"""

from __future__ import annotations

import re

from labeler.search.function_words import FUNCTION_WORDS
from labeler.search.words import compatible, tokens

__all__ = ["has_superlative", "leans_on_passage", "not_one_question", "repeated_word"]

_FEWEST_WORDS = 3
_SHORT_WORD = 4

_LEANING = re.compile(
    r"\b(?:the|this|that|these|above|given|following|provided)\s+"
    r"(?:(?:above|given|following|provided)\s+)?"
    r"(?:passage|text|document|article|author|writer|excerpt|paragraph|snippet|context)\b"
    r"|\b(?:de[rsm]|das|die|dies\w{0,2})\s+(?:text\w{0,2}|abschnitt|dokument|artikel|autor)\b"
    r"|\b(?:le|la|ce|cet|cette|du|el|este|esta|il|lo|questo|o|neste|nesse|no|na|nel|del|do|da)\s+"
    r"(?:texte|extrait|auteur|paragraphe|pasaje|texto|art[íi]culo|artigo|trecho|autore?|testo"
    r"|brano|articolo)\b"
    r"|\bl['’](?:article|auteur|extrait|autore|articolo)\b"
    r"|\baccording to (?:it|this|that|him|her|them)\b"
    r"|\b(?:mentioned|described|listed|stated|shown|discussed)\s+(?:above|below|here)\b"
    r"|\bthe aforementioned\b",
    re.IGNORECASE,
)
# A question about "it" or "they" with nothing before that could be meant.
_ORPHAN = re.compile(
    r"^(?:and\s+)?(?:what|when|where|who|why|how|which|does|do|did|is|are|was|were|can|could|will"
    r"|should|has|have|had|how (?:much|many|long|often))\s+(?:\w+\s+){0,2}?"
    r"(?:it|its|they|them|their|this|that|these|those|he|she|his|her|him)\b"
    r"(?!\s+(?:take|takes|cost|costs|mean|means|possible|necessary|safe|legal|necessary|true"
    r"|allowed|required|normal|okay|ok|better|worth|rain|rains|snow|snows))",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\b(?:what|who)\s+(?:is|are|was|were)\s+(?:it|they|this|that|these|those|he|she)\s*\?",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"^\s*(?:here (?:is|are)|sure\b|certainly|of course|question\s*\d*\s*[:.]|q\s*\d*\s*[:.]"
    r"|\d+\s*[.)]\s|[-*•]\s|two questions|hier (?:ist|sind)|voici|aqu[íi] (?:est[áa]|hay|tiene)"
    r"|aqui (?:est[áa]|vai)|ecco)",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"```|</?\w+>|[{}\[\]|]|\*\*|https?://|\bpassage\s*:|\banswer\s*:", re.IGNORECASE
)
_SECOND = re.compile(
    r"[?？؟].*\w|,?\s+(?:and|und|et|y|e)\s+(?:also\s+)?(?:what|when|where|who|why|how|which|was|wann"
    r"|wo|wer|warum|wie|qu[ée]|cu[áa]ndo|d[óo]nde|c[óo]mo|quand|o[ùu]|pourquoi|quando|onde|come)\b"
    r".*[?？]",
    re.IGNORECASE | re.DOTALL,
)
_SUPERLATIVE = re.compile(
    r"\b(?:most|best|main|mainly|worst|largest|biggest|greatest|highest|lowest|oldest|fastest"
    r"|easiest|hardest|primary|difference between)\b",
    re.IGNORECASE,
)


def leans_on_passage(question: str) -> str:
    """Tell why a question makes no sense to somebody without its passage; empty when it does."""
    plain = compatible(question).strip()
    if found := _LEANING.search(plain):
        return f"speaks of '{found.group()}'"
    if found := _NOTHING_ELSE.search(plain) or _ORPHAN.search(plain):
        return f"nothing says what is meant by '{found.group().split()[-1].rstrip('?')}'"
    terms = tokens(plain)
    if len(terms) < _FEWEST_WORDS and plain.isascii():
        return f"has {len(terms)} words"
    return ""


def not_one_question(question: str) -> str:
    """Tell why a text is more or less than one question; empty when it is one."""
    plain = compatible(question).strip()
    if "\n" in plain:
        return "stands on several lines"
    if _PREFACE.search(plain):
        return "begins with words about the question, or as a list"
    if found := _MARKUP.search(plain):
        return f"holds '{found.group()}', which no question does"
    if _SECOND.search(plain) and " between " not in plain:
        return "asks a second question"
    return ""


def has_superlative(question: str) -> str:
    """Give the first superlative, or "difference between", of a question; empty for none.

    English ones only. A passage seldom says what is best, or tells two things apart.
    """
    found = _SUPERLATIVE.search(compatible(question))
    return found.group() if found else ""


def repeated_word(question: str) -> str:
    """Give the first word of content that a question says twice; empty for none.

    "How long does it take to return a return?" has no answer. Words of fewer than four letters and
    small words of any language are left aside, an s at the end too.
    """
    seen: set[str] = set()
    for term in tokens(question):
        if len(term) < _SHORT_WORD or any(term in words for words in FUNCTION_WORDS.values()):
            continue
        word = term.removesuffix("s")
        if word in seen:
            return term
        seen.add(word)
    return ""
