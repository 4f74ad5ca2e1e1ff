"""What is measured about a question, and how little of it before the dear part."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from labeler.records.questions import QuestionKind
from labeler.synthesis.answers import Draft
from labeler.synthesis.likeness import KnownQuestions
from labeler.synthesis.measuring import Care, Measured, Measuring, SealedSide, shared_run
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.sealed import SealedSet
from tests.hash_embedder import HashEmbedder

QUESTION = "How long is a lost ticket kept?"
CHUNKS = (
    PackChunk("tickets", "d1", 0, "train", "A lost ticket is kept for nine days. Ask at the desk."),
    PackChunk("dogs", "d2", 1, "train", "Dogs are welcome in every hall of the old station."),
)


class CountingJudge:
    """Finds everything relevant, and counts what it was asked."""

    name = "counting"
    models = frozenset({"none"})

    def __init__(self) -> None:
        self.asked = 0

    def relevance(self, question: str, chunks: Sequence[PackChunk]) -> list[float | None]:
        self.asked += 1
        return [0.9] * len(chunks)


@pytest.fixture
def judge() -> CountingJudge:
    return CountingJudge()


def measured(judge: CountingJudge, care: Care) -> Measured:
    pack = SafePack("v1", "root", "sealed", CHUNKS, ())
    measuring = Measuring(
        pack,
        SealedSide.of(
            [("chunk:s", "The signal box burnt down in a cold winter.")], SealedSet.of([])
        ),
        KnownQuestions.of({}, None),
        HashEmbedder(),
        judge,
    )
    return measuring.measure(
        Draft(QUESTION, ()),
        QuestionKind.FACTUAL,
        ["tickets"],
        language="en",
        is_embedded=True,
        log_probability=None,
        care=care,
    )


def test_words_alone_need_no_embedding_and_no_judge(judge: CountingJudge) -> None:
    candidate = measured(judge, Care.WORDS).candidate
    assert candidate.window_similarity is None
    assert (candidate.answerable, candidate.ranks) == (None, ())
    assert candidate.shared_run == 3
    assert judge.asked == 0


def test_evidence_needs_no_judge(judge: CountingJudge) -> None:
    one = measured(judge, Care.EVIDENCE)
    (window,) = one.candidate.windows
    assert window is not None
    assert CHUNKS[0].text[window.start : window.end].startswith("A lost ticket")
    assert one.vector is not None
    assert (one.candidate.answerable, one.candidate.ranks) == (None, ())
    assert judge.asked == 0


def test_with_all_care_the_source_is_searched_for_and_judged(judge: CountingJudge) -> None:
    one = measured(judge, Care.ALL)
    assert one.candidate.answerable == pytest.approx(0.9)
    assert one.candidate.ranks == (1,)
    assert one.found[0] == "tickets"
    assert judge.asked == 1


def test_the_longest_common_run_is_counted_in_words() -> None:
    assert shared_run("is a lost ticket a lost dog", "a lost ticket is lost") == 3
    assert shared_run("nothing", "else here") == 0
