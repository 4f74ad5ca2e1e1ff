"""Columns of a TREC run, block by block: a fast way for regular blocks, a slow one for the rest.

The slow way reads line by line with ``trec_lines`` and says what a file means. The fast way
handles a whole block at once and gives up (None) on anything that it can't be sure of: comments,
blank lines, faults, control characters, a number of columns other than six, odd ranks. Both give
the same columns for every block that the fast way takes; a property test holds them to it. A
block that the fast way gives up on is halved until the odd lines stand alone.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from labeler.formats.findings import Findings
from labeler.formats.id_column import LONGEST_FIXED, IdColumn, texts_at
from labeler.formats.number_column import decimals_at, whole_numbers_at
from labeler.formats.run_columns import RunColumns
from labeler.formats.source import decoded
from labeler.formats.trec_lines import RUN_WIDTH, LineNotes, parse_run_line

__all__ = ["RunReader"]

_FEW_BYTES: Final = 1 << 12  # below this, reading line by line costs as much as trying not to
_COMMENTS: Final = re.compile(rb"(^[ \t]*#[^\n]*(?:\n|\Z))", re.MULTILINE)
_TAB, _NEWLINE, _BLANK, _HASH = b"\t\n #"

_Places = NDArray[np.int64]


@dataclass(slots=True)
class RunReader:
    """Reads one run; its columns grow block by block.

    Attributes:
        path: The file, for messages.
        findings: Takes the faults of the slow way.
        notes: Lines about which something is told.
        next_line: The physical number of the first line that was not yet taken.
        row_count: The rows so far.
    """

    path: Path
    findings: Findings
    notes: LineNotes = field(default_factory=LineNotes)
    next_line: int = 1
    row_count: int = 0
    _queries: IdColumn = field(default_factory=lambda: IdColumn(in_runs=True))
    _documents: IdColumn = field(default_factory=lambda: IdColumn(in_runs=False))
    _tags: IdColumn = field(default_factory=lambda: IdColumn(in_runs=True))
    _scores: list[NDArray[np.float64]] = field(default_factory=list)
    _ranks: list[NDArray[np.int32]] = field(default_factory=list)
    _lines: list[NDArray[np.int64]] = field(default_factory=list)

    def take(self, block: bytes) -> None:
        """Take whole lines; the last one may lack its end."""
        if self.take_fast(block):
            return
        for piece in _COMMENTS.split(block):
            if piece:
                self._take_in_halves(piece)

    def _take_in_halves(self, block: bytes) -> None:
        cut = block.find(b"\n", len(block) // 2) + 1
        if len(block) <= _FEW_BYTES or cut in {0, len(block)}:
            self.take_slowly(block)
        elif not self.take_fast(block):
            self._take_in_halves(block[:cut])
            self._take_in_halves(block[cut:])

    def take_fast(self, block: bytes) -> bool:
        """Take a regular block at once; False, and nothing taken, when it isn't regular."""
        block = _plain_ends(block)
        words = _rows_of_six(block)
        if words is None or not _is_utf8(block):
            return False
        begins, ends = words
        lengths = ends - begins
        longest = int(lengths[_IDS].max())
        if longest > LONGEST_FIXED:
            return False
        letters = np.frombuffer(block, dtype=np.uint8)
        ranks = whole_numbers_at(letters, ends[3], lengths[3])
        scores = None if ranks is None else decimals_at(block, begins[4], ends[4])
        if ranks is None or scores is None:
            return False
        padded = block + bytes(longest + 8)
        for ids, column in zip((self._queries, self._documents, self._tags), _IDS, strict=True):
            ids.add(texts_at(padded, begins[column], lengths[column]))
        count = len(ranks)
        self._ranks.append(ranks)
        self._scores.append(scores)
        self._lines.append(np.arange(self.next_line, self.next_line + count))
        self.next_line += count
        self.row_count += count
        return True

    def take_slowly(self, block: bytes) -> None:
        """Take a block line by line; faulty lines are noted and left out."""
        ids: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
        ranks, scores, lines = array("i"), array("d"), array("q")
        for number, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), self.next_line):
            line = decoded(raw.rstrip(b"\r"), self.path, number, self.findings)
            row = None if line is None else parse_run_line(line, number, self.notes)
            self.next_line = number + 1
            if isinstance(row, str):
                self.findings.fault(self.path, number, row)
            elif row is not None:
                for column, text in zip(ids, (row.query, row.document, row.tag), strict=True):
                    column.append(text.encode())
                ranks.append(row.rank)
                scores.append(row.score)
                lines.append(number)
        self._queries.add_list(ids[0])
        self._documents.add_list(ids[1])
        self._tags.add_list(ids[2])
        self._ranks.append(np.array(ranks, dtype=np.int32))
        self._scores.append(np.array(scores, dtype=np.float64))
        self._lines.append(np.array(lines, dtype=np.int64))
        self.row_count += len(lines)

    def columns(self) -> RunColumns:
        """Put the blocks together; there must be at least one row."""
        queries, query_codes = self._queries.numbered()
        documents, document_codes = self._documents.numbered()
        tags, _ = self._tags.numbered()
        return RunColumns(
            path=str(self.path),
            tags=tuple(tags),
            queries=queries,
            documents=documents,
            query_codes=query_codes,
            document_codes=document_codes,
            scores=np.concatenate(self._scores),
            stated_ranks=np.concatenate(self._ranks),
            lines=np.concatenate(self._lines),
        )


_IDS = [0, 2, 5]


def _plain_ends(block: bytes) -> bytes:
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    return block if block.endswith(b"\n") else block + b"\n"


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _rows_of_six(block: bytes) -> tuple[_Places, _Places] | None:
    """Find where words begin and end (6 x lines), or None unless every line holds six words.

    Also None where a line begins with '#' or holds a control character.
    """
    letters = np.frombuffer(block, dtype=np.uint8)
    is_gap = letters <= _BLANK
    gaps = np.flatnonzero(is_gap)
    kinds = letters[gaps]
    if not ((kinds == _BLANK) | (kinds == _NEWLINE) | (kinds == _TAB)).all():
        return None
    begins, ends = np.concatenate(([0], gaps[:-1] + 1)), gaps
    if (begins == ends).any():  # several blanks in a row, or blanks at the ends of a line
        filled = begins < ends
        begins, ends = begins[filled], ends[filled]
    line_ends = gaps[kinds == _NEWLINE]
    if not len(line_ends) or len(ends) != RUN_WIDTH * len(line_ends):
        return None
    begins = np.ascontiguousarray(begins.reshape(-1, RUN_WIDTH).T)
    ends = np.ascontiguousarray(ends.reshape(-1, RUN_WIDTH).T)
    # With as many words as six a line, each line holds six when its sixth word ends before the
    # line does and the next word begins behind it.
    if (ends[-1] > line_ends).any() or (begins[0, 1:] < line_ends[:-1]).any():
        return None
    return None if (letters[begins[0]] == _HASH).any() else (begins, ends)
