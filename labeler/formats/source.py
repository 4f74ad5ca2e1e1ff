r"""From a file to its lines: compression, byte order mark, encoding and line ends.

Files are UTF-8. A line ends at ``\n`` or ``\r\n`` and nowhere else: U+2028, U+0085, a vertical
tab or a form feed are part of the text. Gzip is recognised by its first bytes, whatever the name
says. What can't be read becomes a fault; nothing is raised for a bad file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from labeler.formats.findings import Findings

__all__ = ["clean_text", "plain_suffix", "read_blocks", "read_bytes", "read_lines"]

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 22
_SAMPLE = 4096
_FOREIGN = (
    (b"\xff\xfe\x00\x00", "UTF-32 text", "save it as UTF-8"),
    (b"\x00\x00\xfe\xff", "UTF-32 text", "save it as UTF-8"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8"),
    (b"PK\x03\x04", "a zip archive (or an Excel file)", "unpack it, or save it as CSV"),
    (b"\x1f\x8b", "gzip data inside gzip data", "unpack it once"),
    (b"BZh", "bzip2 data", "unpack it with bunzip2"),
    (b"\xfd7zXZ\x00", "xz data", "unpack it with unxz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data", "unpack it with unzstd"),
    (b"PAR1", "a Parquet file", "its name must end in .parquet"),
    (b"SQLite format 3\x00", "an SQLite database", "export its rows first"),
    (b"%PDF-", "a PDF file", "text is wanted"),
)


def plain_suffix(path: Path) -> str:
    """Give the ending of a name in lower case, without ``.gz``: ``.jsonl`` for a.jsonl.gz."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def clean_text(text: str) -> tuple[str, int]:
    """Replace what a database can't hold by U+FFFD: NUL and lone surrogates. Nothing else changes.

    Returns:
        The text, and how many characters were replaced.
    """
    if "\x00" not in text and _encodes(text):
        return text, 0
    letters = ["\ufffd" if _unstorable(letter) else letter for letter in text]
    return "".join(letters), sum(map(_unstorable, text))


def read_bytes(path: Path, findings: Findings) -> bytes | None:
    """Read a whole file, unpacked and without a byte order mark; None after a fault.

    The bytes may still be invalid UTF-8.
    """
    before = findings.count_faults(path)
    content = b"".join(read_blocks(path, findings))
    return content if findings.count_faults(path) == before else None


def read_lines(path: Path, findings: Findings) -> Iterator[tuple[int, str]]:
    """Read a file line by line, with memory for one block only.

    Lines that are not UTF-8 become faults and are left out.

    Yields:
        The physical line number, from 1, and the line without its end.
    """
    number = 0
    for block in read_blocks(path, findings):
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for raw in lines:
            number += 1
            line = decoded(raw.removesuffix(b"\r"), path, number, findings)
            if line is not None:
                yield number, line


def decoded(raw: bytes, path: Path, line: int | None, findings: Findings) -> str | None:
    """Decode one line, or note the fault and give None."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        findings.fault(
            path,
            line,
            f"not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start + 1};"
            " save the file as UTF-8",
        )
        return None


def read_blocks(path: Path, findings: Findings, size: int = _BLOCK) -> Iterator[bytes]:
    r"""Read a file in blocks of whole lines, unpacked and without a byte order mark.

    Every block but the last one ends in ``\n``. A block is longer than ``size`` bytes only when
    one line is. Faults of the file as a whole (missing, empty, damaged, another encoding) are
    noted here.
    """
    rest: list[bytes] = []
    first = True
    for chunk in _chunks(path, findings, size):
        if first:
            problem = _foreign(chunk)
            if problem is not None:
                findings.fault(path, None, problem)
                return
            chunk = chunk.removeprefix(_BOM)  # noqa: PLW2901 - the mark is no part of the text
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest.append(chunk)
        else:
            rest.append(chunk[:cut])
            yield b"".join(rest)
            rest = [chunk[cut:]]
        first = False
    last = b"".join(rest)
    if last:
        yield last


def _chunks(path: Path, findings: Findings, size: int) -> Iterator[bytes]:
    """Read unpacked chunks; every failure to do so becomes a fault."""
    found_any = False
    try:
        with _unpacked(path, findings) as file:
            while chunk := file.read(size):
                found_any = found_any or chunk != _BOM
                yield chunk
    except FileNotFoundError:
        findings.fault(path, None, "there is no such file")
    except IsADirectoryError:
        findings.fault(path, None, "this is a folder; a file is wanted")
    except EOFError:
        findings.fault(path, None, "the gzip data is cut short: fetch the file again")
    except (gzip.BadGzipFile, zlib.error) as error:
        findings.fault(path, None, f"the gzip data is damaged: {error}")
    except OSError as error:
        findings.fault(path, None, f"can't be read: {error.strerror or error}")
    else:
        if not found_any:
            findings.fault(path, None, "the file is empty")


@contextmanager
def _unpacked(path: Path, findings: Findings) -> Iterator[BinaryIO]:
    with path.open("rb") as raw:
        # peek() doesn't move the position, so pipes work as well as files.
        packed = raw.peek(2)[:2] == _GZIP
        named_packed = path.name.lower().endswith(".gz")
        if not packed:
            if named_packed and raw.peek(1):
                findings.notice(path, None, "named .gz, but holds no gzip data: read as it is")
            yield raw
            return
        if not named_packed:
            findings.notice(path, None, "gzip data under a name without .gz: unpacked")
        with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
            yield cast("BinaryIO", unpacked)


def _foreign(start: bytes) -> str | None:
    """Recognise content that isn't UTF-8 text by its first bytes."""
    for mark, what, remedy in _FOREIGN:
        if start.startswith(mark):
            return f"this is {what}: {remedy}"
    sample = start[:_SAMPLE]
    # Latin text in UTF-16 has a NUL in every second byte.
    if sample.count(0) >= max(2, 0.4 * len(sample)):
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        if min(even, odd) * 10 < max(even, odd):
            return "this looks like UTF-16 text without a byte order mark: save it as UTF-8"
        return "this is binary data: text is wanted"
    if b"\n" not in start and b"\r" in start[:-1]:
        return (
            "lines end in a carriage return alone (old Macintosh style):"
            " save it with line feeds, or: tr '\\r' '\\n'"
        )
    return None


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unstorable(letter: str) -> bool:
    return letter == "\x00" or "\ud800" <= letter <= "\udfff"
