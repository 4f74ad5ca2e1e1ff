"""The passage: only its visible lines are marked and drawn, so that any length will do."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from labeler.search.words import Findable
from tui.marking import stretches, terms_in
from tui.text import displayed
from tui.wrapping import WrappedText

__all__ = ["PassageView"]

_FEW = 100
"""Lines that are wrapped at once."""

_SLICE = 0.006
"""Seconds for which lines are wrapped without letting a key through."""

_TERM, _MATCH, _CURRENT = "passage--term", "passage--match", "passage--current"
_EVIDENCE = "passage--evidence"
_MARKED = {_EVIDENCE: 0, _TERM: 1, _MATCH: 2, _CURRENT: 3}


class PassageView(ScrollView, can_focus=False):
    """A text that scrolls by lines, in which words stand out and phrases are found."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(_MARKED)

    class Painted(Message):
        """The first lines of a text are on the screen.

        Attributes:
            what: What was given to `show` with the text.
        """

        def __init__(self, what: object) -> None:
            super().__init__()
            self.what = what

    class Moved(Message):
        """Other lines are in sight, or more is known of how many there are."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text = ""
        self._what: object = None
        self._lines = WrappedText("", 2)
        self._announced = True
        self._drawn_in: dict[str, Style] = {}
        self._terms: frozenset[str] = frozenset()
        self._evidence: Sequence[tuple[int, int]] = ()
        self._are_terms_shown = True
        self._findable: Findable | None = None
        self._matches: list[tuple[int, int]] = []
        self._match = 0
        self._found_from: tuple[int, int] | None = None

    def show(
        self,
        text: str,
        what: object = None,
        *,
        terms: frozenset[str] = frozenset(),
        marked: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Show a text from its beginning; `Painted` tells when it is on the screen.

        Args:
            text: The text.
            what: What `Painted` hands back.
            terms: Words that stand out, as `tui.marking.query_terms` makes them.
            marked: Beginnings and ends of evidence in the text, first to last, which must be
                ready for the screen then.
        """
        self._text = displayed(text)
        self._what = what
        self._terms = terms
        self._evidence = marked
        self._announced = False
        self._findable = None
        self._matches = []
        self._found_from = None
        self._wrap()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    @property
    def in_sight(self) -> tuple[int, int, int]:
        """The first and the last line in sight, counted from 1, and how many are known."""
        total = len(self._lines)
        first = min(self.scroll_offset.y + 1, total)
        return first, min(total, self.scroll_offset.y + self.size.height), total

    @property
    def is_all_known(self) -> bool:
        """Whether it is known how many lines there are."""
        return self._lines.is_complete

    @property
    def _first_place(self) -> int:
        """Where in the text the first line in sight begins."""
        if not len(self._lines):
            return 0
        return self._lines.span(min(self.scroll_offset.y, len(self._lines) - 1))[0]

    # Scrolling

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by lines, or up."""
        self._scroll_by(lines)

    def scroll_pages(self, pages: int) -> None:
        """Scroll down by pages, or up; one line stays in sight."""
        self._scroll_by(pages * max(1, self.size.height - 1))

    def scroll_to_edge(self, *, end: bool) -> None:
        """Scroll to the end, or to the beginning."""
        if end:
            self._know(len(self._text))
        self.scroll_to(y=self.max_scroll_y if end else 0, animate=False)

    def _scroll_by(self, lines: int) -> None:
        wanted = self.scroll_offset.y + lines + self.size.height
        if wanted > len(self._lines):
            self._lines.grow(wanted - len(self._lines) + _FEW)
            self._measure()
        self.scroll_relative(y=lines, animate=False)

    def bring_in_sight(self, place: int) -> None:
        """Scroll to a character of the text, unless its line is in sight."""
        self._know(place)
        at, top, height = self._lines.line_at(place), self.scroll_offset.y, self.size.height
        if not top <= at < top + height:
            self.scroll_to(y=max(0, at - height // 3), animate=False)

    # What stands out

    def show_terms(self, *, shown: bool) -> None:
        """Let the words that stand out do so, or not."""
        self._are_terms_shown = shown
        self.refresh()

    def find(self, phrase: str) -> tuple[int, int]:
        """Find a phrase, from the lines that were in sight when finding began; stay there if not.

        Returns:
            Which match is the current one, counted from 1, and how many there are; 0 and 0 when
            there is none.
        """
        if self._findable is None:
            self._findable = Findable(self._text)
        self._matches = self._findable.places(phrase)
        if self._found_from is None:
            self._found_from = self.scroll_offset.y, self._first_place
        line, top = self._found_from
        after = (place for place, (start, _) in enumerate(self._matches) if start >= top)
        self._match = next(after, 0)
        if not self._matches:
            self.scroll_to(y=line, animate=False)
        return self._show_match()

    def find_next(self, steps: int) -> tuple[int, int]:
        """Go to the next match, or back; after the last comes the first. Returns as `find`."""
        if self._matches:
            self._match = (self._match + steps) % len(self._matches)
        return self._show_match()

    def stop_finding(self) -> None:
        """Let matches stand out no longer; the passage stays where it is."""
        self._matches = []
        self._found_from = None
        self.refresh()

    def _show_match(self) -> tuple[int, int]:
        self.refresh()
        if not self._matches:
            return 0, 0
        place = self._matches[self._match][0]
        self.bring_in_sight(place)
        return self._match + 1, len(self._matches)

    # Drawing

    def on_resize(self) -> None:
        """Wrap the text anew; what stood on the first line stays in sight."""
        width = self.scrollable_content_region.width
        if width != self._lines.width:
            place = self._first_place
            self._wrap()
            self._know(place)
            self.scroll_to(y=self._lines.line_at(place), animate=False)
            # What came while the widget was hidden was drawn before there was a width to wrap it.
            self.refresh()
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that other lines are in sight."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the screen; what each style is, is asked once for all of them."""
        plain = self.rich_style
        marked = {name: self.get_component_rich_style(name, partial=True) for name in _MARKED}
        self._drawn_in = {"": plain} | {name: plain + style for name, style in marked.items()}
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        if not self._announced and (len(self._lines) or not self._text):
            self._announced = True
            self.call_after_refresh(self.post_message, self.Painted(self._what))
        width, style = self.scrollable_content_region.width, self._drawn_in[""]
        index = y + self.scroll_offset.y
        if index >= len(self._lines):
            return Strip.blank(width, style)
        start, end = self._lines.span(index)
        segments = [
            Segment(self._text[first:last], self._drawn_in[name])
            for first, last, name in stretches(start, end, self._marks(start, end))
        ]
        return Strip(segments).adjust_cell_length(width, style)

    def _marks(self, start: int, end: int) -> list[tuple[int, int, str]]:
        marks = [(first, last, _EVIDENCE) for first, last in self._evidence]
        if self._are_terms_shown:
            terms = terms_in(self._text, start, end, self._terms)
            marks += [(first, last, _TERM) for first, last in terms]
        for place, (first, last) in self._matches_in(start, end):
            marks.append((first, last, _CURRENT if place == self._match else _MATCH))
        return marks

    def _matches_in(self, start: int, end: int) -> list[tuple[int, tuple[int, int]]]:
        first = max(0, bisect_left(self._matches, (start, start)) - 1)
        last = bisect_left(self._matches, (end, end))
        return [
            (place, self._matches[place])
            for place in range(first, last)
            if self._matches[place][1] > start
        ]

    # Wrapping

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width < 2:  # noqa: PLR2004 - a wide character needs 2
            self._lines = WrappedText("", 2)
            return
        self._lines = WrappedText(self._text, width)
        self._lines.grow(max(_FEW, self.size.height + 1))
        self._measure()
        if not self._lines.is_complete:
            self.set_timer(_SLICE, self._wrap_on)

    def _wrap_on(self) -> None:
        """Wrap a part of what isn't wrapped yet."""
        if self._lines.is_complete:
            return
        until = time.perf_counter() + _SLICE
        while time.perf_counter() < until and not self._lines.is_complete:
            self._lines.grow(_FEW)
        self._measure()
        if not self._lines.is_complete:
            self.set_timer(_SLICE, self._wrap_on)

    def _know(self, place: int) -> None:
        """Wrap as far as a place in the text."""
        if not self._lines.is_complete:
            self._lines.line_at(place)
            self._measure()

    def _measure(self) -> None:
        size = Size(self._lines.width, len(self._lines))
        if size != self.virtual_size:
            # The widget stays as large as it is, so the screen isn't laid out for a longer text;
            # Textual does that by itself when the scrollbar comes or goes.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        self.post_message(self.Moved())
