"""Grades, states, outcomes and scales. Nothing else in Labeler defines them.

A *scale* has *levels*, and every level maps to a *grade*. Agreement and nDCG use a scale's levels
and gains; decisions, recall and routing use grades. The mapping is part of the scale, so it is
always explicit, stored with its digest, and printed by the commands that use it.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from itertools import pairwise

from labeler.errors import NotFoundError, UsageError

__all__ = [
    "BINARY",
    "CANNOT_JUDGE",
    "NATIVE",
    "SHIPPED_SCALES",
    "TREC",
    "Grade",
    "Level",
    "Outcome",
    "Scale",
    "State",
    "StateCode",
    "parse_scale",
    "scales_that_fit",
    "shipped_scale",
    "state_of",
]

CANNOT_JUDGE = "cannot_judge"
"""How an abstention is written in files and on screen; in a judgment its grade is null."""


class Grade(StrEnum):
    """How relevant a passage is to a query, from best to worst."""

    FULLY_RELEVANT = "fully_relevant"
    PARTIALLY_RELEVANT = "partially_relevant"
    NOT_RELEVANT = "not_relevant"


class State(StrEnum):
    """What is known of an item's relevance. Unknown is never not relevant."""

    RELEVANT = "relevant"
    NOT_RELEVANT = "not_relevant"
    UNKNOWN = "unknown"


class StateCode(IntEnum):
    """States as numbers for arrays; a code is never a truth value."""

    RELEVANT = 1
    NOT_RELEVANT = 0
    UNKNOWN = -1


class Outcome(StrEnum):
    """How one attempt to judge an item ended."""

    JUDGED = "judged"
    ABSTAINED = "abstained"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"


