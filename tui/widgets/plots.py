"""Plots of plain characters: pure functions from numbers to lines. Nothing is told by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from tui.text import displayed_line, line

if TYPE_CHECKING:
    from labeler.evaluation.reliability import ReliabilityBin

__all__ = ["Span", "bar", "bars", "columns", "intervals", "reliability", "stacked", "titled"]

_LONGEST_NAME = 28
_HALF = 0.5
_STEPS = 10


@dataclass(frozen=True, slots=True)
class Span:
    """A share with its interval, each in [0, 1]; None where there is none.

    Attributes:
        name: What it is of.
        value: The share.
        low: Lower limit.
        high: Upper limit.
        told: What is written beside it.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    told: str


def titled(title: str, lines: list[Content]) -> list[Content]:
    """Put a title above lines, and a blank line after them; without lines, nothing."""
    return [line((title, "bold")), *lines, Content("")] if lines else []


def bar(value: float, largest: float, width: int) -> str:
    """Draw a bar, exact to half a cell; what is above 0 is never drawn as nothing."""
    if value <= 0 or largest <= 0:
        return ""
    length = width * value / largest
    full = int(length)
    return "█" * full + ("▌" if length - full >= _HALF or not full else "")


def bars(rows: Sequence[tuple[str, float, str]], width: int) -> list[Content]:
    """Draw named bars, one a line, the longest as wide as there is room.

    Args:
        rows: Name, length and what is written after the bar.
        width: Cells.
    """
    if not rows:
        return []
    names = _names([name for name, _, _ in rows])
    room = width - cell_len(names[0]) - max(cell_len(told) for _, _, told in rows) - 3
    largest = max(value for _, value, _ in rows)
    return [
        line(name, " ", bar(value, largest, max(room, 4)), f" {told}")
        for name, (_, value, told) in zip(names, rows, strict=True)
    ]


def intervals(spans: Sequence[Span], width: int) -> list[Content]:
    """Draw shares with their intervals over one axis from 0 to 1: ``├──o──┤``."""
    if not spans:
        return []
    names = _names([span.name for span in spans])
    room = max(width - cell_len(names[0]) - max(cell_len(span.told) for span in spans) - 3, 11)
    blank = " " * cell_len(names[0])
    axis = ["·"] * room
    drawn = [
        line(name, " ", _interval(span, list(axis)), f" {span.told}")
        for name, span in zip(names, spans, strict=True)
    ]
    scale = "0" + "1".rjust(room - 1)
    middle = room // 2 - 1
    scale = scale[:middle] + "0.5" + scale[middle + 3 :]
    return [*drawn, line(blank, " ", (scale, "dim"))]


def _interval(span: Span, cells: list[str]) -> str:
    last = len(cells) - 1

    def place(share: float) -> int:
        return round(min(1.0, max(0.0, share)) * last)

    if span.low is not None and span.high is not None:
        left, right = place(span.low), place(span.high)
        cells[left : right + 1] = ["─"] * (right - left + 1)
        cells[left], cells[right] = "├", "┤"
    if span.value is not None:
        cells[place(span.value)] = "o"
    return "".join(cells)


def stacked(
    rows: Sequence[tuple[str, Sequence[int], str]], marks: str, width: int
) -> list[Content]:
    """Draw bars of one length each, in parts that a character of their own tells apart.

    Args:
        rows: Name, sizes of the parts, and what is written after the bar.
        marks: A character for each part.
        width: Cells.
    """
    if not rows:
        return []
    names = _names([name for name, _, _ in rows])
    room = max(width - cell_len(names[0]) - max(cell_len(told) for _, _, told in rows) - 3, 10)
    return [
        line(name, " ", _parts(sizes, marks, room), f" {told}")
        for name, (_, sizes, told) in zip(names, rows, strict=True)
    ]


def _parts(sizes: Sequence[int], marks: str, room: int) -> str:
    total = sum(sizes)
    if not total:
        return " " * room
    drawn, before = "", 0
    for size, mark in zip(sizes, marks, strict=True):
        before += size
        drawn += mark * (round(room * before / total) - len(drawn))
    return drawn


def reliability(bins: Sequence[ReliabilityBin], width: int) -> list[Content]:
    """Draw a reliability diagram: confidence to the right, share that agreed upwards.

    ``o`` stands at a bin's mean confidence and share, ``│`` spans its exact interval, and a dot
    marks where both are the same.
    """
    across = min(max(width - 8, 21), 61)
    rows = [[" "] * across for _ in range(_STEPS + 1)]

    def column(share: float) -> int:
        return round(share * (across - 1))

    def row(share: float) -> int:
        return _STEPS - round(share * _STEPS)

    for x in range(across):
        rows[row(x / (across - 1))][x] = "·"
    for one in bins:
        x = column(one.mean_confidence)
        for y in range(row(one.share_high), row(one.share_low) + 1):
            rows[y][x] = "│"
    for one in bins:
        rows[row(one.share)][column(one.mean_confidence)] = "o"
    drawn = [
        line((f"{(_STEPS - number) / _STEPS:.1f} ", "dim"), "┤", "".join(cells))
        for number, cells in enumerate(rows)
    ]
    scale = [" "] * (across + 3)
    for number in range(0, _STEPS + 1, 2):
        told = f"{number / _STEPS:.1f}"
        start = column(number / _STEPS)
        scale[start : start + len(told)] = told
    return [
        line(("upwards: share that agreed; to the right: confidence", "dim")),
        *drawn,
        line("    └", "─" * across),
        line(("    " + "".join(scale).rstrip(), "dim")),
    ]


def columns(header: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> list[Content]:
    """Write an aligned table: numbers to the right, the longest texts cut where it is too wide."""
    if not rows:
        return []
    body = [[_cell(cell) for cell in one] for one in rows]
    right = [all(_is_number(one[place]) for one in body) for place in range(len(header))]
    lines = [list(header), *body]
    widths = [max(cell_len(one[place]) for one in lines) for place in range(len(header))]
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > _STEPS:
        widths[widths.index(max(widths))] -= 1
    drawn: list[Content] = []
    for number, one in enumerate(lines):
        cells = [
            _fitted(cell, room, to_right=to_right)
            for cell, room, to_right in zip(one, widths, right, strict=True)
        ]
        told = "  ".join(cells).rstrip()
        drawn.append(line((told, "bold")) if number == 0 else line(told))
    return drawn


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value + 0.0:.3f}"
    return displayed_line(str(value))


def _is_number(cell: str) -> bool:
    plain = cell.replace(",", "").replace(".", "", 1).replace("%", "")
    return cell in {"", "-"} or plain.lstrip("-").isdigit()


def _fitted(text: str, room: int, *, to_right: bool) -> str:
    if cell_len(text) > room:
        text = set_cell_size(text, room - 1) + "…"
    blank = " " * (room - cell_len(text))
    return blank + text if to_right else text + blank


def _names(names: Sequence[str]) -> list[str]:
    """Make names safe, and all of them equally wide."""
    shown = [displayed_line(name) for name in names]
    room = min(max(cell_len(name) for name in shown), _LONGEST_NAME)
    return [_fitted(name, room, to_right=False) for name in shown]
