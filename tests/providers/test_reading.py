from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.providers.reading import (
    CutOff,
    UnreadableAnswer,
    clean_text,
    level_of,
    one_object,
    read_fields,
    without_thoughts,
)

SYNONYMS = ("label", "grade", "relevance", "rating", "verdict", "score")
WORDS = {"not": 0, "not relevant": 0, "partially": 1, "fully": 2, "0": 0, "1": 1, "2": 2}


def read(text: str) -> dict[str, Any]:
    return read_fields(text, "level", SYNONYMS)


def level(text: str) -> int | None:
    """Give the level that a text is read as, None when it is unreadable."""
    try:
        return level_of(read(text)["level"], WORDS)
    except UnreadableAnswer:
        return None


# --- one object ---------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    # Texts with what also stands around answers: none of it may be taken for the real thing.
    | st.text()
    | st.lists(
        st.sampled_from(["<think>", "</think>", "```", "\n", '"', "{", "}", "'", "<|im_end|>", "a"])
    ).map("".join),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(), JSON, min_size=1, max_size=4)

THOUGHTS = st.sampled_from(
    [
        "",
        '<think>{"level": 2}, or {not</think>',
        "<thinking></thinking>\n",
        "fully {</think>",
        "[THINK]x[/THINK]",
    ]
)
AROUND = st.sampled_from(
    [
        ("", ""),
        ("```json\n", "\n```"),
        ("~~~\n", "\n~~~\n"),
        ("Sure! Here it is:\n", "\nHope this helps."),
        ("El resultado es: ", " ¡Listo!"),
        ("结果如下：\n```\n", "\n```\n希望有帮助。"),
        ("<tool_call>", "</tool_call>"),
        ("[", "]"),
        ("{{name}} [1] ", " (1)"),
        ("\ufeff", "\r\n\r\n"),
    ]
)


@given(OBJECTS, THOUGHTS, AROUND, st.booleans(), st.sampled_from([None, 2]))
@example({"a": "<think>"}, "", ("", ""), False, None)
@example({"a": "```"}, "<thinking></thinking>\n", ("```json\n", "\n```"), False, None)
def test_an_object_that_json_writes_is_read_back(
    value: dict[str, Any], thoughts: str, around: tuple[str, str], escaped: bool, indent: int | None
) -> None:
    written = json.dumps(value, ensure_ascii=escaped, indent=indent)
    before, after = around
    assert one_object(thoughts + before + written + after) == value


@given(OBJECTS)
def test_an_object_in_a_json_string_is_read_back(value: dict[str, Any]) -> None:
    text = json.dumps(json.dumps(value))
    if not any(mark in text for mark in ("<think>", "</think>", "<|im_end|>")):
        assert one_object(text) == value


@given(OBJECTS, OBJECTS)
def test_two_objects_are_one_only_when_they_are_equal(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    texts = json.dumps(one, sort_keys=True), json.dumps(other, sort_keys=True)
    assert one_object(f"{texts[0]}\n{texts[0]}") == one
    if texts[0] != texts[1]:
        for joint in ("\n", " or ", "\n```\n```json\n"):
            with pytest.raises(UnreadableAnswer, match="two answers that differ"):
                one_object(joint.join(texts))


def test_keys_are_given_as_they_stand() -> None:
    assert one_object('{"Label": "A", "The Reason": "b"}') == {"Label": "A", "The Reason": "b"}


@pytest.mark.parametrize(
    "text", ["", "  ", "not", "[1, 2]", '"not"', "the set {1}", "[]", "\\boxed{2}"]
)
def test_a_text_without_an_object(text: str) -> None:
    assert one_object(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} {"a": 2}',
        '[{"a": 1}, {"a": 2}]',
        '["fully", {"a": 1}]',
        '{"a": true}{"a": 1}',
        'For example: {"a": 1}',
        'Example:\n```json\n{"a": 1}\n```\nThe passage does not answer.',
        'I would not say {"a": 1}.',
        'The passage contains "{"a": 1}" and no more.',
    ],
)
def test_texts_with_no_one_object(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        one_object(text)


@pytest.mark.parametrize("text", ['[{"a": 1},', '[{"a": 1}', '```json\n{"a": 1, "b": "x'])
def test_lists_and_fences_that_stop(text: str) -> None:
    with pytest.raises(CutOff):
        one_object(text)


# --- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"Level": "2", "Reason": "x"}', {"reason": "x", "level": "2"}),
        ('{"GRADE": 2}', {"level": 2}),
        ('{"final_label": "not", "old label": "fully"}', {"old_label": "fully", "level": "not"}),
        ('{"label": "2", "score": 2.0}', {"level": "2"}),
        ('{"level": "2", "score": null}', {"level": "2"}),
        ('{"answer": "2"}', {"level": "2"}),
        ('{"answer": "It is about the subject only.", "level": "2"}',
         {"answer": "It is about the subject only.", "level": "2"}),
        ('{"answer": {"label": "not"}, "reason": "x"}', {"reason": "x", "level": "not"}),
        ('{"Judgment": {"label": "not"}}', {"level": "not"}),
        ('{"results": [{"label": "not"}]}', {"level": "not"}),
        ('{"name": "f", "arguments": "{\\"label\\": \\"not\\"}"}', {"name": "f", "level": "not"}),
        ('{"type": "function", "function": {"name": "f", "arguments": {"grade": 0}}}',
         {"type": "function", "name": "f", "level": 0}),
        ("label: partially\nreason: x: y\nconfidence: 0.9\n",
         {"reason": "x: y", "confidence": "0.9", "level": "partially"}),
        ('Label: 2\nQuote: "so it is"\nNote: a\nNote: b', {"quote": "so it is", "level": "2"}),
        ("<reason>x</reason>\n<label> not </label>", {"reason": "x", "level": "not"}),
        ("not", {"level": "not"}),
        ('["not"]', {"level": "not"}),
    ],
)  # fmt: skip
def test_fields(text: str, fields: dict[str, Any]) -> None:
    assert read(text) == fields


