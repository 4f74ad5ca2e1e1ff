"""Where the evidence stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.synthesis.windows import (
    best_window,
    sentences,
    span_of,
    telling_sentences,
    windows_of,
)
from tests.hash_embedder import HashEmbedder

TEXT = (
    "Season tickets are sold at the gate. They can be returned within 14 days of purchase, unused. "
    "Dogs are welcome."
)


def test_the_window_with_the_words_of_the_question_is_chosen() -> None:
    found = best_window("returned within 14 days of purchase", TEXT, HashEmbedder())
    assert found is not None
    assert "within 14 days" in TEXT[found.start : found.end]
    assert found.similarity is not None
    assert found.similarity > 0.5


def test_a_window_is_compared_under_its_title() -> None:
    embedder = HashEmbedder()
    text = "It lasts two years. Dogs are welcome in every shop of ours."
    alone = best_window("how long the warranty lasts", text, embedder)
    under = best_window("how long the warranty lasts", text, embedder, title="The warranty")
    assert alone is not None
    assert under is not None
    assert text[under.start : under.end].startswith("It lasts two years.")
    assert alone.similarity is not None
    assert under.similarity is not None
    assert under.similarity > alone.similarity


def test_of_a_long_text_few_windows_are_embedded_and_the_right_one_is_found() -> None:
    class Counting(HashEmbedder):
        most = 0

        def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.most = max(self.most, len(texts))
            return super().passages(texts)

    embedder = Counting()
    other = [f"Hall number {n} was built of bricks and stones." for n in range(40)]
    text = " ".join([*other, "A lost ticket is kept for nine days.", *other])
    found = best_window("How long is a lost ticket kept?", text, embedder)
    assert found is not None
    assert text[found.start : found.end] == "A lost ticket is kept for nine days."
    assert embedder.most == 4


def test_a_title_that_the_window_holds_counts_once() -> None:
    text = "Tickets can be returned within 14 days."
    with_title = best_window("Tickets returned", text, HashEmbedder(), title="Tickets")
    assert with_title == best_window("Tickets returned", text, HashEmbedder())


def test_a_span_is_found_whatever_its_case_quotes_and_blanks() -> None:
    found = span_of(TEXT, ' "Within 14  DAYS of purchase" ')
    assert found is not None
    assert TEXT[found.start : found.end] == "within 14 days of purchase"


def test_words_that_were_not_copied_are_no_span() -> None:
    assert span_of(TEXT, "within two weeks") is None
    assert span_of(TEXT, "Season tickets ... unused") is None
    assert span_of(TEXT, '""') is None


def test_sentences_with_numbers_are_asked_about_first() -> None:
    told = telling_sentences(TEXT + " Whoever has lost a ticket asks at the desk beside it.")
    assert "14 days" in told[0]
    assert not any("Dogs" in one for one in told)
    first = "Season tickets are sold at the gate, and nowhere else."
    assert telling_sentences(first) == [first]
    assert telling_sentences(first, but=first) == []


@given(st.text(max_size=1200))
def test_windows_lie_in_the_text_are_not_long_and_hold_every_sentence(text: str) -> None:
    windows = windows_of(text)
    assert all(0 <= start < end <= len(text) and end - start <= 350 for start, end in windows)
    covered = {place for start, end in windows for place in range(start, end)}
    for start, end in sentences(text):
        assert set(range(start, end)) <= covered
