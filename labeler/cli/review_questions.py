"""`labeler review --questions`: generated questions accepted, edited, rejected; app or lines."""

from __future__ import annotations

import sys
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from labeler.assessment.visible import visible, visible_line
from labeler.cli.project import open_project
from labeler.cli.sitting_desk import SittingDesk, check_saved, journal_of
from labeler.errors import UsageError
from labeler.queue.questions.orders import QuestionAnswered, QuestionOrder

if TYPE_CHECKING:
    from labeler.assessment.questions import WaitingQuestion
    from labeler.records.questions import QuestionEventKind
    from labeler.settings import ReviewSettings

__all__ = ["AskedQuestions", "OpenQuestionDesk", "question_lines", "review_questions"]

_WIDTH = 80
_HELP = "a accept   e TEXT edit   r NUMBER or TEXT reject   s skip   u undo   p show again   q quit"


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """What the command line and the settings ask for; see `labeler.cli.review.review`."""

    reviewer: str
    domain: str | None
    language: str | None
    limit: int | None
    minutes: float | None
    db: str | None
    settings: ReviewSettings


class OpenQuestionDesk(SittingDesk[QuestionOrder, QuestionAnswered]):
    """A place at the generated questions together with its database and journal."""

    def __init__(self, asked: AskedQuestions) -> None:
        from labeler.queue.questions.desk import QuestionDesk
        from labeler.queue.sitting.replay import replay_journals

        store = open_project(asked.db)
        try:
            told = replay_journals(store).describe()
            desk = QuestionDesk(store, asked.reviewer, asked.domain, asked.language)
        except BaseException:
            store.close()
            raise
        super().__init__(store, desk, journal_of(store, asked.reviewer), told)


def review_questions(asked: AskedQuestions, *, plain: bool, has_screen: bool) -> None:
    """Run a sitting over generated questions.

    Raises:
        UsageError: When there is no terminal for the app.
        StoreError: When events couldn't be saved.
    """
    if plain:
        desk = OpenQuestionDesk(asked)
        try:
            question_lines(desk, asked, sys.stdin, sys.stdout)
        finally:
            desk.close()
        return
    if not has_screen:
        raise UsageError(
            "the review app needs a terminal that can place its cursor",
            hint="line by line: labeler review --questions --plain",
        )
    from tui.question_app import run_questions
    from tui.seat import Seat

    seat = Seat(
        asked.reviewer,
        limit=asked.limit,
        minutes=asked.minutes,
        domain=asked.domain,
        language=asked.language,
        keys=asked.settings.keys,
    )
    tally, kept, lost = run_questions(seat, lambda: OpenQuestionDesk(asked))
    print(tally.describe())
    check_saved(kept, lost)


def question_lines(
    desk: OpenQuestionDesk, asked: AskedQuestions, source: TextIO, target: TextIO
) -> None:
    """Show a question, read an answer, store it, show the next.

    Ends at ``q``, at the end of the input, at the sitting's limit, or when no question waits. A
    line that was typed and ended is no key press: nothing asks how long the question was shown.

    Args:
        desk: The place at the questions.
        asked: What the sitting is.
        source: Where answers are read from.
        target: Where questions are shown.
    """

    def say(text: str = "") -> None:
        target.write(text + "\n")
        target.flush()

    if desk.told:
        say(visible(desk.told))
    lines = _Lines(desk, say)
    while asked.limit is None or lines.standing < asked.limit:
        question = lines.current()
        if question is None:
            say("no question waits for you")
            break
        target.write("> ")
        target.flush()
        line = source.readline()
        if not line or line.strip() == "q":
            say("" if not line else "bye")
            break
        lines.answer(question, line.strip())
    noun = "question" if lines.standing == 1 else "questions"
    say(f"{lines.standing} {noun} decided, {lines.skipped} skipped")


