"""Whether two questions ask the same: words, numbers and names compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labeler.search.words import compatible, tokens

__all__ = ["SAME_COSINE", "SAME_WORDS", "KnownQuestions", "Likeness", "marks_of", "normalised"]

SAME_WORDS = 90.0
"""rapidfuzz's token set ratio from which two questions have the same words."""
SAME_COSINE = 0.92
"""The cosine of e5 from which two questions may ask the same; near misses reach .97."""

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a question stands to the known one that is most like it.

    Attributes:
        name: The known one's id.
        words: The token set ratio, 0 to 100; 100 for equal texts.
        cosine: The cosine of their embeddings, or None where there are none.
        same_marks: Whether numbers and names agree.
        is_equal: Whether the normalised texts are equal.
    """

    name: str
    words: float
    cosine: float | None
    same_marks: bool
    is_equal: bool = False

    @property
    def is_same(self) -> bool:
        """Whether the two count as one question."""
        alike = self.words >= SAME_WORDS or (self.cosine is not None and self.cosine >= SAME_COSINE)
        return self.is_equal or (alike and self.same_marks)


def normalised(text: str) -> str:
    """Bring a question to its terms, so that case and punctuation are no difference."""
    return " ".join(tokens(text))


def marks_of(text: str) -> frozenset[str]:
    """List what tells near questions apart: numbers, names, and letters that stand alone.

    Names are words with a capital that isn't the sentence's first, or with two capitals.
    """
    plain = compatible(text)
    found = {number.strip(".,:/-") for number in _NUMBER.findall(plain)}
    for place, match in enumerate(_WORD.finditer(plain)):
        word = match.group()
        if word == "I":
            continue
        capitals = sum(letter.isupper() for letter in word)
        if capitals > 1 or (capitals and place) or (len(word) == 1 and word not in "aA"):
            found.add(word.casefold())
    return frozenset(found)


@dataclass
class KnownQuestions:
    """The questions that a new one is compared with: queries of all parts, and accepted ones.

    Attributes:
        texts: By id.
        vectors: Their embeddings as rows, in the same order; None where there are none.
    """

    texts: dict[str, str] = field(default_factory=dict)
    vectors: NDArray[np.float32] | None = None
    _equal: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, texts: Mapping[str, str], vectors: NDArray[np.float32] | None = None
    ) -> KnownQuestions:
        """Know questions."""
        known = cls(vectors=vectors)
        for name, text in texts.items():
            known.texts[name] = text
            known._equal.setdefault(normalised(text), name)
        return known

    def add(self, name: str, text: str, vector: NDArray[np.float32] | None) -> None:
        """Know one more."""
        self.texts[name] = text
        self._equal.setdefault(normalised(text), name)
        if vector is not None:
            row = vector.reshape(1, -1)
            self.vectors = row if self.vectors is None else np.vstack([self.vectors, row])

    def forget(self, name: str) -> None:
        """Know one less; nothing happens where it isn't known."""
        if name not in self.texts:
            return
        place = list(self.texts).index(name)
        del self.texts[name]
        self._equal = {}
        for other, text in self.texts.items():
            self._equal.setdefault(normalised(text), other)
        if self.vectors is not None:
            self.vectors = np.delete(self.vectors, place, axis=0)

    def likest(self, text: str, vector: NDArray[np.float32] | None) -> Likeness | None:
        """Find the known question that counts as the same, else the one most like it.

        None when none is known.
        """
        from rapidfuzz import fuzz, process, utils

        if not self.texts:
            return None
        equal = self._equal.get(normalised(text))
        if equal is not None:
            return Likeness(equal, 100.0, None, same_marks=True, is_equal=True)
        names = list(self.texts)
        ratios = process.cdist(
            [text],
            list(self.texts.values()),
            scorer=fuzz.token_set_ratio,
            processor=utils.default_process,
        )[0]
        cosines = self.vectors @ vector if vector is not None and self.vectors is not None else None
        near = set(_places(ratios, SAME_WORDS)) | {int(np.argmax(ratios))}
        if cosines is not None:
            near |= {*_places(cosines, SAME_COSINE), int(np.argmax(cosines))}
        marks = marks_of(text)
        found = [
            Likeness(
                names[place],
                float(ratios[place]),
                None if cosines is None else float(cosines[place]),
                marks_of(self.texts[names[place]]) == marks,
            )
            for place in sorted(near)
        ]
        return max(found, key=lambda one: (one.is_same, one.cosine or 0.0, one.words))


def _places(values: Sequence[float] | NDArray[np.float32], least: float) -> Iterable[int]:
    return (int(place) for place in np.flatnonzero(np.asarray(values) >= least))
