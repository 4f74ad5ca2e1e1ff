"""Probabilities of levels, read where they are real and where the level's token is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.logprobs import code_logprobs

CODES = ("2", "1", "0", "?")
SPREAD = {"2": math.log(0.7), "1": math.log(0.2), "0": math.log(0.05)}

Token = tuple[str, Any, Mapping[str, Any] | None]


def plain(*texts: str) -> list[Token]:
    """Give tokens that say nothing about the level, each with a value of its own."""
    return [(text, -0.001 * (1 + place), {}) for place, text in enumerate(texts)]


def response(tokens: Sequence[Token], *, as_objects: bool = False) -> Any:
    """Make a response in OpenAI's form, of dictionaries or of objects."""

    def made(fields: dict[str, Any]) -> Any:
        return SimpleNamespace(**fields) if as_objects else fields

    content = [
        made(
            {
                "token": text,
                "logprob": value,
                "top_logprobs": None
                if top is None
                else [made({"token": one, "logprob": p}) for one, p in top.items()],
            }
        )
        for text, value, top in tokens
    ]
    return SimpleNamespace(choices=[SimpleNamespace(logprobs=made({"content": content}))])


def deciding(text: str, top: Mapping[str, Any] | None = None) -> Token:
    """Give the level's token; its alternatives are spelled as it is unless they are given."""
    spelled = {text.replace("2", code): value for code, value in SPREAD.items()}
    return (text, SPREAD["2"], spelled if top is None else top)


def read(tokens: Sequence[Token], **more: Any) -> dict[str, float]:
    return code_logprobs(response(tokens, **more), "level", CODES)


@pytest.mark.parametrize("as_objects", [False, True])
@pytest.mark.parametrize(
    "tokens",
    [
        [*plain('{"reason": "x", "level": "'), deciding("2"), *plain('"}')],
        [*plain('{"', "level", '":"'), deciding("2"), *plain('","confidence":0.9}')],
        [*plain('{"', "level", '":'), deciding('"2'), *plain('"}')],
        [*plain('{"', "level", '":'), deciding(' "2'), *plain('"}')],
        [*plain('{"', "level", '":', ' "'), deciding('2"'), *plain("}")],
        [*plain('{"level', '": ', '"'), deciding("2"), *plain('"', "}")],
        [*plain('{"level":'), deciding(" 2"), *plain("}")],
        [*plain('{"level": '), deciding("2"), *plain("}")],
        [*plain('{"level"', " :\n"), deciding(" 2"), *plain("}")],
        [*plain('{"level":'), deciding('"2"'), *plain("}")],
    ],
)
def test_however_the_text_is_split(tokens: list[Token], as_objects: bool) -> None:
    assert read(tokens, as_objects=as_objects) == pytest.approx(SPREAD)


def around(token: Token) -> list[Token]:
    return [*plain('{"reason": "x", "level": "'), token, *plain('"', "}")]


def test_spellings_of_one_code_are_summed() -> None:
    top = {"2": math.log(0.4), " 2": math.log(0.3), '"2': math.log(0.1), "1": math.log(0.1)}
    found = read(around(("2", math.log(0.4), top)))
    assert found == pytest.approx({"2": math.log(0.8), "1": math.log(0.1)})


def test_what_is_no_code_is_left_out() -> None:
    top = {"2": math.log(0.5), "Part": math.log(0.2), "22": math.log(0.1), "": math.log(0.1)}
    assert read(around(("2", math.log(0.5), top))) == pytest.approx({"2": math.log(0.5)})


def test_the_chosen_token_counts_where_it_is_not_among_the_alternatives() -> None:
    top = {"1": math.log(0.3)}
    found = read(around(("2", math.log(0.2), top)))
    assert found == pytest.approx({"2": math.log(0.2), "1": math.log(0.3)})


@pytest.mark.parametrize("top", [None, {}])
def test_without_alternatives_the_chosen_one_is_known(top: Mapping[str, Any] | None) -> None:
    assert read(around(("2", math.log(0.9), top))) == pytest.approx({"2": math.log(0.9)})


@pytest.mark.parametrize("written", ["Part", "fully", "9", '","'])
def test_a_level_that_is_not_written_as_a_code_has_no_probabilities(written: str) -> None:
    # What is left of the probability for the codes says nothing about the level that was meant.
    top = {written: math.log(0.9), "2": math.log(0.05), "1": math.log(0.01)}
    assert read(around((written, math.log(0.9), top))) == {}


# -- fake ones


