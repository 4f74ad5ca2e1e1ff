"""The filters of generated questions: each a name, a pure function and a digest; one registry.

A filter looks at a question together with what was measured about it and says whether it passes.
Nothing is dropped: what fails is kept with the reason. A filter that finds nothing to look at says
so and keeps nothing out. Tags are found in the same way and keep nothing out either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labeler.records.questions import FindingOutcome, QuestionKind
from labeler.synthesis.language import speaks
from labeler.synthesis.likeness import Likeness
from labeler.synthesis.thresholds import Thresholds
from labeler.synthesis.windows import EvidenceWindow
from labeler.synthesis.wording import (
    has_superlative,
    leans_on_passage,
    not_one_question,
    repeated_word,
)

__all__ = ["FILTERS", "GUARDS", "TAGS", "Candidate", "Finding", "QuestionFilter", "examine"]

_VERSION = 1
_SHARED_RUN = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with all that was measured about it. What was not measured is None.

    Attributes:
        question: The question.
        kind: What sort of question was asked for.
        windows: The evidence in each source; None where it wasn't found there.
        language: The language that it should be in, or empty.
        is_embedded: Whether the embedded generator wrote it.
        log_probability: The mean log-probability of its tokens.
        window_similarity: The least cosine between it and an evidence window.
        answerable: The least probability that a source is relevant to it, by a judge other than
            its generator; for an unanswerable question the greatest among what was found.
        judge_silent: Why a judge that was asked gave no answer; empty otherwise.
        likest: The known question that is most like it.
        sealed_runs: Runs of 8 words that it shares with sealed chunks.
        sealed_words: The longest run of words that it shares with a sealed chunk, below 8.
        sealed_is_better: Whether a sealed chunk matches it better than its source.
        ranks: The rank of each source when it is searched for in the pack; None beyond the depth.
        depth: How deep was searched.
        shared_run: The longest run of words that it shares with a source.
    """

    question: str
    kind: QuestionKind
    windows: tuple[EvidenceWindow | None, ...] = ()
    language: str = ""
    is_embedded: bool = False
    log_probability: float | None = None
    window_similarity: float | None = None
    answerable: float | None = None
    judge_silent: str = ""
    likest: Likeness | None = None
    sealed_runs: int = 0
    sealed_words: int = 0
    sealed_is_better: bool | None = None
    ranks: tuple[int | None, ...] = ()
    depth: int = 0
    shared_run: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one filter found about a question."""

    name: str
    outcome: FindingOutcome
    score: float | None = None
    detail: str = ""
    digest: str = ""


Decide = Callable[[Candidate, Thresholds], tuple[FindingOutcome, float | None, str]]
_PASSED, _FAILED = FindingOutcome.PASSED, FindingOutcome.FAILED
_NOTHING = (FindingOutcome.UNMEASURED, None, "")


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """A filter or a tag.

    Attributes:
        name: What it is called.
        decide: What it finds.
        uses: The names of the thresholds that it looks at.
        guards: Whether it guards against leaks and duplicates, so that no person overrules it.
    """

    name: str
    decide: Decide = field(compare=False)
    uses: tuple[str, ...] = ()
    guards: bool = False

    def digest(self, thresholds: Thresholds) -> str:
        """The SHA-256 of the name, the version and the thresholds that it looks at."""
        used = {name: getattr(thresholds, name) for name in self.uses}
        content = json.dumps([self.name, _VERSION, used], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def look(self, candidate: Candidate, thresholds: Thresholds) -> Finding:
        """Examine a question."""
        outcome, score, detail = self.decide(candidate, thresholds)
        return Finding(self.name, outcome, score, detail, self.digest(thresholds))


def _said(problem: str) -> tuple[FindingOutcome, None, str]:
    return (_FAILED if problem else _PASSED, None, problem)


def _at_least(value: float | None, least: float) -> tuple[FindingOutcome, float | None, str]:
    if value is None:
        return _NOTHING
    passed = value >= least
    return (_PASSED if passed else _FAILED, value, "" if passed else f"below {least:g}")


def _span_in_chunk(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if one.kind is QuestionKind.UNANSWERABLE:
        return _NOTHING
    missing = [place for place, window in enumerate(one.windows, 1) if window is None]
    if not one.windows or missing:
        return _said(f"the answer doesn't stand in source {missing[0] if missing else 1}")
    return _said("")


def _answerable(one: Candidate, t: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if one.judge_silent:
        return _said(one.judge_silent)
    if one.answerable is None:
        return _NOTHING
    if one.kind is QuestionKind.UNANSWERABLE:
        passed = one.answerable < t.answerable
        return (_PASSED if passed else _FAILED, one.answerable, "" if passed else "is answered")
    return _at_least(one.answerable, t.answerable)


def _duplicate(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    known = one.likest
    if known is None:
        return (_PASSED, None, "")
    score = known.words / 100 if known.cosine is None else max(known.cosine, known.words / 100)
    if known.is_same:
        return (_FAILED, score, f"{'equals' if known.is_equal else 'is like'} {known.name}")
    return (_PASSED, score, "")


def _language(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.language:
        return _NOTHING
    spoken = speaks(one.question, one.language)
    if spoken is None:
        return _NOTHING
    return _said("" if spoken else f"is not in {one.language}")


def _superlative(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.is_embedded:
        return _NOTHING  # measured for the embedded generator alone
    found = has_superlative(one.question)
    return _said(f"holds '{found}'" if found else "")


def _repetition(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.is_embedded:
        return _NOTHING  # "a plan with another plan" may be what a larger model means
    found = repeated_word(one.question)
    return _said(f"says '{found}' twice" if found else "")


def _sealed_run(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    problem = "holds words of a sealed text" if one.sealed_runs else ""
    return (_FAILED if problem else _PASSED, float(one.sealed_runs), problem)


FILTERS: tuple[QuestionFilter, ...] = (
    QuestionFilter("one-question", lambda one, _: _said(not_one_question(one.question))),
    QuestionFilter("span-in-chunk", _span_in_chunk),
    QuestionFilter("stands-alone", lambda one, _: _said(leans_on_passage(one.question))),
    QuestionFilter("language", _language),
    QuestionFilter("superlative", _superlative),
    QuestionFilter("repetition", _repetition),
    QuestionFilter(
        "log-probability",
        # Where the beginning was given, the words' probability tells nothing (docs/generation.md).
        lambda one, t: (
            _NOTHING if one.is_embedded else _at_least(one.log_probability, t.log_probability)
        ),
        ("log_probability",),
    ),
    QuestionFilter(
        "evidence-similarity",
        lambda one, t: _at_least(one.window_similarity, t.window_similarity),
        ("window_similarity",),
    ),
    QuestionFilter("answerable", _answerable, ("answerable",)),
    QuestionFilter("duplicate", _duplicate, guards=True),
    QuestionFilter("sealed-run", _sealed_run, guards=True),
)
"""Every filter, in the order in which reports name the first that failed."""


def _round_trip(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.ranks:
        return _NOTHING
    beyond = [place for place, rank in enumerate(one.ranks, 1) if rank is None]
    if beyond:
        return (FindingOutcome.TAG, None, f"beyond rank {one.depth}")
    return (FindingOutcome.TAG, float(max(rank or 0 for rank in one.ranks)), "")


def _sealed_near(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.sealed_words:
        return _NOTHING
    return (FindingOutcome.TAG, float(one.sealed_words), "shares words with a sealed chunk")


def _sealed_better(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    if not one.sealed_is_better:
        return _NOTHING
    return (FindingOutcome.TAG, None, "a sealed chunk matches better than the source")


def _shared_wording(one: Candidate, _: Thresholds) -> tuple[FindingOutcome, float | None, str]:
    detail = "easy: found by its words" if one.shared_run >= _SHARED_RUN else ""
    return (FindingOutcome.TAG, float(one.shared_run), detail)


TAGS: tuple[QuestionFilter, ...] = (
    QuestionFilter("round-trip", _round_trip),
    QuestionFilter("shared-wording", _shared_wording),
    QuestionFilter("sealed-words", _sealed_near),
    QuestionFilter("sealed-matches-better", _sealed_better),
)
"""What is noted and keeps nothing out."""

GUARDS: frozenset[str] = frozenset(one.name for one in FILTERS if one.guards)
"""The filters that no person overrules."""

_BY_NAME: Mapping[str, QuestionFilter] = {one.name: one for one in (*FILTERS, *TAGS)}


def examine(candidate: Candidate, thresholds: Thresholds) -> list[Finding]:
    """Apply every filter and tag to a question, in their order."""
    return [one.look(candidate, thresholds) for one in _BY_NAME.values()]
