"""A search over the snapshot, on top of the review: the reviewer knows that something is missing.

What is found is shown blind. Choosing one hands it on to somebody else; it is no label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from labeler.errors import LabelerError
from tui.text import line
from tui.widgets.finding import SafeInput
from tui.widgets.passage import PassageView

if TYPE_CHECKING:
    from labeler.queue.evidence import FoundPassage

__all__ = ["EvidenceScreen", "Find"]

Find = Callable[[int, str], "Sequence[FoundPassage]"]
"""Searches the snapshot of an item for words; called in a thread of its own."""

_KNOWN = "already in the queue or judged"
_BEGINNING = 200


class EvidenceScreen(ModalScreen["int | None"]):
    """Asks for words, shows what is found, and gives the evidence that was chosen, or None.

    Args:
        item_id: The item that is being judged.
        snapshot: The name of its snapshot.
        find: Searches it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("slash", "words", show=False),
        Binding("y", "choose", show=False),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
        Binding("space,pagedown", "page(1)", show=False),
        Binding("b,pageup", "page(-1)", show=False),
    ]

    class Found(Message):
        """A search ended.

        Attributes:
            words: What was looked for.
            passages: What was found.
            problem: What kept it from being looked for, or empty.
        """

        def __init__(self, words: str, passages: Sequence[FoundPassage], problem: str = "") -> None:
            super().__init__()
            self.words = words
            self.passages = passages
            self.problem = problem

    def __init__(self, item_id: int, snapshot: str, find: Find) -> None:
        super().__init__()
        self._item_id = item_id
        self._snapshot = snapshot
        self._find = find
        self._passages: Sequence[FoundPassage] = ()

    def compose(self) -> ComposeResult:
        """Lay out words, what is found, and the passage that is looked at."""
        with Vertical(id="evidence"):
            title = "Is something missing? Search the snapshot"
            yield Static(line((title, "bold"), f" {self._snapshot}"), markup=False)
            yield SafeInput(id="evidence-words", compact=True, select_on_focus=False)
            yield Static(id="evidence-told", markup=False)
            yield OptionList(id="evidence-list", markup=False, compact=True)
            yield PassageView(id="evidence-text")
            yield Static(id="evidence-keys", markup=False)

    def on_mount(self) -> None:
        """Be ready for words; nothing blinks."""
        field = self.query_one(Input)
        field.cursor_blink = False
        self.action_words()
        self._tell("Nobody is told who looked. Somebody else judges what you choose, blind.")

    @property
    def found(self) -> OptionList:
        """The list of what was found."""
        return self.query_one(OptionList)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search, without keeping the screen waiting."""
        event.stop()
        if event.value.strip():
            self._tell("Searching …")
            search = partial(self._search, event.value)
            self.run_worker(search, thread=True, exclusive=True)

    def _search(self, words: str) -> None:
        try:
            found = self._find(self._item_id, words)
        except LabelerError as error:
            self.post_message(self.Found(words, (), error.message))
        else:
            self.post_message(self.Found(words, found))

    def on_evidence_screen_found(self, event: EvidenceScreen.Found) -> None:
        """Show what was found, unless something else is looked for by now."""
        if event.words != self.query_one(Input).value:
            return
        self._passages = event.passages
        self.found.clear_options()
        self.found.add_options([_option(one) for one in event.passages])
        self.query_one(PassageView).show("")
        if event.problem:
            self._tell(event.problem)
        elif not event.passages:
            self._tell("Nothing in the snapshot holds these words.")
        else:
            self.found.highlighted = 0
            self.found.focus()
        self._show_keys()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the whole passage."""
        event.stop()
        one, count = self._passages[event.option_index], len(self._passages)
        place = f"passage {event.option_index + 1} of {count}, best match first"
        self._tell(f"{place} · {_KNOWN}" if one.is_known else place)
        self.query_one(PassageView).show(one.passage)
        self._show_keys()

    @property
    def _looked_at(self) -> FoundPassage | None:
        place = self.found.highlighted
        return self._passages[place] if place is not None and self._passages else None

    def _tell(self, text: str) -> None:
        self.query_one("#evidence-told", Static).update(line((text, "dim")))

    def _show_keys(self) -> None:
        one = self._looked_at
        if not self.found.has_focus or one is None:
            keys = line(("Enter", "bold"), " searches   ", ("Esc", "bold"), " back")
        else:
            hand_on = () if one.is_known else (("y", "bold"), " hand on   ")
            keys = line(
                *hand_on,
                *(("j k", "bold"), " others   ", ("spc b", "bold"), " page   "),
                *(("/", "bold"), " words   ", ("Esc", "bold"), " back"),
            )
        self.query_one("#evidence-keys", Static).update(keys)

    def action_words(self) -> None:
        """Look for something else."""
        self.query_one(Input).focus()
        self._show_keys()

    def action_move(self, steps: int) -> None:
        """Look at the next passage, or the one before."""
        if steps > 0:
            self.found.action_cursor_down()
        else:
            self.found.action_cursor_up()

    def action_page(self, pages: int) -> None:
        """Scroll the passage that is looked at."""
        self.query_one(PassageView).scroll_pages(pages)

    def action_choose(self) -> None:
        """Hand on the passage that is looked at, unless it is known."""
        one = self._looked_at
        if one is None:
            return
        if one.is_known:
            self._tell(f"This passage is {_KNOWN}.")
        else:
            self.dismiss(one.evidence_id)

    def action_back(self) -> None:
        """Go back; nothing is handed on."""
        self.dismiss(None)


def _option(found: FoundPassage) -> Content:
    """Write a passage as one line: known or not, title, how it begins."""
    beginning = " ".join(found.passage[:_BEGINNING].split())
    title = f"{found.context.title}: " if found.context.title else ""
    mark = "known · " if found.is_known else ""
    return line((mark, "dim"), (title, "bold"), beginning)
