"""One line of a TREC run: the specification that the fast reader has to agree with.

A row is ``query iteration document rank score tag``. Blanks and tabs in any number separate the
columns and nothing else does: U+00A0 belongs to an id. Blanks at both ends of a line are ignored.
A line that holds nothing, or whose first character after blanks is ``#``, is no row; trec_eval 10
reads comments so, even where the line would be a row. The iteration is ignored, as trec_eval does.
Text after the sixth column is ignored and told.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from labeler.formats.findings import Findings, shown

__all__ = [
    "QRELS_WIDTH",
    "RUN_WIDTH",
    "LineNotes",
    "RunRow",
    "columns_of",
    "doubtful_character",
    "is_comment",
    "is_number",
    "parse_run_line",
]

RUN_WIDTH = 6
QRELS_WIDTH = 4
HIGHEST_RANK = 2**31 - 1
RUN_COLUMNS = "query, iteration, document, rank, score, tag"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\+?\d{1,20}(\.0*)?", re.ASCII)
_BLANKS = re.compile(r"[ \t]+")
# Other programs split or end a line at these, so the line would mean two things.
_DOUBTFUL = re.compile(r"[\x00\x0b\x0c\r]")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One row of a run, as text and numbers; ``rank`` is at least 0, ``score`` finite."""

    query: str
    document: str
    rank: int
    score: float
    tag: str


@dataclass(slots=True)
class LineNotes:
    """Lines of one file that are taken, but about which something is told."""

    extra_text: list[int] = field(default_factory=list)
    comments_like_rows: list[int] = field(default_factory=list)

    def tell(self, path: str, findings: Findings) -> None:
        """Turn the lines into one notice a kind."""
        findings.notice_many(path, "text after the sixth column is ignored", self.extra_text)
        findings.notice_many(
            path,
            "begins with '#' and is taken as a comment, as trec_eval does, although it could be"
            " a row",
            self.comments_like_rows,
        )


def columns_of(line: str) -> list[str]:
    """Split a line at blanks and tabs; an empty list for a line without any text."""
    line = line.strip(" \t")
    return _BLANKS.split(line) if line else []


def is_comment(columns: list[str]) -> bool:
    """Whether a line that was split is a comment."""
    return bool(columns) and columns[0].startswith("#")


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number; no ``nan``, ``inf``, ``1_0`` or other digits."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def doubtful_character(line: str) -> str | None:
    """Say which control character makes a line mean two things, or None."""
    found = _DOUBTFUL.search(line)
    if found is None:
        return None
    return (
        f"holds the control character 0x{ord(found[0]):02x}, which some programs take"
        " for the end of a column or line"
    )


def parse_run_line(line: str, number: int, notes: LineNotes) -> RunRow | str | None:
    """Read one line.

    Args:
        line: The line without its end.
        number: Its physical number, for the notes.
        notes: Takes what is told about lines that are read or skipped.

    Returns:
        The row, None when the line is blank or a comment, or what is wrong with it.
    """
    columns = columns_of(line)
    if not columns:
        return None
    if is_comment(columns):
        if len(columns) == RUN_WIDTH and is_number(columns[3]) and is_number(columns[4]):
            notes.comments_like_rows.append(number)
        return None
    problem = doubtful_character(line) or _misshapen(columns)
    if problem is not None:
        return problem
    query, _, document, rank, score, tag = columns[:6]
    stated = _read_rank(rank)
    if isinstance(stated, str):
        return stated
    if not is_number(score):
        return f"the score {shown(score)} is no finite number"
    if len(columns) > RUN_WIDTH:
        notes.extra_text.append(number)
    return RunRow(query, document, stated, float(score), tag)


def _misshapen(columns: list[str]) -> str | None:
    """Say why the number of columns doesn't fit, or None."""
    count = len(columns)
    if count == QRELS_WIDTH and is_number(columns[3]):
        return (
            "4 columns, the last a number: this looks like qrels; a run has 6 columns"
            f" ({RUN_COLUMNS})"
        )
    if count < RUN_WIDTH:
        return f"{count} {'column' if count == 1 else 'columns'}; a run has 6 ({RUN_COLUMNS})"
    shifted = count > RUN_WIDTH and is_number(columns[4]) and is_number(columns[5])
    if shifted or (count > RUN_WIDTH and not is_number(columns[3])):
        return f"{count} columns; a run has 6 ({RUN_COLUMNS}): does an id hold a blank?"
    return None


def _read_rank(text: str) -> int | str:
    if not _WHOLE.fullmatch(text):
        return f"the rank {shown(text)} is no whole number from 0"
    rank = int(text.partition(".")[0])
    if rank > HIGHEST_RANK:
        return f"the rank {shown(text)} is above {HIGHEST_RANK}"
    return rank
