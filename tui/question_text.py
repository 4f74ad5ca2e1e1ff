"""A generated question and its sources as text for the screen, with where the evidence stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labeler.queue.questions.orders import OTHER, REJECT_REASONS
from labeler.queue.questions.sitting import QuestionSitting
from labeler.queue.questions.tally import QuestionPhase
from tui.bindings import KeyRow, KeyTable
from tui.seat import Seat
from tui.text import displayed, displayed_line
from tui.wording import FINDING_KEYS

if TYPE_CHECKING:
    from labeler.assessment.questions import ShownSource, WaitingQuestion

__all__ = [
    "answers_for_questions",
    "keys_for_questions",
    "question_facts",
    "sources_text",
    "told_instead",
    "why_keys",
]

_KINDS = {
    "factual": "a fact",
    "conditional": "a fact that holds under conditions",
    "procedural": "how something is done",
    "comparison": "a comparison of two passages",
    "paraphrase": "in the words of earlier queries",
    "unanswerable": "no answer in the corpus",
}


def question_facts(question: WaitingQuestion) -> list[tuple[str, str]]:
    """List what was asked for: kind, conditions, who asks; names and values."""
    facts = [("kind", _KINDS.get(question.kind.value, question.kind.value))]
    facts += [("domain", question.domain)] if question.domain else []
    facts += sorted((name, str(value)) for name, value in question.conditions.items())
    facts += [("asked by", question.persona)] if question.persona else []
    return facts


def sources_text(question: WaitingQuestion) -> tuple[str, list[tuple[int, int]]]:
    """Write out all sources, ready for the screen, and give where in it the evidence stands."""
    rows: list[str] = []
    places: list[tuple[int, int]] = []
    length = 0
    total = len(question.sources)
    for number, source in enumerate(question.sources, 1):
        if total > 1:
            name = f"Passage {number} of {total}" + (f": {source.title}" if source.title else "")
            rows.append(f"{displayed_line(name)}\n\n")
            length += len(rows[-1])
        text, place = _source(source)
        places += [(length + place[0], length + place[1])] if place else []
        rows.append(text + ("\n\n" if number < total else ""))
        length += len(rows[-1])
    return "".join(rows), places


def _source(source: ShownSource) -> tuple[str, tuple[int, int] | None]:
    if source.window is None:
        return displayed(source.text), None
    start, end = source.window
    before, inside = displayed(source.text[:start]), displayed(source.text[start:end])
    after = displayed(source.text[end:])
    return before + inside + after, (len(before), len(before) + len(inside))


def why_keys() -> list[tuple[str, str]]:
    """List the reasons of a rejection with their keys."""
    told = [(str(place), reason) for place, reason in enumerate(REJECT_REASONS, 1)]
    return [*told, (str(OTHER), "in your own words")]


def told_instead(sitting: QuestionSitting, seat: Seat, table: KeyTable) -> str:
    """Say what there is in place of a question, or nothing where there is one."""
    undo, leave, more = table.shown("undo"), table.shown("quit"), table.shown("question_more")
    ends = f"{undo} takes the last one back. {leave} ends."
    match sitting.phase:
        case QuestionPhase.PAUSED:
            goes_on = f"{table.shown('pause')} goes on. {leave} ends."
            return f"Paused: the question is hidden, and no time counts.\n\n{goes_on}"
        case QuestionPhase.ENDED:
            return f"The sitting is over.\n\n{sitting.tally.describe()}\n\n{ends}"
        case QuestionPhase.EMPTY if sitting.last is None and not sitting.tally.undone:
            asked = f" of {', '.join(seat.filters)}" if seat.filters else ""
            return f"No question{asked} waits for you.\n\n{more} looks again. {leave} ends."
        case QuestionPhase.EMPTY:
            rows = "No further question waits for you.", sitting.tally.describe()
            return "\n\n".join([*rows, f"{more} looks again. {ends}"])
        case QuestionPhase.WAITING:
            return "Looking for the next question …"
        case _:
            return ""


def _answers(table: KeyTable) -> list[KeyRow]:
    """Give the rows of what can be done with a question."""
    return [table.row(f"question_{kind}") for kind in ("accept", "edit", "reject", "skip")]


def answers_for_questions(table: KeyTable) -> list[tuple[str, str]]:
    """List what can be done with a question: keys and words."""
    return [(row.shown, row.short) for row in _answers(table)]


def keys_for_questions(
    sitting: QuestionSitting, table: KeyTable, *, finding: bool
) -> list[tuple[str, str, int]]:
    """Give the keys that do something now, what each does, and its rank for want of room."""
    if finding:
        return FINDING_KEYS
    match sitting.phase:
        case QuestionPhase.JUDGING:
            others = [row for row in table.rows if row.short and row not in _answers(table)]
            return [(row.shown, row.short, row.rank) for row in others]
        case QuestionPhase.ASKING:
            return [(f"1-{OTHER}", "why", 0), ("Esc", "back", 0)]
        case QuestionPhase.PAUSED:
            names = {"pause": "go on", "help": "help", "quit": "quit"}
        case QuestionPhase.WAITING:
            names = {"help": "help", "quit": "quit"}
        case _:
            names = {"undo": "undo", "question_more": "look again", "help": "help", "quit": "quit"}
    return [(table.shown(name), word, 0) for name, word in names.items()]
