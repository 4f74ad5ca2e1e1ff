"""The table of keys: other keys from labeler.toml, and what is refused, with file and key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from labeler.errors import UsageError
from tui.bindings import KEYS, KeyTable, bindings, key_table
from tui.question_keys import QUESTION_KEYS


def test_no_key_has_two_meanings_and_no_label_is_on_a_key_for_other_things() -> None:
    keys = [key for row in KEYS for key in row.every]
    assert len(keys) == len(set(keys))
    labels = {key for row in KEYS if row.name.startswith("answer_") for key in row.every}
    assert labels == set("asdf1234567890")
    assert all(row.shown and " " not in row.name and "." not in row.name for row in KEYS)


def test_the_shipped_table_needs_no_keymap() -> None:
    assert key_table({}).keymap == {}
    assert key_table({}).rows == KEYS
    assert len(bindings()) == len(KEYS)
    assert len(bindings("undo", "skip")) == 2


@pytest.mark.parametrize(
    ("changed", "keymap", "shown"),
    [
        ({"skip": "z"}, {"skip": "z"}, {"skip": "z"}),
        ({"undo": "ctrl+u, Z"}, {"undo": "ctrl+u,Z"}, {"undo": "^u"}),
        ({"help": "!"}, {"help": "exclamation_mark"}, {"help": "!"}),
        ({"find": "comma"}, {"find": "comma"}, {"find": ","}),
        ({"undo": "x", "skip": "u"}, {"undo": "x", "skip": "u"}, {"undo": "x", "skip": "u"}),
        ({"page_down": "pagedown"}, {"page_down": "pagedown"}, {"page_down": "PgDn"}),
        ({"pause": "F9"}, {"pause": "f9"}, {"pause": "F9"}),
        ({"back": "ctrl+b"}, {"back": "ctrl+b,escape"}, {"back": "^b"}),
    ],
)
def test_rows_take_other_keys(
    changed: dict[str, str], keymap: dict[str, str], shown: dict[str, str]
) -> None:
    table = key_table(changed)
    assert table.keymap == keymap
    assert {name: table.shown(name) for name in shown} == shown


def test_a_label_keeps_its_digit() -> None:
    table = key_table({"answer_1": "é", "answer_5": "k", "scroll_up": "up"})
    assert (table.answer(1), table.answer(5), table.answer(6)) == ("é/1", "k/5", "6")
    assert KeyTable().answer(1) == "a/1"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"skp": "z"}, "labeler.toml, review.keys.skp: there is nothing of that name"),
        ({"skip": "u"}, "labeler.toml, review.keys.skip: the key u is taken by 'undo'"),
        ({"answer_2": "u"}, "labeler.toml, review.keys.answer_2: the key u is taken by 'undo'"),
        ({"note": "1"}, "labeler.toml, review.keys.note: the key 1 is taken by 'answer_1'"),
        ({"skip": "z", "flag": "z"}, "the key z is taken by 'skip'"),
        ({"answer_1": "space"}, "review.keys.answer_1: space never gives a label"),
        ({"answer_1": "Enter"}, "review.keys.answer_1: Enter never gives a label"),
        ({"answer_1": "escape"}, "escape never gives a label"),
        ({"answer_1": "backspace"}, "backspace never gives a label"),
        ({"answer_1": "h,ctrl+h"}, "ctrl+h is backspace to a terminal"),
        ({"answer_1": "pagedown"}, "pagedown never gives a label"),
        ({"note": "ctrl+m"}, "labeler.toml, review.keys.note: ctrl+m is enter to a terminal"),
        ({"note": "ctrl+c"}, "ctrl+c can't be used: it interrupts"),
        ({"note": "nokey"}, "labeler.toml, review.keys.note: there is no key 'nokey'"),
        ({"note": "\x1b"}, "labeler.toml, review.keys.note: there is no key"),
        ({"note": ","}, "labeler.toml, review.keys.note: no key is named"),
    ],
)
def test_what_is_refused_names_file_and_key(changed: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        key_table(changed)
    assert message in caught.value.message


def test_the_docs_list_every_key() -> None:
    table = KeyTable()
    told = (Path(__file__).parents[2] / "docs" / "review.md").read_text(encoding="utf-8")
    own = [row for row in QUESTION_KEYS if row.name.startswith("question_")]
    for row in (*table.rows, *own):
        if row.meaning:
            assert f"| `{row.name}` | {row.written} | {row.meaning} |" in told
    [settings] = re.findall(r"```toml\n(.*?)```", told, re.DOTALL)
    assert key_table(tomllib.loads(settings)["review"]["keys"]).answer(1) == "l/1"
