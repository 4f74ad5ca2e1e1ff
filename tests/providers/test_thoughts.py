from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.thoughts import without_thoughts
from labeler.providers.unreadable import CutOff

BLOCKS = [
    ("<think>", "</think>"),
    ("<Think >", "</ think>"),
    ("<thinking>", "</thinking>"),
    ('<thought time="3">', "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought\n", "<channel|>"),
]
HARMONY = ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>")
GLUED = ("analysisWe ", "assistantfinal")
EVERY = pytest.mark.parametrize(("opening", "closing"), [*BLOCKS, HARMONY, GLUED])


@EVERY
def test_a_block_before_the_answer(opening: str, closing: str) -> None:
    thoughts = 'maybe {"label": "fully", "why": "or {not" \nLabel: fully'
    assert without_thoughts(f"{opening}{thoughts}{closing}not").strip() == "not"


@EVERY
def test_thoughts_that_never_end(opening: str, closing: str) -> None:
    with pytest.raises(CutOff, match="cut off: thoughts"):
        without_thoughts(f"{opening}I lean to fully")


@pytest.mark.parametrize(("opening", "closing"), BLOCKS)
def test_blocks_anywhere(opening: str, closing: str) -> None:
    block = f"{opening}fully{closing}"
    assert without_thoughts(f"{block}a{block}b{block}") == "ab"


@pytest.mark.parametrize("closing", [closing for _, closing in BLOCKS])
def test_text_before_a_lone_closing_mark_is_thoughts(closing: str) -> None:
    assert without_thoughts(f'fully {{"label": "fully"}}{closing}not') == "not"


def test_a_block_in_a_block() -> None:
    assert without_thoughts("<think>a<think>b</think>fully</think>not") == "not"
    assert without_thoughts("<think>the mark <think> is meant</think>not") == "not"


def test_a_tag_of_another_kind_closes_nothing() -> None:
    with pytest.raises(CutOff):
        without_thoughts("<think>fully</thinking>not")


def test_empty_blocks() -> None:
    assert without_thoughts("<think></think>not") == "not"
    assert without_thoughts("<think/>not") == "not"


def test_several_blocks_of_analysis() -> None:
    text = (
        "<|channel|>analysis<|message|>fully<|end|>"
        "<|start|>assistant<|channel|>analysis<|message|>or so<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>not<|return|>"
    )
    assert without_thoughts(text) == "not"


def test_analysis_whose_opening_mark_is_in_the_prompt() -> None:
    text = "Label: fully<|end|><|start|>assistant<|channel|>final<|message|>not"
    assert without_thoughts(text) == "not"


def test_a_call_in_the_commentary_is_no_thought() -> None:
    call = '<|channel|>commentary to=functions.f<|message|>{"level": "1"}<|call|>'
    assert '{"level": "1"}' in without_thoughts("<|channel|>analysis<|message|>x<|end|>" + call)


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>"])
def test_what_stands_behind_the_end_of_the_turn_was_not_said(mark: str) -> None:
    assert without_thoughts(f"not{mark}\nuser\nLabel: fully") == "not"
    assert without_thoughts(f"{mark}\n{mark}not") == "not"


def test_a_turn_that_ends_in_thoughts_is_no_answer() -> None:
    text = "fully<|end|>still thinking</think>no<think>or so?</think>t<|im_end|>fully"
    assert without_thoughts(text) == "not"


MARKS = st.sampled_from([mark for block in [*BLOCKS, HARMONY] for mark in block])


@given(MARKS, MARKS, st.sampled_from(["", "Here it is: ", "```json\n"]))
def test_marks_in_the_strings_of_an_object_are_text(one: str, other: str, before: str) -> None:
    text = before + json.dumps({"label": "not", "reason": f"it has {one} and {other}"})
    assert without_thoughts(text) == text


@given(st.text("ab<>/{}|[]\"'\n ", max_size=40))
def test_a_text_without_marks_stays(text: str) -> None:
    assert without_thoughts(text) == text
