from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.loose_json import objects_in, read_value, same
from labeler.providers.unreadable import CutOff, UnreadableAnswer

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=5)


@given(JSON, st.booleans(), st.sampled_from([None, 1, 4]))
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert same(read_value(text), json.loads(text))


@given(OBJECTS)
def test_what_python_writes_is_read_back(value: dict[str, Any]) -> None:
    text = repr(value)
    if "\\U" in text or "\\a" in text:
        return  # escapes that no model writes; their backslash stays
    [found] = objects_in(text)
    assert same(found.value, value)


@given(st.lists(OBJECTS, max_size=3), st.text("ab \n.,()[]", max_size=20))
def test_objects_are_found_where_they_stand(values: list[dict[str, Any]], words: str) -> None:
    text = words + words.join(json.dumps(value) for value in values) + words
    found = objects_in(text)
    assert same([one.value for one in found], values)
    assert [json.loads(text[one.start : one.end]) for one in found] == values


@given(st.text("{}[]\"'“”:,\\/*#\n aNt1-.e：，", max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(UnreadableAnswer):
        for one in objects_in(text):
            assert text[one.start] == "{"
            assert text[one.end - 1] == "}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b', 'c': True, 'd': None}", {"a": "b", "c": True, "d": None}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ("{a: 'b', c_d: word}", {"a": "b", "c_d": "word"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{\n  // first\n  "a": 1, # second\n  /* third */ "b": 2\n}', {"a": 1, "b": 2}),
        ('{"a": "http://b#c /*d*/"}', {"a": "http://b#c /*d*/"}),
        ("{“a”: “b”, „c“: ‘d’}", {"a": "b", "c": "d"}),
        ('{"a"："b"，"c"：1}', {"a": "b", "c": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": "\\ud83d\\ude00 \\( \\x41"}', {"a": "😀 \\( A"}),
        ("{\u00a0'a':\ufeff.5}", {"a": 0.5}),
        ('{"a": 1, "a": 1}', {"a": 1}),
    ],
)
def test_forms_that_need_no_guess(text: str, value: dict[str, Any]) -> None:
    assert same(read_value(text), value)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b" "c": 1}',
        '{"a": "say "no" to it"}',
        '{"a": not relevant}',
        '{"a": 2/3}',
        '{"a": 2 out of 3}',
        '{"a": 012}',
        '{"a": 0x10}',
        '{"a": 1, "a": 2}',
        '{"a": true, "a": 1}',
        '{"a": NaN}',
        '{"a": [Infinity]}',
        '{"a": -inf}',
        '{"a": 1e999}',
        '{"a": ...}',
        '{"a", "b"}',
        '{"a": 1]',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' * 200 + "1" + "}" * 200,
    ],
)
def test_faults_are_not_mended(text: str) -> None:
    with pytest.raises(UnreadableAnswer) as told:
        objects_in(text)
    assert not isinstance(told.value, CutOff)


@pytest.mark.parametrize(
    "text", ["the set {1, 2}", "{name} of {{x}}", "{", "{}", "{ }", "\\boxed{2}"]
)
def test_braces_in_prose(text: str) -> None:
    if text == "{":
        with pytest.raises(CutOff):
            objects_in(text)
    else:
        assert [one.value for one in objects_in(text)] == [{}] * (text in {"{}", "{ }"})


@given(OBJECTS.filter(bool), st.data())
def test_an_object_that_stops_in_the_middle_is_never_read(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(UnreadableAnswer):
        objects_in(text[:end])


@pytest.mark.parametrize(
    "text", ['{"a": "b', '{"a": "b"', '{"a"', '{"a": ', "{a", "{'a': [1, {", "{/*"]
)
def test_cut_off(text: str) -> None:
    with pytest.raises(CutOff, match="cut off"):
        objects_in(text)
