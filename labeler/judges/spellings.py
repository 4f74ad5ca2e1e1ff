"""The words that a judge may write for a level of a scale."""

from __future__ import annotations

from collections.abc import Iterator

from labeler.labels import CANNOT_JUDGE, Scale
from labeler.providers.reading import folded

__all__ = ["spellings_of"]

_ABSTAIN = "?"
_ABSTENTIONS = (_ABSTAIN, CANNOT_JUDGE, "can't judge", "unrateable", "abstain")


def spellings_of(scale: Scale) -> dict[str, str]:
    """Give what each accepted spelling stands for: a level's code as text, or "?" for abstaining.

    Accepted are the codes, names and spellings that the scale itself states, and a few words for
    an abstention. A word that would mean two things is left out.
    """
    meanings: dict[str, set[str]] = {}
    words: dict[str, str] = {}
    for word, code in _stated(scale):
        meanings.setdefault(folded(word), set()).add(code)
        words.setdefault(word, code)
    for word in _ABSTENTIONS:
        if folded(word) not in meanings:
            words[word] = _ABSTAIN
    return {
        word: code for word, code in words.items() if len(meanings.get(folded(word), {code})) == 1
    }


def _stated(scale: Scale) -> Iterator[tuple[str, str]]:
    for level in scale.levels:
        for word in (str(level.code), level.name, *level.spellings):
            yield word, str(level.code)
