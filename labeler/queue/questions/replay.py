"""Lines of a journal that are about a generated question, brought into the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from labeler.assessment.question_events import QuestionAnswer, QuestionSaved, append_question_event
from labeler.assessment.questions import read_questions
from labeler.errors import ConflictError
from labeler.queue.questions.desk import take_back
from labeler.records.questions import QuestionEventKind
from labeler.store.database import Store

__all__ = ["replay_question_event"]


def replay_question_event(
    store: Store,
    reviewer: tuple[str, int],
    kind: QuestionEventKind,
    at: datetime,
    line: Mapping[str, Any],
) -> bool:
    """Store what a reviewer did with a question; False when it was there already.

    Args:
        store: The project.
        reviewer: The reviewer's name and key.
        kind: What was done.
        at: When it was done, in UTC.
        line: The line, as `labeler.queue.sitting.journal.journal_line` writes it.

    Raises:
        LabelerError: When it can't be stored: the question isn't what was shown, say.
        KeyError: When the line lacks a part.
    """
    name, reviewer_id = reviewer
    key = str(line["key"])
    if kind is QuestionEventKind.UNDO:
        if take_back(store, name, reviewer_id, key, of=line["of"], at=at) is None:
            raise ConflictError("what was to be taken back doesn't stand any more")
        return True
    question_id = int(line["question"])
    answer = QuestionAnswer(
        key,
        question_id,
        kind,
        text=str(line["text"]),
        note=str(line["note"]),
        shown_digest=str(line["shown"]),
        dwell_ms=line["dwell_ms"],
        at=at,
    )
    with store.write(f"review question {kind.value}", actor=name, durable=True) as tx:
        shown = read_questions(tx.connection, [question_id])
        if not shown or shown[0].digest != answer.shown_digest:
            raise ConflictError("the question isn't what was shown")
        return append_question_event(tx, reviewer_id, answer) is not QuestionSaved.KNOWN
