"""Reading a corpus: rows of files to passages, with everything checked before it is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from labeler.formats.fields import CORPUS, Fields, as_id, lookup, resolve
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record, read_records
from labeler.formats.source import clean_text
from labeler.imports.report import headerless

__all__ = ["Passage", "corpus_digest", "read_passages"]

_DOCUMENT_FIELDS = ("domain", "product", "region", "effective_date", "source")


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of a corpus.

    Attributes:
        key: The chunk's id.
        text: Its text.
        title: The title, or None.
        document: The id of the source document; the chunk's own where the file names none.
        evidence: The ids of the evidence that it carries, at least one.
        position: Its place in the document, from 0, as the file says or in the file's order.
        about: What is known of the document: domain, product, region, effective_date, source.
        supersedes: The id of the document that this one replaces, or None.
    """

    key: str
    text: str
    title: str | None
    document: str
    evidence: tuple[str, ...]
    position: int
    about: Mapping[str, str]
    supersedes: str | None


def read_passages(
    files: Sequence[Path], overrides: Mapping[str, str], findings: Findings
) -> list[Passage]:
    """Read all passages of a corpus; faults and what is told go to the findings.

    A chunk id that comes again with the same text is read once; with another text it is a fault,
    since a person must never judge a text other than the one the judge saw.
    """
    seen: dict[str, tuple[Passage, str, int]] = {}
    positions: dict[str, int] = {}
    for path in files:
        repeated: list[int] = []
        cleaned: list[int] = []
        blank: list[int] = []
        for record, fields in rows_of(path, overrides, findings):
            passage, replaced = _passage(record, fields, path, positions, findings)
            if passage is None:
                continue
            if replaced:
                cleaned.append(record.line)
            if not passage.text.strip():
                blank.append(record.line)
            earlier = seen.get(passage.key)
            if earlier is None:
                seen[passage.key] = (passage, str(path), record.line)
            elif earlier[0].text == passage.text and earlier[0].title == passage.title:
                repeated.append(record.line)
            else:
                findings.fault(
                    path,
                    record.line,
                    f"{shown(passage.key)} comes again with another text; the first is in "
                    f"{earlier[1]}:{earlier[2]}",
                )
        findings.notice_many(
            path, "an id that came before, with the same text: read once", repeated
        )
        findings.notice_many(path, "a character that can't be stored became U+FFFD", cleaned)
        findings.notice_many(path, "no text: nobody can judge this passage", blank)
    return [passage for passage, _, _ in seen.values()]


def rows_of(
    path: Path, overrides: Mapping[str, str], findings: Findings
) -> Iterator[tuple[Record, Fields]]:
    """Go through the rows of one corpus file, with the columns that its first row resolves to."""
    fields: Fields | None = None
    for record in read_records(
        path, findings, columns=headerless(path), known=set(overrides.values())
    ):
        if fields is None:
            fields = resolve(
                record.values, CORPUS, overrides, path=str(path), findings=findings, example=record
            )
            if fields is None:
                return
        yield record, fields


def _passage(
    record: Record, fields: Fields, path: Path, positions: dict[str, int], findings: Findings
) -> tuple[Passage | None, int]:
    key = as_id(lookup(record, fields, "id"))
    if key is None:
        findings.fault(path, record.line, "the id is missing, or it isn't a text or a number")
        return None, 0
    value = lookup(record, fields, "text")
    if value is not None and not isinstance(value, str):
        findings.fault(path, record.line, f"the text of {shown(key)} is {_kind(value)}, not a text")
        return None, 0
    text, replaced = clean_text(value or "")
    title, more = clean_text(_text(lookup(record, fields, "title")) or "")
    document = as_id(lookup(record, fields, "document")) or key
    evidence = _evidence(lookup(record, fields, "evidence"))
    if evidence is None:
        findings.fault(path, record.line, "evidence is an id or a list of ids")
        return None, 0
    about = {
        name: clean_text(found)[0]
        for name in _DOCUMENT_FIELDS
        if (found := _text(lookup(record, fields, name)))
    }
    when = about.get("effective_date")
    if when is not None and not _is_date(when):
        findings.fault(path, record.line, f"effective_date {shown(when)} is not YYYY-MM-DD")
        return None, 0
    stated = lookup(record, fields, "position")
    position = _whole(stated)
    if position is None:
        position = positions.get(document, 0)
    positions[document] = position + 1
    passage = Passage(
        key=key,
        text=text,
        title=title or None,
        document=document,
        evidence=evidence or (key,),
        position=position,
        about=about,
        supersedes=as_id(lookup(record, fields, "supersedes")),
    )
    return passage, replaced + more


def _evidence(value: object) -> tuple[str, ...] | None:
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    ids = [as_id(one) for one in values]
    if any(one is None for one in ids):
        return None
    return tuple(dict.fromkeys(one for one in ids if one is not None))


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_id(value)
    if isinstance(value, date):
        return value.isoformat()
    return None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**31 else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:  # noqa: PLR2004
        return int(value)
    return None


def _is_date(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _kind(value: object) -> str:
    names = {list: "a list", dict: "an object", bool: "true or false", int: "a number"}
    return names.get(type(value), "a number")


def corpus_digest(passages: Sequence[Passage]) -> str:
    """Digest a corpus: every passage with its evidence and document, whatever their order."""
    digest = hashlib.sha256()
    for passage in sorted(passages, key=lambda passage: passage.key):
        content = [
            passage.key,
            passage.text,
            passage.title,
            passage.document,
            sorted(passage.evidence),
            sorted(passage.about.items()),
            passage.supersedes,
        ]
        digest.update(json.dumps(content, ensure_ascii=True).encode("ascii") + b"\n")
    return digest.hexdigest()
