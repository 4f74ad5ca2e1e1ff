"""The passage: wrapped once, of which only the visible lines are drawn; any length will do."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from labeler.assessment.blind import Block
from labeler.assessment.visible import visible
from tui.text import context_facts, line

__all__ = ["ContextLine", "PassageRule", "PassageView"]


class PassageView(ScrollView, can_focus=False):
    """A text that scrolls by lines."""

    class Painted(Message):
        """The first lines of a text are on the screen.

        Attributes:
            what: What was given to `show` with the text.
        """

        def __init__(self, what: object) -> None:
            super().__init__()
            self.what = what

    class Moved(Message):
        """Other lines are in sight."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text = ""
        self._what: object = None
        self._lines: list[str] = []
        self._wrapped_at = 0
        self._announced = True

    def show(self, text: str, what: object = None) -> None:
        """Show a text from its beginning; `Painted` tells when it is on the screen."""
        self._text = visible(text).expandtabs()
        self._what = what
        self._announced = False
        self._wrapped_at = 0
        self._wrap()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    @property
    def in_sight(self) -> tuple[int, int, int]:
        """The first and the last line in sight, counted from 1, and how many there are."""
        total = len(self._lines)
        first = min(self.scroll_offset.y + 1, total)
        return first, min(total, self.scroll_offset.y + self.size.height), total

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by lines, or up."""
        self.scroll_relative(y=lines, animate=False)

    def scroll_pages(self, pages: int) -> None:
        """Scroll down by pages, or up; one line stays in sight."""
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False)

    def on_resize(self) -> None:
        """Wrap the text anew."""
        self._wrap()
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that other lines are in sight."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        if not self._announced:
            self._announced = True
            self.call_after_refresh(self.post_message, self.Painted(self._what))
        width, style = self.scrollable_content_region.width, self.rich_style
        index = y + self.scroll_offset.y
        if index >= len(self._lines):
            return Strip.blank(width, style)
        return Strip([Segment(self._lines[index], style)]).adjust_cell_length(width, style)

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width < 2 or width == self._wrapped_at:  # noqa: PLR2004 - a wide character needs 2
            return
        self._wrapped_at = width
        self._lines = [wrapped.plain for wrapped in Content(self._text).wrap(width)]
        self.virtual_size = Size(width, len(self._lines))


class PassageRule(Static):
    """The line above the passage: which lines are in sight, and whether there are more."""

    def show(self, first: int, last: int, total: int) -> None:
        """Say which lines are in sight."""
        where = f"line {first} of {total}" if first == last else f"lines {first}-{last} of {total}"
        more = [
            *(["more above"] if first > 1 else []),
            *(["more below"] if last < total else []),
        ]
        told = " · ".join(["passage", where, *more])
        self.update(line(("─ ", "dim"), told, (" " + "─" * 200, "dim")))


class ContextLine(Static):
    """Where the passage stands, on one line, for terminals without the side pane."""

    def show(self, block: Block) -> None:
        """Show what decides whether a passage fits a query's conditions."""
        facts = [(name, value) for name, value in context_facts(block) if name != "source"]
        told = " · ".join(value if name == "title" else f"{name} {value}" for name, value in facts)
        self.set_class(bool(facts), "-known")
        self.update(line((told, "italic")))