def state_of(grade: Grade | None) -> State:
    """Tell the state that a grade stands for: partially relevant is relevant, None is unknown."""
    if grade is None:
        return State.UNKNOWN
    return State.NOT_RELEVANT if grade is Grade.NOT_RELEVANT else State.RELEVANT


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a scale.

    Attributes:
        code: The number in files, such as a TREC qrels column.
        name: The word in files and on screen.
        grade: The grade that this level maps to.
        gain: The gain for nDCG, 0 or more.
        order: The position from worst (0) to best; unique within a scale.
        spellings: Other words that mean this level in files.
    """

    code: int
    name: str
    grade: Grade
    gain: float
    order: int
    spellings: tuple[str, ...] = ()


_CODE = re.compile(r"\s*[+-]?\d{1,9}(\.0*)?\s*", re.ASCII)


def _folded(word: str) -> str:
    if _CODE.fullmatch(word):  # a sign is no hyphen: -1 and 1 are two codes
        return str(int(float(word)))
    return re.sub(r"[\s_-]+", " ", word).strip().casefold()


@dataclass(frozen=True)
class Scale:
    """A named scale with its levels.

    Raises:
        UsageError: When levels share a code, a name, an order or a spelling, when there are fewer
            than two, or when a gain is negative or not finite.
    """

    name: str
    levels: tuple[Level, ...]
    _by_word: dict[str, Level] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.levels) < 2:  # noqa: PLR2004 - a scale with one level tells nothing
            raise UsageError(f"scale '{self.name}' lacks a level; 2 are the least")
        for attribute in ("code", "name", "order"):
            values = [getattr(level, attribute) for level in self.levels]
            if len(set(values)) < len(values):
                raise UsageError(f"scale '{self.name}' has two levels with the same {attribute}")
        by_word: dict[str, Level] = {}
        for level in self.levels:
            if not 0 <= level.gain < float("inf"):
                raise UsageError(
                    f"scale '{self.name}', level '{level.name}': a gain is a number of 0 or more"
                )
            for word in (level.name, *level.spellings):
                other = by_word.setdefault(_folded(word), level)
                if other is not level:
                    raise UsageError(f"scale '{self.name}': '{word}' means two levels")
        object.__setattr__(self, "_by_word", by_word)

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that decides what a label on this scale means."""
        content = [
            [level.code, level.name, level.grade.value, level.gain, level.order]
            for level in sorted(self.levels, key=lambda level: level.order)
        ]
        return hashlib.sha256(json.dumps([self.name, content]).encode()).hexdigest()

    @property
    def codes(self) -> frozenset[int]:
        """All codes of the scale."""
        return frozenset(level.code for level in self.levels)

    def level(self, code: int) -> Level:
        """Find a level by its code.

        Raises:
            NotFoundError: When the scale has no such code.
        """
        for level in self.levels:
            if level.code == code:
                return level
        raise NotFoundError(f"scale '{self.name}' has no code {code}", hint=self.describe())

    def level_for(self, grade: Grade) -> Level | None:
        """Give the level that stands for a grade: the one nearest to it with the lowest order.

        The lowest is taken so that going from a grade to a level never claims more than was said.
        """
        fitting = [level for level in self.levels if level.grade is grade]
        return min(fitting, key=lambda level: level.order) if fitting else None

    def read(self, value: object) -> Level | None:
        """Read a level as it stands in a file, or None when it isn't one of this scale.

        A word must be a level's name or one of its stated spellings (case, blanks, ``_`` and ``-``
        aside). A number, or a text that holds just a number, must be a code: ``1``, ``"1"``,
        ``1.0`` and ``"1.0"`` are the same. A bool is never a level, although Python's True
        equals 1.
        """
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, str):
            word = self._by_word.get(_folded(value))
            if word is not None:
                return word
            if not _CODE.fullmatch(value):
                return None
            value = float(value)
        if isinstance(value, int | float) and value in self.codes:
            return self.level(int(value))
        return None

    def describe(self) -> str:
        """Print the mapping on one line, best level first."""
        ordered = sorted(self.levels, key=lambda level: level.order, reverse=True)
        return f"{self.name}: " + ", ".join(
            f"{level.code}={level.grade.value}"
            if level.name == level.grade.value
            else f"{level.code}={level.name} ({level.grade.value})"
            for level in ordered
        )

    @classmethod
    def from_codes(cls, name: str, mapping: Mapping[int, Grade]) -> Scale:
        """Make a scale from codes and grades alone.

        Codes of one grade share its gain (2, 1 or 0) and stand in the order of the mapping, first
        is best.
        """
        gains = {
            Grade.FULLY_RELEVANT: 2.0,
            Grade.PARTIALLY_RELEVANT: 1.0,
            Grade.NOT_RELEVANT: 0.0,
        }
        best_first = sorted(mapping.items(), key=lambda pair: -gains[pair[1]])
        top = len(best_first) - 1
        return cls(
            name,
            tuple(
                Level(code, str(code), grade, gains[grade], top - place)
                for place, (code, grade) in enumerate(best_first)
            ),
        )

    def with_spellings(self, words: Mapping[str, Level]) -> Scale:
        """Give the same scale with further words for its levels; its digest stays."""
        return Scale(
            self.name,
            tuple(
                replace(
                    level,
                    spellings=(
                        *level.spellings,
                        *(word for word, meant in words.items() if meant.code == level.code),
                    ),
                )
                for level in self.levels
            ),
        )

    def to_dict(self) -> dict[str, object]:
        """Write the scale as plain values, best level first, as exports keep it."""
        ordered = sorted(self.levels, key=lambda level: level.order, reverse=True)
        return {
            "name": self.name,
            "levels": [
                {
                    "code": level.code,
                    "name": level.name,
                    "grade": level.grade.value,
                    "gain": level.gain,
                }
                for level in ordered
            ],
        }

    @classmethod
    def from_dict(cls, content: object) -> Scale:
        """Read what `to_dict` wrote, or a scale file: a name, and levels from best to worst.

        Raises:
            UsageError: When a part is missing or of the wrong kind.
        """
        table = content if isinstance(content, dict) else {}
        try:
            levels = table["levels"]
            top = len(levels) - 1
            return cls(
                str(table["name"]),
                tuple(
                    Level(
                        _whole(level["code"]),
                        str(level["name"]),
                        Grade(level["grade"]),
                        float(level["gain"]),
                        top - place,
                        tuple(str(word) for word in level.get("spellings", ())),
                    )
                    for place, level in enumerate(levels)
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"this is no scale ({error})",
                hint="a scale has a 'name' and [[levels]] from best to worst, each with a code, "
                f"a name, a gain and a grade: {', '.join(Grade)}",
            ) from None


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"the code {value!r} is no whole number")
    return value


