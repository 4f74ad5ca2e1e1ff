"""Which scale the labels of a file are on: as told, or read off the labels and printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeler.errors import UsageError
from labeler.formats.findings import Findings, shown
from labeler.imports.label_rows import LabelRow
from labeler.labels import (
    NATIVE,
    SHIPPED_SCALES,
    Grade,
    Level,
    Scale,
    scales_that_fit,
)

__all__ = ["ReadLabel", "choose_scale", "read_levels"]

_MAPPED_BY_HAND = 8
"""As many labels a message shows how to map; more numbers than that are no codes but scores."""


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """A row whose label was read on a scale; the level is None for an abstention."""

    row: LabelRow
    scale: Scale
    level: Level | None


def choose_scale(
    rows: Sequence[LabelRow], named: Scale | None, mapping: Mapping[str, str]
) -> tuple[Scale | None, str]:
    """Choose the scale of rows that don't name one themselves.

    A mapping of codes makes a scale of its own, which keeps the codes; a mapping of words adds
    them to the scale named, by default the native one. Without either the smallest shipped scale
    that holds every label is taken, and said.

    Returns:
        The scale, or None when none fits; and how it was chosen.

    Raises:
        UsageError: When a mapping names a grade or a level that isn't there.
    """
    if mapping and named is None and all(_is_code(key) for key in mapping):
        codes = {int(key): _grade(value) for key, value in mapping.items()}
        if len(codes) == 1:
            raise UsageError(
                "--map tells what one code means; a scale has two at the least",
                hint="say the others too, also where no row has them: "
                "--map 1=fully_relevant,0=not_relevant",
            )
        return Scale.from_codes("mapped", codes), "as mapped"
    if mapping:
        base = named or NATIVE
        return base.with_spellings(
            {word: _level(base, value) for word, value in mapping.items()}
        ), "as mapped"
    if named is not None:
        return named, "as told"
    labels = [row for row in rows if row.value is not None]
    values = {_plain(row.value) for row in labels if row.scale is None}
    if not values:
        return (None, "named in the rows") if labels else (NATIVE, "no labels to tell by")
    numbers = [_number(value) for value in values]
    whole = [number for number in numbers if number is not None and number.is_integer()]
    if len(whole) == len(numbers):
        fitting = scales_that_fit(int(code) for code in whole)
        if fitting:
            others = [scale.name for scale in fitting[1:]]
            also = f"; {' and '.join(others)} would fit too: --scale" if others else ""
            return fitting[0], f"the smallest that holds the codes found{also}"
    for scale in SHIPPED_SCALES.values():
        if all(scale.read(value) for value in values):
            return scale, "its words were found"
    if any(NATIVE.read(value) for value in values if _number(value) is None):
        return NATIVE, "some of its words were found"
    fitting = scales_that_fit(int(code) for code in whole) if whole else []
    if fitting:
        return fitting[0], "the smallest that holds the codes found"
    return None, "no shipped scale holds these labels"


def read_levels(
    rows: Sequence[LabelRow], scale: Scale | None, findings: Findings
) -> list[ReadLabel]:
    """Read every label on its scale; labels that it doesn't hold become one fault a file."""
    read: list[ReadLabel] = []
    unread: dict[str, Counter[str]] = {}
    first: dict[str, int | None] = {}
    for row in rows:
        own = row.scale or scale
        if row.abstained:
            read.append(ReadLabel(row, own or NATIVE, None))
            continue
        if row.value is None:
            continue
        level = own.read(_plain(row.value)) if own is not None else None
        if own is None or level is None:
            unread.setdefault(row.path, Counter())[_written(row.value)] += 1
            first.setdefault(row.path, row.line)
            continue
        read.append(ReadLabel(row, own, level))
    for path, counts in unread.items():
        listed = ", ".join(f"{label} ×{count:,}" for label, count in counts.most_common(20))
        no_place = f"the scale {scale.name} doesn't hold" if scale else "no shipped scale holds"
        findings.fault(
            path,
            first[path],
            f"labels that {no_place}: {listed}; {_advice(counts)}",
            rows=counts.total(),
        )
    return read


def _advice(unread: Counter[str]) -> str:
    """Say what to do about labels that no level was found for, as they are shown."""
    words = sorted((label.strip("'") for label in unread), key=lambda word: (len(word), word))
    fractions = sum(_is_fraction(word) for word in words)
    if fractions > _MAPPED_BY_HAND:
        return (
            f"{fractions:,} of these are fractions, as scores are: a level has a whole code, and "
            "nothing is rounded; cut the scores into the codes of a scale before the import"
        )
    example = ",".join(f"{word}=..." for word in words[:_MAPPED_BY_HAND])
    return (
        "nothing is assumed of which is best: say "
        f"what each means ({', '.join(Grade)}): --map='{example}', or name a --scale"
    )


def _is_fraction(word: str) -> bool:
    number = _number(word)
    return number is not None and not number.is_integer()


def _plain(value: object) -> object:
    """Give a label as it is compared: a truth value is a word, which only a map can read."""
    return str(value).lower() if isinstance(value, bool) else value


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if abs(number) < 2**31 else None


def _is_code(text: str) -> bool:
    return text.lstrip("+-").isdigit() and text.isascii()


def _level(scale: Scale, word: str) -> Level:
    level = scale.read(word)
    if level is None:
        raise UsageError(f"--map: '{word}' is no level of {scale.describe()}")
    return level


def _grade(word: str) -> Grade:
    level = NATIVE.read(word)
    if level is None or _is_code(word):
        raise UsageError(f"--map: '{word}' is no grade; grades are {', '.join(Grade)}")
    return level.grade
