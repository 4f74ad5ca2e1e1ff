"""What a sitting over generated questions asks of the database, and what it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labeler.assessment.questions import WaitingQuestion
    from labeler.records.questions import QuestionEventKind

__all__ = [
    "OTHER",
    "REJECT_REASONS",
    "Brought",
    "Decide",
    "Decided",
    "DraftKept",
    "KeepDraft",
    "More",
    "QuestionAnswered",
    "QuestionOrder",
    "TakeBack",
    "TakenBack",
    "TurnedDown",
]

REJECT_REASONS = (
    "the passage doesn't answer it",
    "nobody would ask this",
    "unclear without the passage",
    "wrong evidence or answer",
)
"""Why a question is rejected, by the digits from 1 on; the digit after them asks for words."""

OTHER = len(REJECT_REASONS) + 1
"""The digit of a reason in one's own words."""


# Orders. Each event has a key that is made when a key is pressed: given twice, it counts once.


@dataclass(frozen=True, slots=True)
class Decide:
    """Store what a reviewer did with a question: accept, edit, reject or skip.

    Attributes:
        key: The id of the event.
        question: The question as it was shown.
        kind: What was done.
        text: The new wording of an edit; empty otherwise.
        note: Why it was rejected; empty otherwise.
        dwell_ms: How long it had been on the screen.
    """

    key: str
    question: WaitingQuestion
    kind: QuestionEventKind
    text: str = ""
    note: str = ""
    dwell_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Take the reviewer's latest event back, or the one with a key where that is known."""

    key: str
    of: str | None = None


@dataclass(frozen=True, slots=True)
class KeepDraft:
    """Keep a wording that isn't finished, so that it outlives the process; empty forgets it."""

    question: WaitingQuestion
    text: str


@dataclass(frozen=True, slots=True)
class More:
    """Read further questions that wait for the reviewer, but none that is there already."""

    count: int
    there: frozenset[int]


QuestionOrder = Decide | TakeBack | KeepDraft | More


# Answers.


@dataclass(frozen=True, slots=True)
class Decided:
    """An event is on disk; a late one doesn't count, since somebody else had decided."""

    key: str
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """An event was not stored; the question comes again where it still waits."""

    key: str
    message: str
    again: WaitingQuestion | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An event was taken back, and its question waits again; or, with a message, it was not.

    Attributes:
        key: The id of the undo.
        of: The id of the event that was taken back; empty when none was.
        question: The question.
        message: Why nothing was taken back, or empty.
    """

    key: str
    of: str = ""
    question: WaitingQuestion | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Brought:
    """Questions that wait for the reviewer.

    Attributes:
        questions: Some of them.
        waiting: How many there are, those on the screen included.
        drafts: Wordings of these that were begun and not given, by the question's key.
    """

    questions: tuple[WaitingQuestion, ...]
    waiting: int
    drafts: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DraftKept:
    """A draft was kept, as well as that can be."""


QuestionAnswered = Decided | TurnedDown | TakenBack | Brought | DraftKept
