"""From an answer in the ledger to a question that is measured, judged and examined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labeler.providers.reading import UnreadableAnswer
from labeler.providers.validation import validated
from labeler.records.questions import FindingOutcome, QuestionKind
from labeler.synthesis.answers import Draft, draft_of, shape_of
from labeler.synthesis.filters import Finding, examine
from labeler.synthesis.ledger import Standing
from labeler.synthesis.mean_logprob import MEAN_TOKEN
from labeler.synthesis.measuring import Care, Measured, judged_probability
from labeler.synthesis.orders import Order
from labeler.synthesis.prompts import prompt_for
from labeler.synthesis.setup import GenerateOptions, Ground
from labeler.synthesis.store import is_drawn, question_digest
from labeler.synthesis.tasks import QuestionTask
from labeler.synthesis.thresholds import Thresholds

__all__ = ["Ready", "judge_order", "ready_of", "said_by", "wanted_language", "with_judge"]

_ALSO_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Ready:
    """A question that was measured, before it is stored.

    Attributes:
        task: What was asked for.
        request: The digest of the request.
        standing: The answer.
        draft: What was read from it.
        measured: What was measured.
        findings: What filters and tags found.
    """

    task: QuestionTask
    request: str
    standing: Standing
    draft: Draft
    measured: Measured
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the filters that turn it down."""
        failed = FindingOutcome.FAILED
        return tuple(one.name for one in self.findings if one.outcome is failed)


def wanted_language(ground: Ground, task: QuestionTask) -> str:
    """Give the language that a question should be in, or an empty text."""
    return task.language or ground.pack.by_chunk[task.chunks[0]].language or ""


def ready_of(
    ground: Ground,
    options: GenerateOptions,
    task: QuestionTask,
    request: str,
    standing: Standing,
    thresholds: Thresholds,
) -> Ready | None:
    """Read a draft from an answer, measure and examine it; None when the answer holds none."""
    embedded = options.generator.is_embedded
    if standing.closed:
        return None
    try:
        shape = shape_of(prompt_for(task.kind, embedded=embedded).answer)
        draft = draft_of(validated(standing.raw, shape))
    except (UnreadableAnswer, ValueError):
        return None

    def look(care: Care) -> Ready:
        measured = ground.measuring.measure(
            draft,
            task.kind,
            task.chunks,
            language=wanted_language(ground, task),
            is_embedded=embedded,
            log_probability=standing.logprobs.get(MEAN_TOKEN),
            care=care,
        )
        findings = tuple(examine(measured.candidate, thresholds))
        return Ready(task, request, standing, draft, measured, findings)

    # Embeddings take most of the time. What fails without them needs none, unless people may look
    # at it: thresholds are refitted on all that was measured.
    if not is_drawn(question_digest(ground.split.id, request), options.review_share):
        for care in (Care.WORDS, Care.EVIDENCE):
            found = look(care)
            if found.failed:
                return found
    return look(Care.ALL)


def judge_order(one: Ready) -> Order:
    """Order that a judge is asked whether a question's sources answer it.

    Where nothing may answer, what a search found for it is shown too.
    """
    also = one.measured.found[:_ALSO_SHOWN] if one.task.kind is QuestionKind.UNANSWERABLE else ()
    chunks = tuple(dict.fromkeys([*one.task.chunks, *also]))
    return Order("judge", question=one.draft.question, chunks=chunks)


def said_by(standing: Standing) -> float | None:
    """Read how far a judge says yes; None when it gave no answer that can be used."""
    try:
        fields: Mapping[str, Any] = validated(standing.raw, shape_of("answerable"))
    except (UnreadableAnswer, ValueError):
        return None
    return judged_probability(str(fields["verdict"]), standing.logprobs)


def with_judge(
    ground: Ground, one: Ready, judged: Standing | None, thresholds: Thresholds
) -> Ready:
    """Examine a question again with what the judge said and with what was accepted meanwhile.

    Args:
        ground: What the run stands on.
        one: The question.
        judged: What is known of the judge's answer; None when none was asked.
        thresholds: The thresholds in force.
    """
    candidate = one.measured.candidate
    likest = ground.measuring.known.likest(one.draft.question, one.measured.vector)
    candidate = replace(candidate, likest=likest)
    if judged is not None:
        said = said_by(judged)
        silent = "" if said is not None else f"the judge gave no answer: {judged.closed or 'odd'}"
        candidate = replace(candidate, answerable=said, judge_silent=silent)
    measured = replace(one.measured, candidate=candidate)
    findings: Sequence[Finding] = examine(candidate, thresholds)
    return replace(one, measured=measured, findings=tuple(findings))
