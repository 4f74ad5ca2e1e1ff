"""The side pane of wide terminals: the rubric in short, the context, the note."""

from __future__ import annotations

from textual.widgets import Static

from labeler.assessment.visible import visible
from labeler.queue.sitting.orders import Shown
from tui.text import context_facts, rubric_text

__all__ = ["SidePane"]

_LONGEST = 400
"""Characters of a value that the pane shows; the context screen shows all."""


class SidePane(Static):
    """What helps to judge, beside the passage."""

    _showing: tuple[Shown | None, str] | None = None

    def show(self, shown: Shown | None, draft: str) -> None:
        """Show what belongs to an item, or nothing."""
        if self._showing is not None and self._showing[0] is shown and self._showing[1] == draft:
            return
        self._showing = shown, draft
        if shown is None:
            self.update("")
            return
        rows = [rubric_text(shown.block.rubric, short=True), "", "The passage is from"]
        for name, value in [*context_facts(shown.block), ("snapshot", shown.snapshot)]:
            cut = value if len(value) <= _LONGEST else value[:_LONGEST] + " … (c: all of it)"
            rows.append(f"  {name}: {visible(cut)}")
        if draft:
            rows += ["", "Draft, kept with your vote", f"  {visible(draft)}"]
        self.update("\n".join(rows))
