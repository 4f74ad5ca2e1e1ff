"""Each filter: what passes, what fails and why, and when it says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labeler.records.questions import FindingOutcome, QuestionKind
from labeler.synthesis.filters import FILTERS, TAGS, Candidate, examine
from labeler.synthesis.likeness import Likeness
from labeler.synthesis.thresholds import Thresholds
from labeler.synthesis.windows import EvidenceWindow

GOOD = Candidate(
    question="How long can an unused season ticket be returned?",
    kind=QuestionKind.FACTUAL,
    windows=(EvidenceWindow(0, 20, 0.9),),
    language="en",
    is_embedded=True,
    log_probability=-0.4,
    window_similarity=0.9,
    answerable=0.8,
    likest=Likeness("q1", 40.0, 0.7, same_marks=False),
    ranks=(1,),
    depth=10,
)


def outcomes(candidate: Candidate, thresholds: Thresholds | None = None) -> dict[str, str]:
    found = examine(candidate, thresholds or Thresholds())
    return {one.name: one.outcome.value for one in found}


def failed(candidate: Candidate) -> set[str]:
    return {name for name, outcome in outcomes(candidate).items() if outcome == "failed"}


def test_a_good_question_passes_all_filters() -> None:
    assert failed(GOOD) == set()
    written = replace(GOOD, is_embedded=False)
    own = {"superlative", "repetition"}
    assert {outcomes(written)[one.name] for one in FILTERS if one.name not in own} == {"passed"}
    assert {outcomes(GOOD)[name] for name in own} == {"passed"}
    assert {outcomes(written)[name] for name in own} == {"unmeasured"}


def test_where_a_beginning_was_given_the_probability_of_words_tells_nothing() -> None:
    assert outcomes(replace(GOOD, log_probability=-5.0))["log-probability"] == "unmeasured"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"question": "What does the passage say about season tickets?"}, "stands-alone"),
        ({"question": "When was it closed?"}, "stands-alone"),
        ({"question": "Here are two questions: how long? how much?"}, "one-question"),
        ({"question": "How long is it valid, and when does the sale end?"}, "one-question"),
        ({"question": "What is the best season ticket for me?"}, "superlative"),
        ({"question": "What is the difference between a ticket and a card?"}, "superlative"),
        ({"question": "How long does it take to return a return?"}, "repetition"),
        ({"question": "How many characters are in the 16 characters?"}, "repetition"),
        ({"question": "Wie lange kann ich die Karte für das Jahr zurückgeben?"}, "language"),
        ({"windows": (None,)}, "span-in-chunk"),
        ({"windows": ()}, "span-in-chunk"),
        ({"log_probability": -0.7, "is_embedded": False}, "log-probability"),
        ({"window_similarity": 0.87}, "evidence-similarity"),
        ({"answerable": 0.4}, "answerable"),
        ({"answerable": None, "judge_silent": "the judge refused"}, "answerable"),
        ({"likest": Likeness("q1", 100.0, None, same_marks=True)}, "duplicate"),
        ({"likest": Likeness("q1", 50.0, 0.95, same_marks=True)}, "duplicate"),
        ({"sealed_runs": 1}, "sealed-run"),
    ],
)
def test_what_turns_a_question_down(change: dict[str, object], name: str) -> None:
    assert name in failed(replace(GOOD, **change))  # type: ignore[arg-type]  # one field each


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("log_probability", "log-probability"),
        ("window_similarity", "evidence-similarity"),
        ("answerable", "answerable"),
    ],
)
def test_what_was_not_measured_keeps_nothing_out(field: str, name: str) -> None:
    assert outcomes(replace(GOOD, **{field: None}))[name] == "unmeasured"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question", ["What is the fee if the box is open?", "Where is this when that is there?"]
)
def test_small_words_may_be_said_twice(question: str) -> None:
    assert "repetition" not in failed(replace(GOOD, question=question))


def test_a_larger_model_may_say_a_word_twice() -> None:
    question = "What does one plan give that the other plan lacks?"
    assert "repetition" not in failed(replace(GOOD, question=question, is_embedded=False))
    assert "repetition" in failed(replace(GOOD, question=question))


def test_near_questions_with_other_numbers_or_names_are_two() -> None:
    near = Likeness("q1", 95.0, 0.96, same_marks=False)
    assert "duplicate" not in failed(replace(GOOD, likest=near))


def test_an_unanswerable_question_fails_when_something_answers_it() -> None:
    unanswerable = replace(GOOD, kind=QuestionKind.UNANSWERABLE, windows=())
    assert "answerable" in failed(unanswerable)
    assert failed(replace(unanswerable, answerable=0.1)) == set()


def test_tags_keep_nothing_out() -> None:
    odd = replace(GOOD, ranks=(None,), sealed_words=7, sealed_is_better=True, shared_run=9)
    assert failed(odd) == set()
    found = {one.name: one for one in examine(odd, Thresholds())}
    assert {found[one.name].outcome for one in TAGS} == {FindingOutcome.TAG}
    assert found["round-trip"].detail == "beyond rank 10"


def test_a_digest_changes_with_the_thresholds_that_a_filter_looks_at_alone() -> None:
    loose = Thresholds(log_probability=-2.0)
    before = {one.name: one.digest(Thresholds()) for one in FILTERS}
    after = {one.name: one.digest(loose) for one in FILTERS}
    assert {name for name in before if before[name] != after[name]} == {"log-probability"}
    assert len(set(before.values())) == len(before)