_FULLY = ("fully", "full", "highly relevant", "perfectly relevant")
_PARTIALLY = ("partially", "partial", "partly relevant", "somewhat relevant")
_NOT = ("not", "irrelevant", "non relevant", "nonrelevant")

NATIVE = Scale(
    "native",
    (
        Level(2, "fully_relevant", Grade.FULLY_RELEVANT, 2.0, 2, _FULLY),
        Level(1, "partially_relevant", Grade.PARTIALLY_RELEVANT, 1.0, 1, _PARTIALLY),
        Level(0, "not_relevant", Grade.NOT_RELEVANT, 0.0, 0, _NOT),
    ),
)
"""Labeler's own three levels."""

TREC = Scale(
    "trec-0-3",
    (
        Level(3, "perfectly_relevant", Grade.FULLY_RELEVANT, 3.0, 3, ("perfect",)),
        Level(2, "highly_relevant", Grade.PARTIALLY_RELEVANT, 2.0, 2),
        Level(1, "related", Grade.NOT_RELEVANT, 1.0, 1),
        Level(0, "irrelevant", Grade.NOT_RELEVANT, 0.0, 0, ("not relevant", "not_relevant")),
    ),
)
"""The passage scale of the TREC Deep Learning track: 0 and 1 not, 2 partially, 3 fully."""

BINARY = Scale(
    "binary",
    (
        Level(1, "relevant", Grade.FULLY_RELEVANT, 1.0, 1, ("yes",)),
        Level(0, "not_relevant", Grade.NOT_RELEVANT, 0.0, 0, (*_NOT, "no")),
    ),
)
"""Relevant or not."""

SHIPPED_SCALES: Mapping[str, Scale] = {scale.name: scale for scale in (NATIVE, TREC, BINARY)}


def parse_scale(text: str) -> Scale:
    """Read a scale from the text of a TOML file; see `Scale.from_dict`.

    Raises:
        UsageError: When it is none, or its levels don't go from best to worst.
    """
    try:
        scale = Scale.from_dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the scale is not a TOML file: {error}") from None
    ranks = list(Grade)
    ordered = sorted(scale.levels, key=lambda level: level.order, reverse=True)
    for better, worse in pairwise(ordered):
        if ranks.index(better.grade) > ranks.index(worse.grade):
            raise UsageError(
                f"scale '{scale.name}': levels go from best to worst, and '{worse.name}' "
                f"({worse.grade}) comes after '{better.name}' ({better.grade})"
            )
    return scale


def shipped_scale(name: str) -> Scale:
    """Find a shipped scale by its name.

    Raises:
        NotFoundError: When no shipped scale has that name.
    """
    try:
        return SHIPPED_SCALES[name]
    except KeyError:
        raise NotFoundError(
            f"no scale is called '{name}'",
            hint=f"shipped are {', '.join(SHIPPED_SCALES)}; others come from a file (.toml)",
        ) from None


def scales_that_fit(codes: Iterable[int]) -> list[Scale]:
    """List the shipped scales that hold all of the codes, the smallest first."""
    wanted = frozenset(codes)
    fitting = [scale for scale in SHIPPED_SCALES.values() if wanted <= scale.codes]
    return sorted(fitting, key=lambda scale: len(scale.levels))