class _Lines:
    """What is known in a sitting by lines."""

    def __init__(self, desk: OpenQuestionDesk, say: Callable[[str], None]) -> None:
        self._desk = desk
        self._say = say
        self._shown: WaitingQuestion | None = None
        self._given: list[tuple[str, QuestionEventKind]] = []

    @property
    def standing(self) -> int:
        """How many decisions of this sitting stand."""
        return sum(kind.value != "skip" for _, kind in self._given)

    @property
    def skipped(self) -> int:
        """How many questions were skipped."""
        return len(self._given) - self.standing

    def current(self) -> WaitingQuestion | None:
        """Give the question to be decided, shown unless it is already; None when none waits."""
        from labeler.queue.questions.orders import Brought, More

        if self._shown is None:
            brought = self._desk.perform(More(1, frozenset()))
            if isinstance(brought, Brought) and brought.questions:
                self._show(brought.questions[0])
        return self._shown

    def answer(self, question: WaitingQuestion, line: str) -> None:
        """Do what a line asks for."""
        from labeler.queue.questions.orders import REJECT_REASONS
        from labeler.records.questions import QuestionEventKind

        command, _, rest = line.partition(" ")
        rest = rest.strip()
        match command:
            case "a" if not rest:
                self._decide(question, QuestionEventKind.ACCEPT)
            case "e" if rest:
                self._decide(question, QuestionEventKind.EDIT, text=rest)
            case "r" if rest:
                place = int(rest) if rest.isdecimal() else 0
                reason = REJECT_REASONS[place - 1] if 1 <= place <= len(REJECT_REASONS) else rest
                self._decide(question, QuestionEventKind.REJECT, note=reason)
            case "s":
                self._decide(question, QuestionEventKind.SKIP)
            case "u":
                self._undo()
            case "p":
                self._show(question)
            case _:
                self._say(_HELP)
                for number, reason in enumerate(REJECT_REASONS, 1):
                    self._say(f"  r {number}  {reason}")

    def _decide(
        self, question: WaitingQuestion, kind: QuestionEventKind, *, text: str = "", note: str = ""
    ) -> None:
        from labeler.queue.questions.orders import Decide, Decided, TurnedDown

        order = Decide(str(uuid.uuid4()), question, kind, text, note)
        self._desk.expect(order)
        answer = self._desk.perform(order)
        if isinstance(answer, TurnedDown):
            self._say(f"not saved: {visible_line(answer.message)}")
            self._shown = answer.again
            return
        late = isinstance(answer, Decided) and answer.is_late
        self._say("kept: somebody else had decided before" if late else f"{kind.value}: saved")
        self._given.append((order.key, kind))
        self._shown = None

    def _undo(self) -> None:
        from labeler.queue.questions.orders import TakeBack, TakenBack

        order = TakeBack(str(uuid.uuid4()), self._given[-1][0] if self._given else None)
        self._desk.expect(order)
        answer = self._desk.perform(order)
        if not isinstance(answer, TakenBack) or answer.question is None:
            self._say(answer.message if isinstance(answer, TakenBack) else "not taken back")
            return
        self._given = [one for one in self._given if one[0] != answer.of]
        self._say("the last one is taken back")
        self._show(answer.question)

    def _show(self, question: WaitingQuestion) -> None:
        self._shown = question
        say = self._say
        say("-" * _WIDTH)
        say(_wrapped(f"Question: {question.text}"))
        facts = {"kind": question.kind.value, "domain": question.domain or ""}
        facts |= {name: str(value) for name, value in question.conditions.items()}
        facts |= {"asked by": question.persona or ""}
        say(_wrapped(", ".join(f"{name}: {value}" for name, value in facts.items() if value)))
        if question.answer:
            say(_wrapped(f"Answer: {question.answer}"))
        for number, source in enumerate(question.sources, 1):
            title = f": {source.title}" if source.title else ""
            say("")
            say(_wrapped(f"Passage {number} of {len(question.sources)}{title}"))
            for paragraph in visible(source.text).split("\n"):
                say(textwrap.fill(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  "))
            if source.window is not None:
                say(_wrapped(f"Evidence: {source.text[slice(*source.window)]}"))
        say("")
        say(_HELP)


def _wrapped(text: str) -> str:
    return textwrap.fill(visible_line(text), _WIDTH, subsequent_indent="  ")
