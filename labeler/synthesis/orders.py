"""What the process with the database and the one without say to each other: lines of JSON.

The parent orders requests by what they are made from (a task, or a question with chunks), never by
their text. The child renders them from the pack, asks leave to show each text, and tells what came
of each. Every answer is in the child's journal before it is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from labeler import errors
from labeler.errors import LabelerError
from labeler.providers.chat import ChatRequest, Ended, Try
from labeler.records.questions import QuestionKind
from labeler.synthesis.pack import SafePack
from labeler.synthesis.rendering import Model, answerable_request, question_request
from labeler.synthesis.tasks import QuestionTask

__all__ = ["Answered", "Order", "error_of", "read_line", "told_error", "write_line"]

Role = Literal["generator", "judge"]


@dataclass(frozen=True, slots=True)
class Order:
    """One request that is to be sent.

    Attributes:
        role: Which model is asked.
        task: The question that the generator is asked for; None for the judge.
        question: What the judge is asked about; empty for the generator.
        chunks: What the judge is shown; empty for the generator.
    """

    role: Role
    task: QuestionTask | None = None
    question: str = ""
    chunks: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The chunks whose text the model will see."""
        return self.task.chunks if self.task is not None else self.chunks

    def request(self, pack: SafePack, model: Model) -> ChatRequest:
        """Render the request."""
        if self.task is not None:
            return question_request(pack, self.task, model)
        return answerable_request(pack, self.question, self.chunks, model)

    def to_json(self) -> dict[str, Any]:
        """Write it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Order:
        """Read what `to_json` wrote."""
        task = content["task"]
        if task is not None:
            kind, chunks = QuestionKind(task["kind"]), tuple(task["chunks"])
            task = QuestionTask(**{**task, "kind": kind, "chunks": chunks})
        return cls(content["role"], task, content["question"], tuple(content["chunks"]))


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a request, as it stands in the journal.

    Attributes:
        request: The request's digest.
        ended: How it ended.
        why: Why it isn't answered, in a few words.
        tries: Every HTTP request that it took.
    """

    request: str
    ended: Ended
    why: str
    tries: tuple[Try, ...]

    def to_json(self) -> dict[str, Any]:
        """Write it as plain values."""
        tries = [{**asdict(one), "at": one.at.isoformat()} for one in self.tries]
        return {"request": self.request, "ended": self.ended, "why": self.why, "tries": tries}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Answered:
        """Read what `to_json` wrote."""
        tries = [
            Try(**{**one, "at": datetime.fromisoformat(one["at"])}) for one in content["tries"]
        ]
        return cls(content["request"], Ended(content["ended"]), content["why"], tuple(tries))


def write_line(content: Mapping[str, Any]) -> str:
    """Write one message as a line; characters that no encoding has stay escaped."""
    return json.dumps(content, sort_keys=True) + "\n"


def read_line(line: str) -> dict[str, Any] | None:
    """Read a line; None for one that was cut off in the middle."""
    try:
        content: Any = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def told_error(error: LabelerError) -> dict[str, Any]:
    """Write an error so that the other process can raise it."""
    return {"error": type(error).__name__, "message": error.message, "hint": error.hint}


def error_of(content: Mapping[str, Any]) -> LabelerError:
    """Make the error that the other process told."""
    kind = getattr(errors, str(content["error"]), LabelerError)
    if not (isinstance(kind, type) and issubclass(kind, LabelerError)):
        kind = LabelerError
    message, hint = str(content["message"]), content["hint"]
    try:
        return kind(message, hint=hint)
    except TypeError:  # an error that is made from something else than a message
        return LabelerError(message, hint=hint)
