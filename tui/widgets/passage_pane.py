"""A passage with the line above it and the search in it: what items and questions are shown by."""

from __future__ import annotations

from textual.containers import Vertical
from textual.message import Message

from tui.widgets.finding import FindBar
from tui.widgets.lines import OneLine
from tui.widgets.passage import PassageView

__all__ = ["PassagePane", "PassageRule"]


class PassageRule(OneLine):
    """The line above the passage: which lines are in sight, and whether there are more."""

    def show(self, title: str, first: int, last: int, total: int, *, is_all: bool) -> None:
        """Say which lines are in sight; when not all lines are known, that there are more."""
        count = f"{total}" if is_all else f"{total} and more"
        where = f"line {first} of {count}" if first == last else f"lines {first}-{last} of {count}"
        more = [
            *(["more above"] if first > 1 else []),
            *(["more below"] if last < total or not is_all else []),
        ]
        told = " · ".join([title, where, *more])
        self.put(("─ ", "dim"), told, (" " + "─" * 200, "dim"))


class PassagePane(Vertical):
    """A pane of a rule, a passage with the id passage, and a bar to find something in it."""

    class Searched(Message):
        """Finding begins, or has ended.

        Attributes:
            is_on: Whether keys are typed into the search.
        """

        def __init__(self, *, is_on: bool) -> None:
            super().__init__()
            self.is_on = is_on

    _title = "passage"

    @property
    def passage(self) -> PassageView:
        """The passage."""
        return self.query_one("#passage", PassageView)

    @property
    def is_finding(self) -> bool:
        """Whether keys are typed into the search."""
        return self.query_one(FindBar).is_open

    def find(self) -> None:
        """Ask what is to be found in the passage."""
        self.query_one(FindBar).open()
        self.post_message(self.Searched(is_on=True))

    def on_passage_view_moved(self, event: PassageView.Moved) -> None:
        """Say which lines are in sight."""
        event.stop()
        self._show_rule()

    def on_find_bar_typed(self, event: FindBar.Typed) -> None:
        """Find what was typed."""
        event.stop()
        self.query_one(FindBar).show_count(*self.passage.find(event.text))

    def on_find_bar_stepped(self, event: FindBar.Stepped) -> None:
        """Go to the next place, or back."""
        event.stop()
        self.query_one(FindBar).show_count(*self.passage.find_next(event.steps))

    def on_find_bar_closed(self, event: FindBar.Closed) -> None:
        """Go back to judging."""
        event.stop()
        self._stop_finding()

    def _forget_search(self) -> None:
        """Another passage comes: what was searched for in the last one is nothing to it."""
        if self.is_finding:
            self._stop_finding()
        self.query_one(FindBar).forget()

    def _stop_finding(self) -> None:
        self.query_one(FindBar).close()
        self.passage.stop_finding()
        self.post_message(self.Searched(is_on=False))

    def _show_rule(self) -> None:
        passage = self.passage
        self.query_one(PassageRule).show(
            self._title, *passage.in_sight, is_all=passage.is_all_known
        )
