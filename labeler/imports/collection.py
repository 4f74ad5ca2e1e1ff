"""A labelled collection in a folder: what a judge is measured on or fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labeler.errors import Fault, InputError
from labeler.formats.findings import Findings, Notice
from labeler.formats.scale_file import scale_named
from labeler.imports.label_rows import read_labels
from labeler.imports.parts import files_of
from labeler.imports.passages import read_passages
from labeler.imports.query_rows import QueryRow, read_queries
from labeler.imports.report import settle
from labeler.imports.scale_choice import choose_scale, read_levels
from labeler.labels import Grade

__all__ = ["CollectionFolder", "read_collection"]


@dataclass(frozen=True, slots=True)
class CollectionFolder:
    """Texts and grades of one folder.

    Attributes:
        name: The folder's name.
        queries: Text by query id.
        passages: Title and text by passage id.
        labels: Grade by (query id, passage id); pairs without a text, and pairs on which the
            labels differ, are left out.
        scale: The scale's mapping, in words.
        left_out: Labelled pairs that were left out.
        notices: What is told beside the counts.
    """

    name: str
    queries: Mapping[str, str]
    passages: Mapping[str, str]
    labels: Mapping[tuple[str, str], Grade]
    scale: str
    left_out: int
    notices: tuple[Notice, ...]


def read_collection(
    folder: Path,
    *,
    labels: Path | None = None,
    scale: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> CollectionFolder:
    """Read corpus.jsonl, queries.jsonl and the labels of a folder.

    Args:
        folder: The folder.
        labels: The labels; by default qrels.txt in the folder, else its qrels/*.tsv.
        scale: The scale's name; by default the smallest that holds all labels.
        mapping: What codes or words mean; see ``import labels --map``.

    Raises:
        InputError: When a file holds faults, or no pair is left.
    """
    findings = Findings()
    passages = read_passages(files_of([folder], "corpus", findings), {}, findings)
    queries = read_queries(
        files_of([folder], "queries", findings), {}, {}, QueryRow("", ""), findings
    )
    source = labels or (folder / "qrels.txt" if (folder / "qrels.txt").is_file() else folder)
    rows = read_labels([source], {}, findings, lenient=False)
    named = scale_named(scale) if scale is not None else None
    chosen, _ = choose_scale(rows, named, mapping or {})
    read = read_levels(rows, chosen, findings)
    settle(findings, lenient=False, kept=len(read))
    texts = {one.key: f"{one.title} {one.text}" if one.title else one.text for one in passages}
    asked = {row.key: row.text for row in queries}
    grades: dict[tuple[str, str], set[Grade]] = {}
    for label in read:
        if label.level is not None:
            pair = (label.row.query, label.row.document)
            grades.setdefault(pair, set()).add(label.level.grade)
    kept = {
        pair: next(iter(found))
        for pair, found in grades.items()
        if len(found) == 1 and pair[0] in asked and texts.get(pair[1], "").strip()
    }
    if not kept:
        raise InputError([Fault(str(source), None, "no labelled pair has both its texts")])
    return CollectionFolder(
        name=folder.absolute().name,
        queries=asked,
        passages=texts,
        labels=kept,
        scale=chosen.describe() if chosen else "none",
        left_out=len(grades) - len(kept),
        notices=tuple(findings.notices),
    )
