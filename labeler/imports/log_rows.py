"""Rows of query logs: read, checked, and freed of personal data in the same step."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labeler.formats.field_tables import QUERY_LOG
from labeler.formats.fields import Fields, as_id, lookup, resolve
from labeler.formats.findings import Findings
from labeler.formats.records import Record, read_records
from labeler.formats.source import clean_text
from labeler.imports.personal_data import scrub

__all__ = ["LogRow", "read_log_rows"]

_MILLISECONDS = 10**11
"""Seconds since 1970 stay below this until the year 5138; more are milliseconds."""

_YES = frozenset({"true", "yes", "y", "t"})
_NO = frozenset({"false", "no", "n", "f"})


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log, without personal data.

    Attributes:
        text: The query.
        count: How often it was asked, 1 or more.
        at: When, in UTC, or None.
        conversation: A digest of the conversation's id and the files, or None.
        domain: The domain, or None.
        language: The language, or None.
        clicked: How many of these had a click, or None where the log doesn't say.
        score: A retrieval score or satisfaction, or None.
    """

    text: str
    count: int = 1
    at: datetime | None = None
    conversation: str | None = None
    domain: str | None = None
    language: str | None = None
    clicked: int | None = None
    score: float | None = None


def read_log_rows(
    paths: Sequence[Path],
    overrides: Mapping[str, str],
    findings: Findings,
    replaced: Counter[str],
) -> list[LogRow]:
    """Read logs in JSON lines, CSV and the like.

    Args:
        paths: The files.
        overrides: Field -> column, as the user said.
        findings: Takes faults and notices; none quotes a row.
        replaced: Takes how many finds of personal data were replaced, by kind.
    """
    found: list[LogRow] = []
    for path in paths:
        fields: Fields | None = None
        salt = ""
        naive = 0
        for record in read_records(path, findings, known=set(overrides.values())):
            if fields is None:
                fields = resolve(
                    record.values, QUERY_LOG, overrides, path=str(path), findings=findings
                )
                if fields is None:
                    break
                salt = _salt(path)
            row, is_naive = _row(record, fields, salt, path, findings, replaced)
            naive += is_naive
            if row is not None:
                found.append(row)
        if naive:
            findings.notice(path, None, f"{naive:,} times without a zone are taken as UTC")
    return found


def _salt(path: Path) -> str:
    """Digest a file, so that the digests of its conversations can't be guessed without it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _row(
    record: Record,
    fields: Fields,
    salt: str,
    path: Path,
    findings: Findings,
    replaced: Counter[str],
) -> tuple[LogRow | None, bool]:
    """Read a row; also tell whether its time has no zone."""

    def fault(problem: str) -> tuple[None, bool]:
        findings.fault(path, record.line, problem)
        return None, False

    text = lookup(record, fields, "text")
    if not isinstance(text, str) or not text.strip():
        return fault("the query's text is missing")
    count = _count(lookup(record, fields, "count"))
    if count is None:
        return fault("the count is not a whole number of 1 or more")
    given = lookup(record, fields, "at")
    at, is_naive = _time(given)
    if given is not None and at is None:
        return fault("the time is neither ISO 8601 nor seconds or milliseconds since 1970")
    clicks, score = lookup(record, fields, "clicked"), lookup(record, fields, "score")
    clicked, number = _clicked(clicks, count), _number(score)
    if clicks is not None and clicked is None:
        return fault("the click is neither a number nor true or false")
    if score is not None and number is None:
        return fault("the score is not a number")
    conversation = as_id(lookup(record, fields, "conversation"))
    return (
        LogRow(
            text=_scrubbed(text, replaced),
            count=count,
            at=at,
            conversation=None
            if conversation is None
            else hashlib.sha256(f"{salt}\n{conversation}".encode()).hexdigest()[:16],
            domain=_word(lookup(record, fields, "domain"), replaced),
            language=_word(lookup(record, fields, "language"), replaced),
            clicked=clicked,
            score=number,
        ),
        is_naive,
    )


def _scrubbed(text: str, replaced: Counter[str]) -> str:
    clean, found = scrub(" ".join(clean_text(text)[0].split()))
    replaced.update(found)
    return clean


def _word(value: object, replaced: Counter[str]) -> str | None:
    return _scrubbed(value, replaced) if isinstance(value, str) and value.strip() else None


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _count(value: object) -> int | None:
    if value is None:
        return 1
    number = None if isinstance(value, bool) else _number(value)
    return int(number) if number is not None and number >= 1 and number.is_integer() else None


def _clicked(value: object, count: int) -> int | None:
    """Tell how many of the times a query was asked had a click: at most all of them."""
    if isinstance(value, str) and value.strip().casefold() in _YES | _NO:
        return count if value.strip().casefold() in _YES else 0
    number = _number(value)
    return None if number is None else min(count, math.ceil(max(number, 0.0)))


def _time(value: object) -> tuple[datetime | None, bool]:
    """Read a time; also tell whether it had no zone."""
    number = None if isinstance(value, bool) else _number(value)
    if number is not None:
        seconds = number / 1000 if abs(number) >= _MILLISECONDS else number
        try:
            return datetime.fromtimestamp(seconds, UTC), False
        except (OverflowError, OSError, ValueError):
            return None, False
    if isinstance(value, datetime):
        read = value
    else:
        try:
            read = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
        except ValueError:
            return None, False
    if read.tzinfo is None:
        return read.replace(tzinfo=UTC), True
    return read.astimezone(UTC), False
