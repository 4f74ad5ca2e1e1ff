"""The query with its need and conditions, on a few lines; the context screen holds all of it."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from labeler.assessment.blind import BlindQuery
from tui.text import Line, line

__all__ = ["QueryBox", "wrapped_rows"]

_TALL = 20
"""From so many lines of a terminal on, a query takes as many as it needs, up to six."""

_LINES, _FEW_LINES = (3, 2, 1), (2, 1, 1)
"""Lines of query, need and conditions at the most: in a tall terminal, and in a short one."""

_LONGEST = 2_000
"""More characters than these lines hold on any terminal."""


class QueryBox(Widget):
    """What was asked."""

    def __init__(self) -> None:
        super().__init__()
        self._query: BlindQuery | None = None
        self._before: BlindQuery | None = None
        self._is_another = False

    def show(self, query: BlindQuery | None) -> None:
        """Show the query of the next item, or nothing; it is marked where the last had another."""
        is_another = query is not None and self._before is not None and query != self._before
        if (query, is_another) == (self._query, self._is_another):
            return
        width = self.size.width
        before = len(self._lines(width))
        self._query, self._is_another = query, is_another
        self._before = query or self._before
        # Laying out takes longer than all else: a query that takes as many lines needs none.
        self.refresh(layout=not width or len(self._lines(width)) != before)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        """Take as many lines as the query needs, as far as the terminal is tall enough."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Draw the query."""
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> list[Content]:
        query = self._query
        if query is None or width < 2:  # noqa: PLR2004 - a wide character needs 2
            return []
        asked, need, conditions = _LINES if self.app.size.height >= _TALL else _FEW_LINES
        # As wide as the sign without the mark, so that nothing moves with the next item.
        sign: list[Line] = [("Q*", "bold reverse"), " "] if self._is_another else [("Q  ", "bold")]
        rows = wrapped_rows(line(*sign, (query.text[:_LONGEST], "bold")), width, asked)
        if query.need:
            rows += wrapped_rows(line("Need: ", query.need[:_LONGEST]), width, need)
        if query.conditions:
            listed = ", ".join(f"{name}: {value}" for name, value in query.conditions.items())
            rows += wrapped_rows(line("Asked under: ", listed[:_LONGEST]), width, conditions)
        return rows


def wrapped_rows(content: Content, width: int, most: int) -> list[Content]:
    """Wrap a line into so many rows at the most, and mark where it goes on."""
    rows = content.wrap(width)
    if len(rows) <= most:
        return rows
    mark = " … (see context)"
    last = rows[most - 1].truncate(max(0, width - len(mark)))
    return [*rows[: most - 1], Content.assemble(last, mark)]
