"""One generated question: what it asks, what was asked for, and what it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tui.question_text import question_facts, sources_text
from tui.text import line
from tui.widgets.finding import FindBar
from tui.widgets.passage import PassageView
from tui.widgets.passage_pane import PassagePane, PassageRule
from tui.widgets.query import wrapped_rows

if TYPE_CHECKING:
    from labeler.assessment.questions import WaitingQuestion

__all__ = ["QuestionBox", "QuestionPane"]

_TALL = 20
_LINES, _FEW_LINES = (4, 2, 3), (2, 1, 1)
"""Lines of question, facts and answer at the most: in a tall terminal, and in a short one."""

_LONGEST = 2_000


class QuestionBox(Widget):
    """The question, what was asked for, and the answer that the generator gave."""

    def __init__(self) -> None:
        super().__init__()
        self._question: WaitingQuestion | None = None

    def show(self, question: WaitingQuestion | None) -> None:
        """Show a question, or nothing."""
        self._question = question
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        """Take as many lines as the question needs, as far as the terminal is tall enough."""
        return len(self._rows(width))

    def render(self) -> Content:
        """Draw the question."""
        return Content("\n").join(self._rows(self.size.width))

    def _rows(self, width: int) -> list[Content]:
        question = self._question
        if question is None or width < 2:  # noqa: PLR2004 - a wide character needs 2
            return []
        asked, facts, answer = _LINES if self.app.size.height >= _TALL else _FEW_LINES
        text = question.text[:_LONGEST]
        rows = wrapped_rows(line(("Q  ", "bold"), (text, "bold")), width, asked)
        told = " · ".join(f"{name}: {value}" for name, value in question_facts(question))
        rows += wrapped_rows(line((told[:_LONGEST], "italic")), width, facts)
        if question.answer:
            rows += wrapped_rows(line("Answer: ", question.answer[:_LONGEST]), width, answer)
        return rows


class QuestionPane(PassagePane):
    """What is decided, or a message where there is nothing to decide."""

    class InSight(Message):
        """A question is on the screen.

        Attributes:
            question: The question.
        """

        def __init__(self, question: WaitingQuestion) -> None:
            super().__init__()
            self.question = question

    _title = "made from"
    _evidence: int | None = None

    def compose(self) -> ComposeResult:
        """Lay out the pane; a style sheet says what stands where."""
        yield QuestionBox()
        yield PassageRule(markup=False)
        yield PassageView(id="passage")
        yield FindBar()
        yield Static("Opening the database …", id="message", markup=False)

    def show(self, question: WaitingQuestion | None) -> None:
        """Show a question with its sources, the evidence marked; or nothing."""
        self._forget_search()
        self.query_one(QuestionBox).show(question)
        if question is None:
            return
        text, places = sources_text(question)
        sources = question.sources
        title = sources[0].title if len(sources) == 1 else f"{len(sources)} passages"
        self._title = f"made from {title}" if title else "what it was made from"
        self._evidence = places[0][0] if places else None
        self.passage.show(text, question, marked=places)
        self._show_rule()

    def on_passage_view_painted(self, event: PassageView.Painted) -> None:
        """From now on the question is on the screen; its evidence is brought in sight."""
        event.stop()
        if self._evidence is not None:
            self.passage.bring_in_sight(self._evidence)
        self._show_rule()
        self.post_message(self.InSight(event.what))  # type: ignore[arg-type]  # what `show` gave
