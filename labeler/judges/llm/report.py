"""What came of having a pool judged by a language model: counts that add up, over processes too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from labeler.assessment.verdict import NOT_SUSPICIOUS, Verdict
from labeler.errors import LabelerError
from labeler.labels import Outcome
from labeler.providers.chat import Reply
from labeler.providers.failures import failure_name

__all__ = ["CLOSED", "LlmReport"]

CLOSED = frozenset({Outcome.JUDGED, Outcome.ABSTAINED})
"""The outcomes after which an item isn't asked about again."""


@dataclass
class LlmReport:
    """Counts of a run.

    Attributes:
        items: Items of the pool that have a text.
        known: Items with all their answers from earlier runs.
        answered: Answers of this run.
        reused: Those of them that needed no call: the same was asked before, or at the same time.
        outcomes: Answers of this run by outcome.
        grades: Answers of this run by grade.
        lost: Items that have no answer, from this run or an earlier one, by outcome.
        finished: Items that were gone through: known, answered, lost or waiting.
        waiting: Items whose answer is still to come from a provider's batch, or that it didn't
            answer; they are as open as they were.
        failures: Why answers of this run were lost, by the name of the failure.
        flagged: Answers with a suspicious sign.
        requests: HTTP requests.
        retries: HTTP requests that repeated a failed one.
        reasks: Answers that couldn't be used, so that the model was asked again.
        prompt_tokens: As the provider counted.
        completion_tokens: As the provider counted.
        cost: US dollars, of the answers whose cost is known.
        unpriced: Answers whose cost is unknown.
        stop: Why the run ended before its end, or None.
    """

    items: int = 0
    known: int = 0
    answered: int = 0
    reused: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    finished: int = 0
    waiting: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    flagged: int = 0
    requests: int = 0
    retries: int = 0
    reasks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    stop: LabelerError | None = None

    def add_verdict(self, verdict: Verdict, replies: Sequence[Reply]) -> None:
        """Count one answer."""
        self.answered += 1
        self.outcomes[verdict.outcome.value] += 1
        if verdict.level is not None:
            self.grades[verdict.level.grade.value] += 1
        self.flagged += any(flag not in NOT_SUSPICIOUS for flag in verdict.flags)
        if verdict.outcome in CLOSED:
            self.reused += all(not reply.tries for reply in replies)
        else:
            self.failures[failure_name(verdict.reason)] += 1

    def add_tries(self, reply: Reply) -> None:
        """Count what a reply took."""
        self.requests += len(reply.tries)
        for place, one in enumerate(reply.tries):
            self.reasks += one.outcome == "reasked"
            self.retries += not one.has_response and place + 1 < len(reply.tries)
            if one.has_response:
                self.prompt_tokens += one.prompt_tokens or 0
                self.completion_tokens += one.completion_tokens or 0
                self.cost += one.cost or 0.0
                self.unpriced += one.cost is None

    def merged(self, other: LlmReport) -> LlmReport:
        """Add another process's counts."""
        sums: dict[str, Any] = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__dataclass_fields__
            if name != "stop"
        }
        return LlmReport(**sums, stop=self.stop or other.stop)
