"""In which language a short text is, as far as its script and its small words tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from labeler.search.function_words import FUNCTION_WORDS
from labeler.search.words import tokens

__all__ = ["language_of", "speaks"]

_SCRIPTS = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CJK": "zh",
    "ARABIC": "ar",
    "HEBREW": "he",
    "THAI": "th",
    "GREEK": "el",
    "DEVANAGARI": "hi",
    "CYRILLIC": "ru",
}
_SHARED_SCRIPTS = {
    "ar": frozenset({"ar", "fa", "ur", "ps"}),
    "ru": frozenset({"ru", "uk", "bg", "sr", "mk", "be", "kk"}),
    "hi": frozenset({"hi", "mr", "ne", "sa"}),
    "zh": frozenset({"zh", "ja", "yue"}),
    "ja": frozenset({"ja"}),
    "he": frozenset({"he", "yi"}),
}
_LETTER = re.compile(r"[^\W\d_]")
_FEWEST = 2


def language_of(text: str) -> str | None:
    """Tell the language of a text; None where its words don't tell.

    Another script than the Latin one tells by itself. Of the languages with a list of small words
    the one whose words stand there most often is taken, when there are two at least and more than
    of any other.
    """
    scripts = Counter(_script(letter) for letter in _LETTER.findall(text))
    if not scripts:
        return None
    kana = scripts["ja"]
    named, count = scripts.most_common(1)[0]
    if kana and named in {"zh", "ja"}:
        return "ja"
    if named != "latin" and count * 2 >= scripts.total():
        return named
    terms = tokens(text)
    found = Counter(
        {
            language: sum(term in words for term in terms)
            for language, words in FUNCTION_WORDS.items()
        }
    )
    (first, most), (_, second) = found.most_common(2)
    return first if most >= _FEWEST and most > second else None


def speaks(text: str, language: str) -> bool | None:
    """Tell whether a text is in a language, by the first part of its tag; None when unclear."""
    wanted = language.partition("-")[0].casefold()
    found = language_of(text)
    if found is None:
        return None
    if found in FUNCTION_WORDS and wanted not in FUNCTION_WORDS:
        # Small words of a language that is on no list may look like those of another.
        return None if found not in _SHARED_SCRIPTS else wanted in _SHARED_SCRIPTS[found]
    return wanted == found or wanted in _SHARED_SCRIPTS.get(found, ())


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    return _SCRIPTS.get(name, "latin" if name == "LATIN" else "other")
