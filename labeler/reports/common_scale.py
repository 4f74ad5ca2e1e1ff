"""Which scale the labels of several assessors can be compared on."""

from __future__ import annotations

from collections.abc import Iterable

from labeler.labels import Grade, Level, Scale

__all__ = ["common_scale", "ranks_on"]


def common_scale(scales: Iterable[Scale]) -> Scale | None:
    """Give the scale that holds the levels of all, or None when levels can't be compared.

    That is the one scale, or a wider one that continues the others: it holds each of their levels
    with the same code, name and grade, in the same order. So a scale of 0 to 5 whose first four
    levels are those of ``trec-0-3`` can be compared with it, while the 1 of ``binary`` is not the
    1 of ``native``.
    """
    by_digest = {scale.digest: scale for scale in scales}
    if not by_digest:
        return None
    widest = max(by_digest.values(), key=lambda scale: (len(scale.levels), scale.digest))
    return widest if all(_continues(widest, other) for other in by_digest.values()) else None


def ranks_on(scale: Scale) -> dict[int, int]:
    """Give each code's place from worst (0) to best."""
    return {level.code: place for place, level in enumerate(_ordered(scale))}


def _continues(wider: Scale, other: Scale) -> bool:
    meant = {_meaning(level) for level in other.levels}
    shared = [_meaning(level) for level in _ordered(wider) if _meaning(level) in meant]
    return shared == [_meaning(level) for level in _ordered(other)]


def _meaning(level: Level) -> tuple[int, str, Grade]:
    return level.code, level.name, level.grade


def _ordered(scale: Scale) -> list[Level]:
    return sorted(scale.levels, key=lambda level: level.order)
