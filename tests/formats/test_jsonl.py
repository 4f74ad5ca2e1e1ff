import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats.jsonl import write_jsonl

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.none() | st.booleans() | st.integers() | TEXT | st.floats(
    allow_nan=False, allow_infinity=False
)  # fmt: skip


@given(st.lists(st.dictionaries(TEXT, VALUE)))
def test_rows_are_read_back_line_by_line(rows: list[dict[str, object]]) -> None:
    file = io.BytesIO()
    assert write_jsonl(file, rows) == len(rows)
    lines = file.getvalue().split(b"\n")
    assert lines.pop() == b""
    read = [json.loads(line) for line in lines]
    assert read == rows
    assert [list(row) for row in read] == [list(row) for row in rows]


def test_letters_stay_letters_and_rows_are_compact() -> None:
    file = io.BytesIO()
    write_jsonl(file, [{"b": "é\u2028", "a": 1}])
    assert file.getvalue() == '{"b":"é\u2028","a":1}\n'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_can_not_say_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_jsonl(io.BytesIO(), [{"a": value}])
