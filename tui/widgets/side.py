"""The side pane of wide terminals: the rubric in short, what stands around, the note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from labeler.queue.sitting.orders import Shown
from tui.text import Line, context_facts, displayed, line, rubric_text
from tui.wrapping import wrapped

if TYPE_CHECKING:
    from labeler.assessment.context import Surroundings

__all__ = ["SidePane"]

_FACT_LINES, _AROUND_LINES, _DRAFT_LINES = 3, 6, 4
"""Lines that a value may take; the context screen shows all."""


class SidePane(Static):
    """What helps to judge, beside the passage."""

    _showing: tuple[Shown | None, str, Surroundings | None] | None = None

    def show(self, shown: Shown | None, draft: str, around: Surroundings | None = None) -> None:
        """Show what belongs to an item, or nothing."""
        if self._showing is not None and self._showing == (shown, draft, around):
            return
        self._showing = shown, draft, around
        self._draw()

    def on_resize(self) -> None:
        """Cut texts to the new width."""
        self._draw()

    def _draw(self) -> None:
        shown, draft, around = self._showing or (None, "", None)
        if shown is None:
            self.update("", layout=False)
            return
        rows = self._titled("What each level means", rubric_text(shown.block.rubric, short=True))
        # What else is known of it stands above the passage.
        facts = [fact for fact in context_facts(shown.block) if fact[0] == "source"]
        facts.append(("snapshot", shown.snapshot))
        if around is not None:
            facts.append(("place", f"{around.place} of {around.total} in {around.document}"))
        listed = "\n".join(self._cut(f"{name}: {value}", _FACT_LINES) for name, value in facts)
        rows += self._titled("The passage is from", listed)
        if draft:
            rows += self._titled("Draft, kept with your vote", self._cut(draft, _DRAFT_LINES))
        if around is not None and around.before:
            before = self._cut(around.before, _AROUND_LINES, from_end=True)
            rows += self._titled("Before it", before)
        if around is not None and around.after:
            rows += self._titled("After it", self._cut(around.after, _AROUND_LINES))
        self.update(Content("\n").join([line(row) for row in rows]), layout=False)

    @staticmethod
    def _titled(title: str, text: str) -> list[Line]:
        return [(title, "bold"), *text.split("\n"), ""]

    def _cut(self, text: str, most: int, *, from_end: bool = False) -> str:
        """Cut a text to so many lines of the pane, and mark where it goes on."""
        width = max(2, self.size.width)
        # More than these lines hold, and never more of a very long text.
        near = text[-most * width :] if from_end else text[: most * width]
        shown = displayed(near)
        lines = [shown[start:end] for start, end in wrapped(shown, width)]
        if len(lines) <= most and len(near) == len(text):
            return "\n".join(lines)
        return "\n".join(["…", *lines[-most:]] if from_end else [*lines[:most], "…"])
