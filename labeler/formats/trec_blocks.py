"""Columns of a TREC run, block by block: a fast way for regular blocks, a slow one for the rest.

The slow way reads line by line with ``trec_lines`` and says what a file means. The fast way
handles a whole block at once and gives up (None) on anything that it can't be sure of: comments,
blank lines, faults, control characters, a number of columns other than six, odd numbers. Both
give the same columns for every block that the fast way takes; a property test holds them to it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labeler.formats.findings import Findings
from labeler.formats.run_columns import RunColumns
from labeler.formats.source import decoded
from labeler.formats.trec_lines import HIGHEST_RANK, LineNotes, parse_run_line

__all__ = ["Codes", "RunParts", "take_block", "take_lines"]

_Number = TypeVar("_Number", bound=np.generic)

_BLANK, _TAB, _NEWLINE = 32, 9, 10
_SCORE_LETTERS = b"0123456789.+-eE"


class Codes(dict[bytes, int]):
    """Numbers ids in the order in which they are first asked for."""

    def __missing__(self, key: bytes) -> int:
        code = len(self)
        self[key] = code
        return code

    def texts(self) -> list[str]:
        """All ids by their code."""
        return [key.decode("utf-8") for key in self]


@dataclass(slots=True)
class RunParts:
    """The columns of a run while its blocks come in."""

    queries: Codes = field(default_factory=Codes)
    documents: Codes = field(default_factory=Codes)
    tags: Codes = field(default_factory=Codes)
    query_codes: list[NDArray[np.int32]] = field(default_factory=list)
    document_codes: list[NDArray[np.int32]] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    ranks: list[NDArray[np.int32]] = field(default_factory=list)
    lines: list[NDArray[np.int64]] = field(default_factory=list)

    @property
    def row_count(self) -> int:
        """How many rows were taken so far."""
        return sum(map(len, self.lines))

    def columns(self, path: str) -> RunColumns:
        """Put the blocks together."""
        return RunColumns(
            path=path,
            tags=tuple(self.tags.texts()),
            queries=self.queries.texts(),
            documents=self.documents.texts(),
            query_codes=_joined(self.query_codes, np.int32),
            document_codes=_joined(self.document_codes, np.int32),
            scores=_joined(self.scores, np.float64),
            stated_ranks=_joined(self.ranks, np.int32),
            lines=_joined(self.lines, np.int64),
        )


def take_block(block: bytes, first_line: int, parts: RunParts) -> int | None:
    """Take a regular block at once.

    Args:
        block: Whole lines; the last may lack its end.
        first_line: The physical number of the block's first line.
        parts: Grows by the rows of the block; untouched when the block isn't regular.

    Returns:
        The number of lines, or None when the block must be read line by line.
    """
    text = _plain_lines(block)
    if text is None:
        return None
    count = _rows_of_six(text)
    if count is None:
        return None
    words = text.split()
    ranks, scores = _ranks(words[3::6]), _scores(words[4::6])
    if ranks is None or scores is None:
        return None
    parts.ranks.append(ranks)
    parts.scores.append(scores)
    parts.query_codes.append(_coded(parts.queries, words[0::6]))
    parts.document_codes.append(_coded(parts.documents, words[2::6]))
    for tag in dict.fromkeys(words[5::6]):
        parts.tags[tag]  # noqa: B018 - looking a word up numbers it
    parts.lines.append(np.arange(first_line, first_line + count, dtype=np.int64))
    return count


def take_lines(
    block: bytes, first_line: int, parts: RunParts, notes: LineNotes, findings: Findings, path: Path
) -> int:
    """Take a block line by line; faulty lines are noted and left out.

    Returns:
        The number of lines.
    """
    raw_lines = block.split(b"\n")
    if not raw_lines[-1]:
        raw_lines.pop()
    query_codes, document_codes, ranks = array("i"), array("i"), array("i")
    scores, lines = array("d"), array("q")
    for number, raw in enumerate(raw_lines, first_line):
        line = decoded(raw.rstrip(b"\r"), path, number, findings)
        row = None if line is None else parse_run_line(line, number, notes)
        if isinstance(row, str):
            findings.fault(path, number, row)
        elif row is not None:
            query_codes.append(parts.queries[row.query.encode()])
            document_codes.append(parts.documents[row.document.encode()])
            parts.tags[row.tag.encode()]  # noqa: B018 - looking a word up numbers it
            ranks.append(row.rank)
            scores.append(row.score)
            lines.append(number)
    parts.query_codes.append(np.array(query_codes, dtype=np.int32))
    parts.document_codes.append(np.array(document_codes, dtype=np.int32))
    parts.ranks.append(np.array(ranks, dtype=np.int32))
    parts.scores.append(np.array(scores, dtype=np.float64))
    parts.lines.append(np.array(lines, dtype=np.int64))
    return len(raw_lines)


def _plain_lines(block: bytes) -> bytes | None:
    """Give the block with plain line ends, or None when it holds anything out of the ordinary."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if not block.endswith(b"\n"):
        block += b"\n"
    # bytes.split() also splits at these four, which trec_lines calls faults.
    if any(mark in block for mark in (b"\r", b"\x00", b"\x0b", b"\x0c")):
        return None
    # A word that begins with '#' may begin a line; more exactly would cost more than it saves.
    if block.startswith(b"#") or any(mark in block for mark in (b"\n#", b" #", b"\t#")):
        return None
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return None
    return block


def _rows_of_six(block: bytes) -> int | None:
    """Count the lines, or give None unless every line holds exactly six words."""
    letters = np.frombuffer(block, dtype=np.uint8)
    newline = letters == _NEWLINE
    gap = newline | (letters == _BLANK) | (letters == _TAB)
    begins = np.empty(len(letters), dtype=bool)
    begins[0] = not gap[0]
    np.greater(gap[:-1], gap[1:], out=begins[1:])
    word_places = np.flatnonzero(begins)
    line_ends = np.flatnonzero(newline)
    count = len(line_ends)
    if len(word_places) != 6 * count:
        return None
    # Word 6i must lie behind the end of line i-1, and word 6i+5 before the end of line i.
    inside = (word_places[5::6] < line_ends).all() and (word_places[6::6] > line_ends[:-1]).all()
    return count if inside else None


def _ranks(words: list[bytes]) -> NDArray[np.int32] | None:
    if not b"".join(words).isdigit() or max(map(len, words)) > 10:
        return None
    ranks = np.array(list(map(int, words)), dtype=np.int64)
    return ranks.astype(np.int32) if ranks.max() <= HIGHEST_RANK else None


def _scores(words: list[bytes]) -> NDArray[np.float64] | None:
    # float() also reads 'nan', 'inf' and '1_0', which are faults.
    if b"".join(words).translate(None, _SCORE_LETTERS):
        return None
    try:
        scores = np.array(list(map(float, words)), dtype=np.float64)
    except ValueError:
        return None
    return scores if np.isfinite(scores).all() else None


def _coded(codes: Codes, words: list[bytes]) -> NDArray[np.int32]:
    return np.fromiter(map(codes.__getitem__, words), dtype=np.int32, count=len(words))


def _joined(blocks: list[NDArray[_Number]], kind: type[_Number]) -> NDArray[_Number]:
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=kind)