@pytest.mark.parametrize("value", [0.0, -1.0, -100.0])
def test_the_same_value_everywhere_is_not_real(value: float) -> None:
    tokens: list[Token] = [
        (text, value, {text: value})
        for text in ('{"', "reason", '": "', "x", '", "', "level", '": "', "2", '"}')
    ]
    assert read(tokens) == {}


def test_zeros_at_the_level_alone_are_not_real() -> None:
    top = dict.fromkeys(("2", "1", "0"), 0.0)
    assert read(around(("2", 0.0, top))) == {}


def test_a_distribution_that_adds_to_more_than_one_is_not_real() -> None:
    top = {"2": math.log(0.8), "1": math.log(0.5)}
    assert read(around(("2", math.log(0.8), top))) == {}
    nearly = {"2": math.log(0.8), "1": math.log(0.20001)}
    assert read(around(("2", math.log(0.8), nearly))) == pytest.approx(nearly)


def test_a_probability_just_above_one_is_one() -> None:
    assert read(around(("2", 1e-7, {"2": 1e-7}))) == {"2": 0.0}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_left_out(value: float) -> None:
    top = {"2": math.log(0.5), "1": value}
    assert read(around(("2", math.log(0.5), top))) == pytest.approx({"2": math.log(0.5)})
    assert read(around(("2", value, {"2": value, "1": math.log(0.5)}))) == {}


@pytest.mark.parametrize("value", [None, "much", [0.1], True])
def test_values_of_another_kind_are_left_out(value: Any) -> None:
    top = {"2": math.log(0.5), "1": value}
    assert read(around(("2", math.log(0.5), top))) == pytest.approx({"2": math.log(0.5)})


@pytest.mark.parametrize(
    "broken",
    [
        SimpleNamespace(choices=[]),
        SimpleNamespace(choices=None),
        SimpleNamespace(),
        SimpleNamespace(choices=[SimpleNamespace()]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs=None)]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs={})]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs={"content": None})]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs={"content": []})]),
        SimpleNamespace(choices=[SimpleNamespace(logprobs={"content": [{"token": "2"}]})]),
        response([("2", None, None)]),
        response([(None, -0.1, None)]),  # type: ignore[list-item]
        response([*plain('{"level": "'), ("2", "-0.1", {}), *plain('"}')]),
    ],
)
def test_a_provider_that_gives_none(broken: Any) -> None:
    assert code_logprobs(broken, "level", CODES) == {}


# -- where the level is


def test_an_answer_without_the_field() -> None:
    assert read([*plain('{"grade": "'), deciding("2"), *plain('"}')]) == {}
    assert read([*plain("Label: "), deciding("2")]) == {}
    assert read(plain('{"level": "')) == {}


def test_a_text_that_looks_like_the_field_makes_it_unclear() -> None:
    thoughts = plain('<think>{"level": "', "0", '"}</think>')
    assert read([*thoughts, *plain('{"level": "'), deciding("2"), *plain('"}')]) == {}


def test_a_reason_that_quotes_the_field_is_no_field() -> None:
    # Inside of a JSON string the quotation marks are escaped.
    reason = json.dumps('it says "level": "0", and level: 0')
    tokens = [*plain(f'{{"reason": {reason}, "level": "'), deciding("2"), *plain('"}')]
    assert read(tokens) == pytest.approx(SPREAD)


@given(st.text(max_size=60), st.integers(0, 10))
def test_whatever_the_reason_says_the_level_is_found(reason: str, cut: int) -> None:
    head = f'{{"reason": {json.dumps(reason)}, "level": "'
    tokens = [*plain(head[:cut], head[cut:]), deciding("2"), *plain('"}')]
    assert read(tokens) == pytest.approx(SPREAD)


@given(
    st.dictionaries(
        st.sampled_from([*CODES, " 2", '"1', "x", ""]),
        st.floats(-2000, 2000),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(CODES),
)
def test_what_is_given_is_a_part_of_a_distribution(top: dict[str, float], chosen: str) -> None:
    found = read(around((chosen, top.get(chosen, -3.0), top)))
    assert set(found) <= set(CODES)
    assert sum(math.exp(value) for value in found.values()) <= 1.001
    assert all(value <= 0.0 for value in found.values())
    assert not found or chosen in found


@given(st.lists(st.tuples(st.text(max_size=5), st.floats(allow_nan=True)), max_size=12))
def test_whatever_tokens_come_nothing_breaks(tokens: list[tuple[str, float]]) -> None:
    given_: list[Token] = [(text, value, {text: value}) for text, value in tokens]
    read([*plain('{"level": "'), *given_])
