"""TREC qrels: labels in force as codes of one scale; what is unknown is left out, never 0."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.exports.assessed import AssessedItem, chunks_of_evidence, read_assessed
from labeler.exports.scope import Scope
from labeler.formats.atomic import is_stream, replacing
from labeler.formats.trec import write_qrels
from labeler.labels import Level, Scale, State, state_of

__all__ = ["QrelsReport", "export_qrels", "level_on"]


@dataclass(frozen=True, slots=True)
class QrelsReport:
    """What was written and what was left out.

    Attributes:
        scale: The scale whose codes were written.
        converted: How many labels came from another scale, by their grade.
        written: Rows written.
        by_code: Rows by code.
        by_basis: Labels written by the basis that they stand on.
        abstained: Items that people couldn't judge.
        unknown: Items without a label in force.
    """

    scale: Scale
    converted: int
    written: int
    by_code: Mapping[int, int]
    by_basis: Mapping[str, int]
    abstained: int
    unknown: int
    revision: int


def level_on(scale: Scale, item: AssessedItem) -> Level | None:
    """Give an item's level on a scale: its own, or the one that stands for its grade.

    A scale without a level for the grade, as a binary one for partially relevant, gives its lowest
    level of the same state: a relevant item never becomes not relevant.
    """
    if item.level is None or item.label is None or item.label.grade is None:
        return None
    if item.scale is not None and item.scale.digest == scale.digest:
        return scale.level(item.level.code)
    exact = scale.level_for(item.label.grade)
    if exact is not None:
        return exact
    same_state = [level for level in scale.levels if state_of(level.grade) is item.state]
    return min(same_state, key=lambda level: level.order) if same_state else None


def export_qrels(
    connection: Connection,
    path: Path,
    scope: Scope,
    *,
    scale: Scale | None = None,
    ids: Literal["evidence", "chunk"] = "evidence",
    only_people: bool = False,
) -> QrelsReport:
    """Write labels in force as TREC qrels, and beside them a file that says what they are.

    Args:
        connection: A transaction's connection.
        path: The file to write; ``<path>.meta.json`` is written beside it.
        scope: What is meant.
        scale: The scale whose codes to write; by default the one that all labels are on.
        ids: Write the ids of evidences, or those of all chunks that carry them.
        only_people: Leave out labels that a policy accepted.

    Raises:
        UsageError: When the labels are on several scales and none is named.
        LabelerError: When an id can't stand in a TREC file.
    """
    items = read_assessed(connection, scope, only_people=only_people)
    chosen = scale or _only_scale(items)
    chunks = chunks_of_evidence(connection, scope.snapshot_id) if ids == "chunk" else {}
    rows: list[tuple[str, str, int]] = []
    bases: Counter[str] = Counter()
    converted = 0
    for item in items:
        level = level_on(chosen, item)
        if level is None or item.label is None:
            continue
        bases[item.label.basis.value] += 1
        converted += item.scale is not None and item.scale.digest != chosen.digest
        names = chunks.get(item.evidence, [item.evidence]) if ids == "chunk" else [item.evidence]
        rows += [(item.query, name, level.code) for name in names]
    write_qrels(path, rows)
    report = QrelsReport(
        scale=chosen,
        converted=converted,
        written=len(rows),
        by_code=Counter(code for _, _, code in rows),
        by_basis=bases,
        abstained=sum(item.label is not None and item.label.grade is None for item in items),
        unknown=sum(item.label is None for item in items),
        revision=scope.revision,
    )
    _write_meta(path, scope, report, ids)
    return report


def _only_scale(items: Sequence[AssessedItem]) -> Scale:
    scales = {item.scale.digest: item.scale for item in items if item.scale is not None}
    if len(scales) > 1:
        listed = ", ".join(sorted(scale.name for scale in scales.values()))
        raise UsageError(
            f"the labels are on several scales: {listed}",
            hint="choose the one to write: --scale NAME",
        )
    if not scales:
        raise UsageError(
            "no item has a label in force, so there is nothing to write",
            hint="`labeler judge run`, `labeler route` and `labeler review` make labels",
        )
    return next(iter(scales.values()))


def _write_meta(path: Path, scope: Scope, report: QrelsReport, ids: str) -> None:
    """Write what the codes mean; importing the qrels again reads the scale from here.

    Beside a device or a pipe nothing is written.
    """
    if is_stream(path):
        return
    content = {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "scale": report.scale.to_dict(),
        "ids": ids,
        "snapshot": scope.snapshot,
        "rubric": scope.rubric,
        "pool": scope.pool,
        "revision": scope.revision,
        "rows": report.written,
        "basis": dict(sorted(report.by_basis.items())),
        "abstained": report.abstained,
        State.UNKNOWN.value: report.unknown,
    }
    with replacing(path.with_name(path.name + ".meta.json")) as file:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
        file.write(text.encode("utf-8") + b"\n")
