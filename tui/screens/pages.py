"""The pages over the review: context, rubric, help, what judges said; some fill by themselves."""

from __future__ import annotations

from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Shown
from tui.around import Around
from tui.bindings import KeyTable
from tui.screens.reading import ReadingScreen, help_text
from tui.text import all_revealed_text, context_text, rubric_text

__all__ = ["Pages"]


class Pages:
    """Makes pages, and renews the last one when the database has answered.

    Args:
        sitting: The state machine.
        around: What stands around passages.
        table: The keys in force.
    """

    def __init__(self, sitting: Sitting, around: Around, table: KeyTable) -> None:
        self._sitting = sitting
        self._around = around
        self._table = table
        self._page: ReadingScreen | None = None
        self._item: Shown | None = None
        self._told = ""

    def context(self, shown: Shown) -> ReadingScreen:
        """Show the whole query, and what stands around the passage."""
        self._item = shown
        return self._open("Query and context", self._context())

    def judges(self) -> ReadingScreen:
        """Show what judges said of the items of this sitting."""
        self._item = None
        return self._open("What judges said", self._judges())

    def rubric(self, shown: Shown) -> ReadingScreen:
        """Show what each level means."""
        return ReadingScreen("Rubric", rubric_text(shown.block.rubric), self._table)

    def help(self) -> ReadingScreen:
        """Show the keys."""
        return ReadingScreen("Help", help_text(self._table), self._table)

    def renew(self) -> None:
        """Show on the open page what has become known."""
        if self._page is None:
            return
        text = self._judges() if self._item is None else self._context()
        if text != self._told:
            self._told = text
            self._page.show(text)

    def _open(self, title: str, text: str) -> ReadingScreen:
        self._told = text
        self._page = ReadingScreen(title, text, self._table)
        return self._page

    def _judges(self) -> str:
        return all_revealed_text(self._sitting.all_revealed)

    def _context(self) -> str:
        shown = self._item
        if shown is None:
            return ""
        return context_text(
            shown.block,
            shown.snapshot,
            self._around.of(shown.claim.item_id),
            is_known=self._around.is_known(shown.claim.item_id),
            was=self._sitting.changed.get(shown.claim.task_id),
        )
