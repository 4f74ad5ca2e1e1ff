"""What the keys of the review screen do: the reviewer's wishes, handed to the sitting."""

from __future__ import annotations

from labeler.assessment.query_changes import query_flag
from labeler.queue.sitting.machine import Sitting
from tui.around import Around
from tui.bindings import MAX_ANSWERS
from tui.screens.evidence import EvidenceScreen, Find
from tui.screens.pages import Pages
from tui.screens.query import AboutQuery, QueryScreen
from tui.screens.sitting import SittingScreen
from tui.screens.writing import WritingScreen, Written
from tui.widgets.item import ItemPane

__all__ = ["ReviewKeys"]


class ReviewKeys(SittingScreen):
    """The actions of the table of keys, over a sitting and the item on the screen."""

    _sitting: Sitting
    _pages: Pages
    _around: Around
    _find: Find | None
    _highlights = True

    @property
    def _item(self) -> ItemPane:
        return self.query_one(ItemPane)

    def action_answer(self, place: int) -> None:
        """Give an answer, by its place from the worst."""
        shown = self._sitting.current
        if self._sitting.revealed is not None:
            self._sitting.change_mind(place)
        elif shown is not None and len(shown.block.rubric.scale.levels) >= MAX_ANSWERS:
            self._sitting.notice = "this scale has too many levels for keys: use --plain"
        else:
            self._sitting.choose(place)
        self.sync()

    def action_undo(self) -> None:
        """Take the last vote back."""
        self._sitting.undo()
        self.sync()

    def action_skip(self) -> None:
        """Leave the item to others."""
        self._sitting.skip_by_key()
        self.sync()

    def action_widen(self) -> None:
        """Take skipped items again, or items that a filter leaves out."""
        self._sitting.widen()
        self.sync()

    def action_go_on(self) -> None:
        """Go on from what judges said."""
        self._sitting.go_on()
        self.sync()

    def action_back(self) -> None:
        """Go back from the question why an item can't be judged, or from what judges said."""
        if self._sitting.revealed is not None:
            self._sitting.go_on()
        self._sitting.stop_asking()
        self.sync()

    def action_note(self) -> None:
        """Write a note."""
        screen = WritingScreen("Note on this item", self._sitting.draft, "leaves it as a draft")
        self.app.push_screen(screen, self._take_note)

    def _take_note(self, written: Written | None) -> None:
        if written is not None and self._sitting.current is not None:
            if written.is_finished:
                self._sitting.note(written.text)
            else:
                self._sitting.keep_draft(written.text)
        self.sync()

    def action_flag(self) -> None:
        """Flag the item."""
        screen = WritingScreen("Flag this item: what is wrong with it?", "", "drops it")
        self.app.push_screen(screen, self._take_flag)

    def _take_flag(self, written: Written | None) -> None:
        if written is not None and written.is_finished and self._sitting.current is not None:
            self._sitting.note(written.text, is_flag=True)
        self.sync()

    def action_context(self) -> None:
        """Show the whole query, and what stands around the passage."""
        if (shown := self._sitting.current) is not None:
            self._around.want(shown.claim.item_id)
            self.app.push_screen(self._pages.context(shown))

    def action_rubric(self) -> None:
        """Show what each level means."""
        if (shown := self._sitting.current) is not None:
            self.app.push_screen(self._pages.rubric(shown))

    def action_judges(self) -> None:
        """At the end: show what judges said of this sitting's items, where that is allowed."""
        if self._sitting.may_reveal or self._sitting.all_revealed:
            self._sitting.ask_what_judges_said()
            self.app.push_screen(self._pages.judges())
            self.sync()

    def action_evidence(self) -> None:
        """Search the snapshot for a passage that is missing."""
        shown = self._sitting.current
        if shown is None or self._find is None:
            return

        def take(evidence_id: int | None) -> None:
            if evidence_id is not None:
                self._sitting.propose_evidence(shown, evidence_id)
            self.sync()

        screen = EvidenceScreen(shown.claim.item_id, shown.snapshot, self._find)
        self.app.push_screen(screen, take)

    def action_query(self) -> None:
        """Say that the query should be another one, or that it is unclear."""
        shown = self._sitting.current
        if shown is None:
            return

        def take(about: AboutQuery | None) -> None:
            if about is not None and about.change is not None:
                self._sitting.propose_query(shown, about.change, about.words)
            elif about is not None:
                self._sitting.note(query_flag(about.words), is_flag=True)
            self.sync()

        self.app.push_screen(QueryScreen(shown.block.query), take)

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(self._pages.help())

    def action_highlight(self) -> None:
        """Let words of the query stand out, or not."""
        self._highlights = not self._highlights
        self._item.passage.show_terms(shown=self._highlights)
        self._sitting.notice = (
            "words of the query stand out" if self._highlights else "no words stand out"
        )
        self.sync()
