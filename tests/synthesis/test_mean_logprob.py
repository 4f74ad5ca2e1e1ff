"""How sure a model was of a question, read from the log-probabilities of its answer."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.synthesis.mean_logprob import question_log_probability


def answer(tokens: list[tuple[Any, Any]], *, as_dicts: bool = False) -> SimpleNamespace:
    """Make a response in OpenAI's form; providers give mappings or objects."""
    content: list[Any] = [{"token": token, "logprob": value} for token, value in tokens]
    logprobs: Any = {"content": content}
    if not as_dicts:
        logprobs = SimpleNamespace(content=[SimpleNamespace(**one) for one in content])
    return SimpleNamespace(choices=[SimpleNamespace(logprobs=logprobs)])


SAID = [('{"', -9.0), ("question", -9.0), ('":', -9.0), (' "', -9.0)]
END = [('"', -9.0), ("}", -9.0)]


@pytest.mark.parametrize("as_dicts", [False, True])
def test_only_tokens_of_the_question_count(as_dicts: bool) -> None:
    tokens = [*SAID, ("How", -1.0), (" many", -0.5), ("?", -0.3), *END]
    assert question_log_probability(answer(tokens, as_dicts=as_dicts)) == pytest.approx(-0.6)


def test_a_token_that_reaches_over_the_edge_counts() -> None:
    tokens = [*SAID[:-1], (' "How', -1.0), (" many", -0.5), ('?"}', -3.0)]
    assert question_log_probability(answer(tokens)) == pytest.approx(-1.5)


def test_what_stands_after_the_question_does_not_count() -> None:
    more = [('"', -9.0), (', "answer": "', -9.0), ("ten", -7.0), ('"}', -9.0)]
    tokens = [*SAID, ("Why", -0.25), ("?", -0.75), *more]
    assert question_log_probability(answer(tokens)) == pytest.approx(-0.5)


def test_a_quotation_mark_inside_does_not_end_the_question() -> None:
    tokens = [*SAID, ("Is", -1.0), (' \\"', -2.0), ("X", -3.0), ('\\"', -4.0), ("?", -5.0), *END]
    assert question_log_probability(answer(tokens)) == pytest.approx(-3.0)


def test_a_backslash_before_the_closing_mark_may_be_one_that_is_meant() -> None:
    tokens = [*SAID, ("C:", -1.0), ("\\\\", -3.0), *END]
    assert question_log_probability(answer(tokens)) == pytest.approx(-2.0)


@pytest.mark.parametrize(
    "response",
    [
        SimpleNamespace(),
        SimpleNamespace(choices=[]),
        SimpleNamespace(choices=[SimpleNamespace()]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs=None)]),
        answer([]),
        answer([*SAID, ("Why", -0.5)]),  # cut off
        answer([*SAID, *END]),  # empty
        answer([("Why", -0.5), ("?", -0.7)]),  # not in the form that was asked for
        answer([*SAID, ("Why", math.nan), *END]),
        answer([*SAID, ("Why", -math.inf), *END]),
        answer([*SAID, ("Why", None), *END]),
        answer([(token, 0.0) for token, _ in [*SAID, ("Why", 0.0), *END]]),  # made up
    ],
)
def test_what_tells_nothing_gives_no_number(response: Any) -> None:
    assert question_log_probability(response) is None


@given(
    question=st.text(min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 80), max_size=12),
    ascii_only=st.booleans(),
)
def test_any_question_cut_into_any_tokens_is_found(
    question: str, cuts: set[int], ascii_only: bool
) -> None:
    """Tokens that lie wholly inside count -1, those wholly outside -100."""
    text = json.dumps({"question": question}, ensure_ascii=ascii_only)
    first, last = len('{"question": "'), len(text) - 2
    places = sorted({0, first, last, len(text)} | {cut for cut in cuts if cut < len(text)})
    tokens = [
        (text[start:end], -1.0 if first <= start < last else -100.0)
        for start, end in pairwise(places)
    ]
    assert question_log_probability(answer(tokens)) == pytest.approx(-1.0)
