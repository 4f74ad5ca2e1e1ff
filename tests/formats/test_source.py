import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats.findings import Findings
from labeler.formats.source import (
    clean_text,
    plain_suffix,
    read_blocks,
    read_bytes,
    read_lines,
)


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def lines_of(path: Path) -> tuple[list[tuple[int, str]], Findings]:
    findings = Findings()
    return list(read_lines(path, findings)), findings


def only_fault(path: Path) -> str:
    lines, findings = lines_of(path)
    assert lines == []
    assert len(findings.faults) == 1
    return str(findings.faults[0])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"a\n\n  \nb", ["a", "", "  ", "b"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("a\u2028b\u0085c\x0bd\x0ce\u00a0f\n".encode(), ["a\u2028b\u0085c\x0bd\x0ce\u00a0f"]),
        (b"a\xef\xbb\xbf\n", ["a\ufeff"]),
    ],
)
def test_lines_end_at_line_feeds_alone(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    lines, findings = lines_of(write(tmp_path, "f.txt", content))
    assert lines == list(enumerate(expected, 1))
    assert findings.faults == []
    assert findings.notices == []


@given(st.lists(st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b""))), st.booleans())
def test_blocks_hold_whole_lines_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bool
) -> None:
    content = b"x\n" + b"\n".join(lines) + (b"\n" if end else b"")
    path = tmp_path_factory.getbasetemp() / "blocks"
    path.write_bytes(content)
    for size in (2, 7, 1 << 20):
        findings = Findings()
        blocks = list(read_blocks(path, findings, size))
        if findings.faults:  # content that looks like another encoding
            return
        assert b"".join(blocks) == content
        assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_line_that_is_not_utf8_is_named_and_left_out(tmp_path: Path) -> None:
    lines, findings = lines_of(write(tmp_path, "f", b"ok\ncaf\xe9\nok\n"))
    assert lines == [(1, "ok"), (3, "ok")]
    (fault,) = findings.faults
    assert fault.line == 2
    assert "not UTF-8: byte 0xe9 at position 4" in fault.problem


def test_gzip_is_known_by_its_bytes_and_a_lying_name_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(b"a\nb\n")
    lines, findings = lines_of(write(tmp_path, "f.gz", packed))
    assert lines == [(1, "a"), (2, "b")]
    assert findings.notices == []
    lines, findings = lines_of(write(tmp_path, "f.txt", packed))
    assert lines == [(1, "a"), (2, "b")]
    assert "gzip data under a name without .gz" in findings.notices[0].text
    lines, findings = lines_of(write(tmp_path, "plain.gz", b"a\nb\n"))
    assert lines == [(1, "a"), (2, "b")]
    assert "named .gz" in findings.notices[0].text


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    lines, _ = lines_of(write(tmp_path, "f.gz", gzip.compress(b"a\n") + gzip.compress(b"b\n")))
    assert [line for _, line in lines] == ["a", "b"]


def test_gzip_that_is_cut_or_damaged_is_a_fault(tmp_path: Path) -> None:
    packed = gzip.compress(os.urandom(5000).hex().encode())
    cut = write(tmp_path, "cut.gz", packed[: len(packed) // 2])
    findings = Findings()
    assert read_bytes(cut, findings) is None
    assert "cut short" in findings.faults[0].problem
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    findings = Findings()
    assert read_bytes(write(tmp_path, "bad.gz", bytes(damaged)), findings) is None
    assert "damaged" in findings.faults[0].problem


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        ("q1\tä\n".encode("utf-16"), "UTF-16"),
        ("q1 Q0 d1 1 2.0 s\n".encode("utf-16-le"), "UTF-16"),
        ("q1 Q0 d1 1 2.0 s\n".encode("utf-32"), "UTF-32"),
        (b"PK\x03\x04rest", "zip archive (or an Excel file)"),
        (b"PAR1rest", "Parquet"),
        (b"BZh9rest", "bzip2"),
        (b"\x28\xb5\x2f\xfdrest", "Zstandard"),
        (bytes(100), "binary"),
        (b"q1 Q0 d1 1 2 s\rq1 Q0 d2 2 1 s\r", "carriage return alone"),
    ],
)
def test_what_is_no_utf8_text_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in only_fault(write(tmp_path, "f", content))


def test_missing_files_and_folders_are_faults(tmp_path: Path) -> None:
    assert "there is no such file" in only_fault(tmp_path / "none")
    assert "this is a folder" in only_fault(tmp_path)


def test_a_few_nul_bytes_are_no_other_encoding(tmp_path: Path) -> None:
    lines, findings = lines_of(write(tmp_path, "f", b"a\x00b and more text\n"))
    assert lines == [(1, "a\x00b and more text")]
    assert findings.faults == []


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:
        try:
            pipe.write_bytes(gzip.compress(b"a\n"))
        finally:
            os._exit(0)
    lines, _ = lines_of(pipe)
    os.waitpid(child, 0)
    assert lines == [(1, "a")]


@given(
    st.text(st.characters(categories=["L", "N", "Z", "C", "Cs"]) | st.sampled_from("\x00\ud800"))
)
def test_cleaned_text_can_be_stored_and_nothing_else_changes(text: str) -> None:
    cleaned, count = clean_text(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert len(cleaned) == len(text)
    changed = [(old, new) for old, new in zip(text, cleaned, strict=True) if old != new]
    assert len(changed) == count
    assert all(new == "\ufffd" and (old == "\x00" or old >= "\ud800") for old, new in changed)


def test_endings_are_those_before_gz() -> None:
    assert plain_suffix(Path("a.JSONL.gz")) == ".jsonl"
    assert plain_suffix(Path("a.run")) == ".run"
    assert plain_suffix(Path("a")) == ""
