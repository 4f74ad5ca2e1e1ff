"""Charts as inline SVG: no script, no file beside them, every text escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from labeler.assessment.visible import visible_line

__all__ = ["IntervalRow", "TrendPoint", "bar_chart", "interval_chart", "shown", "trend_chart"]

_WIDTH = 820
_LEFT, _RIGHT, _ROW = 310, 30, 30
_PLOT = _WIDTH - _LEFT - _RIGHT
_HEIGHT, _TOP, _BOTTOM = 260, 20, 50
_MARGIN = 60
_LONGEST = 40
_FEW = 8


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One interval of a chart.

    Attributes:
        name: What it is of.
        value: The value, or None.
        low: The lower limit, or None where it is open.
        high: The upper limit, or None where it is open.
        boundary: A value to compare it with, or None.
        kind: How it is drawn: ``good``, ``bad`` or ``open``.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    boundary: float | None = None
    kind: str = "open"


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One value of a trend.

    Attributes:
        name: When, in words.
        value: The value, or None where it is undefined: the line is broken there.
        low: The lower limit of its interval, or None.
        high: The upper limit, or None.
        breaks: Whether something changed before it, so that it isn't joined to the one before.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    breaks: bool = False


def shown(text: str) -> str:
    """Make a text safe for HTML: controls become signs, markup is escaped."""
    return escape(visible_line(text), quote=True)


def interval_chart(
    title: str, rows: Sequence[IntervalRow], span: tuple[float, float] | None = None
) -> str:
    """Draw intervals one below the other.

    Args:
        title: What is drawn.
        rows: The intervals.
        span: The ends of one axis for all rows. Without it each row has its own scale, for metrics
            that differ in units; the boundary stands in the middle of what is shown.
    """
    height = _ROW * len(rows) + 10
    body = [_interval_row(row, number, span) for number, row in enumerate(rows)]
    if span is not None and rows:
        body.append(
            "".join(
                f'<text x="{x}" y="{height + 10}" text-anchor="{anchor}" class="small">{end:.3g}'
                "</text>"
                for end, x, anchor in zip(
                    span, (_LEFT, _LEFT + _PLOT), ("start", "end"), strict=True
                )
            )
        )
        height += 16
    return _svg(title, height, body)


def bar_chart(title: str, bars: Mapping[str, int]) -> str:
    """Draw counts as bars, one below the other, each with its number."""
    most = max((*bars.values(), 1))
    body = []
    for number, (name, count) in enumerate(bars.items()):
        y, width = number * _ROW + 20, (_PLOT - 60) * count / most
        body.append(
            f'{_row_name(name, y)}<rect x="{_LEFT}" y="{y - 8}" width="{width:.1f}" height="16" '
            f'class="line"/><text x="{_LEFT + width + 6:.1f}" y="{y + 4}">{count:,}</text>'
        )
    return _svg(title, _ROW * len(bars) + 10, body)


def _row_name(name: str, y: int) -> str:
    short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "\u2026"
    return f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{shown(short)}</text>'


def _interval_row(row: IntervalRow, number: int, span: tuple[float, float] | None) -> str:
    y = number * _ROW + 20
    parts = [_row_name(row.name, y)]
    known = [one for one in (row.value, row.low, row.high, row.boundary) if one is not None]
    if row.value is None and (row.low is None or row.high is None):
        parts.append(f'<text x="{_LEFT}" y="{y + 4}" class="quiet">undefined</text>')
        return "".join(parts)
    least, most = min(known), max(known)
    margin = (most - least) * 0.15 or abs(most) * 0.1 or 0.1
    if span is not None:
        (least, most), margin = span, 0.0

    def at(value: float) -> float:
        return _LEFT + _PLOT * (value - least + margin) / (most - least + 2 * margin)

    low = _LEFT if row.low is None else at(row.low)
    high = _LEFT + _PLOT if row.high is None else at(row.high)
    parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + _PLOT}" y1="{y}" y2="{y}" class="axis"/>')
    parts.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" class="{row.kind}"/>')
    if row.value is not None:
        parts.append(f'<circle cx="{at(row.value):.1f}" cy="{y}" r="4" class="{row.kind}"/>')
    if row.boundary is not None:
        x = at(row.boundary)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 10}" y2="{y + 10}" class="mark"/>')
    value = "undefined" if row.value is None else f"{row.value:g}"
    tip = f"{row.name}: {value} [{_open(row.low)}, {_open(row.high)}]"
    return f"<g><title>{shown(tip)}</title>{''.join(parts)}</g>"


def _open(value: float | None) -> str:
    return "open" if value is None else f"{value:.4g}"


def trend_chart(title: str, points: Sequence[TrendPoint]) -> str:
    """Draw values over time with their intervals; a line is broken where conditions changed."""
    known = [
        one for point in points for one in (point.value, point.low, point.high) if one is not None
    ]
    if not known:
        return _svg(title, 40, ['<text x="10" y="24" class="quiet">no value is defined</text>'])
    least, most = min(known), max(known)
    margin = (most - least) * 0.1 or abs(most) * 0.1 or 0.1
    least, most = least - margin, most + margin
    step = (_WIDTH - 2 * _MARGIN) / max(len(points) - 1, 1)

    def x(number: int) -> float:
        return _MARGIN + number * step

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (most - value) / (most - least)

    body = [_grid(least, most, y)]
    every = math.ceil(len(points) / _FEW)
    before: tuple[float, float] | None = None
    for number, point in enumerate(points):
        if number % every == 0:
            body.append(
                f'<text x="{x(number):.1f}" y="{_HEIGHT - 28}" text-anchor="middle" '
                f'class="small">{shown(point.name)}</text>'
            )
        if point.value is None:
            before = None
            continue
        here = x(number), y(point.value)
        if before is not None and not point.breaks:
            body.append(
                f'<line x1="{before[0]:.1f}" y1="{before[1]:.1f}" x2="{here[0]:.1f}" '
                f'y2="{here[1]:.1f}" class="line"/>'
            )
        if point.low is not None and point.high is not None:
            body.append(
                f'<line x1="{here[0]:.1f}" x2="{here[0]:.1f}" y1="{y(point.low):.1f}" '
                f'y2="{y(point.high):.1f}" class="open"/>'
            )
        body.append(
            f'<circle cx="{here[0]:.1f}" cy="{here[1]:.1f}" r="4" class="line">'
            f"<title>{shown(point.name)}: {point.value:.4g}</title></circle>"
        )
        before = here
    return _svg(title, _HEIGHT, body)


def _grid(least: float, most: float, y: Callable[[float], float]) -> str:
    lines = []
    for part in range(5):
        value = least + (most - least) * part / 4
        at = y(value)
        lines.append(
            f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{at:.1f}" y2="{at:.1f}" '
            'class="axis"/>'
            f'<text x="{_MARGIN - 8}" y="{at + 4:.1f}" text-anchor="end" class="small">'
            f"{value:.3g}</text>"
        )
    return "".join(lines)


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{shown(title)}"><title>{shown(title)}</title>{"".join(body)}</svg>'
    )