@pytest.mark.parametrize(
    "text",
    [
        "Label: not",
        "  final label：NOT.",
        "**Grade:** not",
        "**Grade**: not",
        "- **Final Label: not**",
        "### Relevance label: not",
        "2. __Label:__ not",
        "`label`: `not`",
        '"label": "not"',
        "The final label is: not",
        "score = 0",
        "##final score: 0",
        "Let me think.\nIt is fully on the subject, but no.\nFinal answer: $\\boxed{0}$",
        "Label: not\nLabel: not.\nGrade: not",
        "Answer: **not**",
        "<answer><label>not</label></answer>",
        "<label>not</label>\nLabel: not",
        "```\nnot\n```",
        "```text\r\nLabel: not\r\n```",
        "**not**",
        '"not."',
        "\\boxed{\\text{not}}",
        "\ufeff not \u200b",
        "<think>fully</think>\n\nnot",
        "not<|im_end|>\n<|im_start|>user\nLabel: fully",
        'Relevance: none that I can see in it.\n{"level": 0}',
        'Level: 0\n{"level": "0"}',
        'Final answer: ```json\n{"level": 0}\n```',
        '<answer>{"level": 0}</answer>',
    ],
)
def test_labels_that_stand_on_their_own(text: str) -> None:
    value = level_of(read(text)["level"], WORDS)
    assert value == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<think>fully</think>",
        '{"level": "2"}</think>',
        "Label:",
        "Label: fully\nFinal label: not",
        "Label: fully\n<label>not</label>",
        "Label: fully because it says so",
        "Label: not | Confidence: 0.9",
        "Label: fully?",
        "Label: fully...",
        "Label: <fully|partially|not>",
        "Label != fully",
        "~~Label: fully~~\nnot",
        "> Label: fully\nThe passage only says so.",
        "2/3",
        "2 of 3",
        "grade 2 of 3",
        "Grade 2",
        "Score: 2 out of 3",
        "Score: 2/3",
        "Score (0-10): 2",
        "On a scale of 0 to 2",
        "0-2",
        "[0, 2]",
        '["not", "fully"]',
        "It is fully relevant.",
        "not\nfully",
        "not, fully",
        "Relevant? No.",
        "这段文字完全相关。标签是 2",
        "标签：完全相关",
        "O trecho é parcialmente relevante: 2 de 3.",
        "Rótulo: não",
        "not\n\nQuery: another\nPassage: made up\nLabel: fully",
        'not\n\nQuery: another\nPassage: made up\n{"level": "2"}',
        "Question: how many?\nAnswer: 2\nSo says the passage.",
        "I'm sorry, but I can't help with that.",
        '{"level": "2", "score": 0.9}',
        '{"label": "fully", "grade": "not"}',
        '{"label": "fully", "Label": "not"}',
        '{"level": null, "label": "fully"}',
        '{"level": null}',
        '{"level": true}',
        '{"level": "fully or partially"}',
        '{"level": ["fully", "not"]}',
        '{"level": {"fully": 0.9, "not": 0.1}}',
        '{"fully": 0.9, "not": 0.1}',
        '{"criteria": {"score": 2}, "reason": "x"}',
        '{"output": {"label": "fully"}, "evaluation": {"label": "not"}}',
        '{"properties": {"label": {"type": "string", "enum": ["fully"]}}}',
        '{"answer": "The passage is fully relevant to it."}',
        '{"level": "fully"}\nFinal label: not',
        'Level: 0\n{"level": "2"}',
        '{"thought": "fully"} not',
        '{\\"level\\": \\"2\\"}',
        "{}",
        "{'level': 'it's fully'}",
    ],
)
def test_what_would_need_a_guess_is_no_level(text: str) -> None:
    assert level(text) is None


