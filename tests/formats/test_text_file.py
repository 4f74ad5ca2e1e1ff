from __future__ import annotations

from pathlib import Path

import pytest

from labeler.errors import InputError
from labeler.formats.text_file import read_text_file


def test_a_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "caf\xc3\xa9"\r\n')
    assert read_text_file(path) == 'name = "café"\n'


def test_what_cant_be_read_is_said_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    problems = {}
    for name in ("none.toml", "folder", "latin.toml"):
        with pytest.raises(InputError) as caught:
            read_text_file(tmp_path / name)
        problems[name] = caught.value.faults[0].problem
    assert problems == {
        "none.toml": "there is no such file",
        "folder": "this is a folder; a file is wanted",
        "latin.toml": "this is no text in UTF-8: byte 8 is 0xe9",
    }