@pytest.mark.parametrize(
    "text",
    ['{"level": "fu', '{"reason": "x"', "<think>Label: fully", '{"arguments": "{\\"level\\": 2"}'],
)
def test_what_is_cut_off_says_so(text: str) -> None:
    with pytest.raises(CutOff) as told:
        read(text)
    assert told.value.why.startswith("cut off: ")


TOKENS = st.lists(
    st.sampled_from(
        [
            *("not", "fully", "partially", "relevant", "irrelevant", "2", "0", "/", "is", "no"),
            *("Label", "label:", "Label:", "Final label:", "\n", ".", ",", "?", "**", "<b>"),
        ]
    ),
    max_size=8,
)
LABEL_LINE = re.compile(r"(?:final )?label *:(.*)")


@given(TOKENS)
@example(["Label:", "not", "\n", "fully"])
@example(["not", "relevant"])
@example(["fully", "\n", "Label:", "not"])
def test_a_level_comes_of_a_rule_or_not_at_all(tokens: list[str]) -> None:
    """The rules told again, plainly: label lines that agree, or a text that is just a label."""
    text = " ".join(tokens)
    lines = [line.replace("**", "").strip() for line in text.casefold().splitlines()]
    said = [match.group(1) for line in lines if (match := LABEL_LINE.match(line))]
    words = {one.strip().removesuffix(".").strip() for one in said or ["\n".join(lines)]}
    meant = {WORDS.get(" ".join(one.split())) for one in words}
    assert level(text) in {None, *(meant if len(meant) == 1 else ())}
    if text.strip() in WORDS or (text.startswith("Label: ") and text[7:] in WORDS):
        assert level(text) is not None


SHREDS = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", '"', "'", "“", ":", ",", "level", "2", "not", "\\", "```", "\n"),
            *("<think>", "</think>", "<|channel|>analysis<|message|>", "<|end|>", "<label>"),
            *(
                "</label>",
                "#",
                "//",
                "/*",
                "*/",
                "Label:",
                "NaN",
                "1e999",
                "true",
                "\x00",
                "\ud800",
            ),
            *("\ufeff", "Query:", "\\u", "```json\n"),
        ]
    )
    | st.text(max_size=3),
    max_size=25,
).map("".join)
READERS: list[Callable[[str], object]] = [without_thoughts, one_object, read, level]


@given(SHREDS)
def test_no_text_raises_anything_but_unreadable(text: str) -> None:
    for reader in READERS:
        with suppress(UnreadableAnswer):
            reader(text)


LONG = [
    *(
        "{",
        "[",
        '"',
        "<think>",
        "</think>",
        "<think></think>",
        '{"',
        '{"a":',
        "[{'a':",
        "{a",
        "{//",
    ),
    *("{/*", "`", "```\n", "*", "- ", " ", "\n", "\\", '{"\\', "<a>", "<", "</ ", "{}", "label:"),
    *("<|channel|>final", "<|channel|>analysis<|message|><|end|>", "</s> ", "{'a':1}", "$\\boxed{"),
    *('{"a</think>', '{"</think>":1}', "[[1],", "1", ".", "a=", "“", "{#\n", "Label: not\n"),
]


@pytest.mark.parametrize("unit", LONG)
def test_long_texts_are_read_in_reasonable_time(unit: str) -> None:
    """Each would take minutes or the whole stack if anything here looked at a place twice."""
    for text in (unit * (200_000 // len(unit)), '{"a": ' + unit * (200_000 // len(unit)) + "x"):
        assert level(text) in {None, 0, 1}
        clean_text(text)


# --- texts for databases ------------------------------------------------------------------------


@given(st.text(st.characters() | st.characters(categories=["Cs", "Cc"])))
@example("\ud83d\ude00 \udc00 \ud800")
def test_clean_texts_can_be_stored(text: str) -> None:
    clean = clean_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert not any(ord(letter) < 0x20 and letter not in "\t\n" for letter in clean)
    assert clean_text(clean) == clean


def test_what_clean_text_replaces_and_keeps() -> None:
    assert clean_text("a\x00b\x1bc\td\ne") == "a\ufffdb\ufffdc\td\ne"
    assert clean_text("a\r\nb\rc") == "a\nb\nc"
    assert clean_text("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert clean_text("\ud83d\ude00 ñ 中 \u200b") == "😀 ñ 中 \u200b"
