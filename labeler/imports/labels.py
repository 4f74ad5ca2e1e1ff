"""Labels of people and machines: every row a judgment, and what people settled a decision."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labeler.assessment.decisions import settle_items
from labeler.assessment.rubric import Rubric, default_rubric
from labeler.formats.findings import Findings, shown
from labeler.formats.scale_file import scale_named
from labeler.imports.known import check_queries, snapshot_meant
from labeler.imports.label_items import LabelledItems, resolve_items
from labeler.imports.label_rows import LabelRow, read_labels
from labeler.imports.report import ImportReport, settle
from labeler.imports.scale_choice import ReadLabel, choose_scale, read_levels
from labeler.labels import Grade, Outcome, Scale
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.scales import AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import assessor_key, rubric_key, scale_key

__all__ = ["LabelOptions", "import_labels"]

_JUDGMENT = table(Judgment)


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """What the user says about labels beside their files; files have the last word."""

    snapshot: str | None = None
    rubric: Rubric | None = None
    scale: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    assessor: str = "imported"
    kind: AssessorKind = AssessorKind.PERSON
    fields: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class _Judged:
    """A label with who gave it, and which of several equal ones it is."""

    label: ReadLabel
    kind: AssessorKind
    assessor: str
    sample: int


def import_labels(store: Store, paths: Sequence[Path], options: LabelOptions) -> ImportReport:
    """Read labels, store each as a judgment of its assessor, and settle what people agree on.

    Raises:
        InputError: When a file holds faults, unless the import is lenient.
    """
    findings = Findings()
    rows = read_labels(paths, options.fields, findings, lenient=options.lenient)
    named = scale_named(options.scale) if options.scale else _scale_beside(paths)
    scale, how = choose_scale(rows, named, options.mapping)
    labels = read_levels(rows, scale, findings)
    judged, repeats = _number_samples(labels, options, findings)
    _tell_oddities(rows, labels, findings)
    with store.write(
        f"import labels ({len(paths)} files, {scale.describe() if scale else ''})"
    ) as tx:
        check_queries(tx.connection, {row.query: (row.path, row.line) for row in rows}, findings)
        snapshot_id, snapshot = snapshot_meant(tx, options.snapshot)
        rubric = options.rubric or default_rubric()
        items = resolve_items(tx, snapshot_id, _pairs(judged), findings)
        left_out = settle(findings, lenient=options.lenient)
        added = _store(tx, judged, items, rubric, snapshot_id)
        decided = settle_items(tx, added)
    abstained = sum(one.label.level is None for one in judged)
    return ImportReport(
        "labels",
        {
            "rows": len(rows),
            "pairs": len({(one.label.row.query, one.label.row.document) for one in judged}),
            "judged": len(judged) - abstained,
            "abstained": abstained,
            "without a label": sum(row.value is None and not row.abstained for row in rows),
            "repeated": repeats,
            "no_text": items.without_text,
            "left out": left_out,
            "added": sum(added.values()),
            "settled": len(decided.settled),
            "disputed": len(decided.disputed),
        },
        {
            "snapshot": snapshot,
            "rubric": rubric.name,
            "scale": scale.describe() if scale else "none",
            "scale chosen": how,
        },
        tuple(findings.notices),
        tx.made_revision,
        tuple(_level_counts(labels)),
    )


def _scale_beside(paths: Sequence[Path]) -> Scale | None:
    """Read the scale that an export of Labeler's wrote beside its qrels."""
    for path in paths:
        beside = path.with_name(path.name + ".meta.json")
        if not beside.is_file() or not path.is_file():
            continue
        try:
            meta = json.loads(beside.read_text(encoding="utf-8"))
            if meta["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest():
                return Scale.from_dict(meta["scale"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _pairs(judged: Sequence[_Judged]) -> dict[tuple[str, str], tuple[str, int | None]]:
    pairs: dict[tuple[str, str], tuple[str, int | None]] = {}
    for one in judged:
        row = one.label.row
        pairs.setdefault((row.query, row.document), (row.path, row.line))
    return pairs


def _number_samples(
    labels: Sequence[ReadLabel], options: LabelOptions, findings: Findings
) -> tuple[list[_Judged], int]:
    """Give every label its assessor and a number among equal ones.

    A person who says the same twice said it once. A machine that was asked several times gave
    several samples. Whoever says different things keeps all of them, and that is told.
    """
    judged: list[_Judged] = []
    counts: Counter[tuple[object, ...]] = Counter()
    said: dict[tuple[str, str, str], dict[object, LabelRow]] = defaultdict(dict)
    repeated: dict[str, list[int]] = defaultdict(list)
    for label in labels:
        row = label.row
        kind = AssessorKind(row.kind) if row.kind in list(AssessorKind) else options.kind
        assessor = row.rater or options.assessor
        code = None if label.level is None else label.level.code
        pair = (row.query, row.document, assessor)
        identity = (*pair, kind, code, row.at)
        counts[identity] += 1
        if counts[identity] > 1 and kind is AssessorKind.PERSON:
            repeated[row.path].append(row.line or 0)
            continue
        judged.append(_Judged(label, kind, assessor, counts[identity] - 1))
        if label.level is not None and row.at is None and kind is AssessorKind.PERSON:
            said[pair].setdefault(code, row)
    for path, lines in repeated.items():
        findings.notice_many(path, "the same label again: counted once", lines)
    _tell_conflicts(said, findings)
    return judged, sum(len(lines) for lines in repeated.values())


def _tell_conflicts(
    said: Mapping[tuple[str, str, str], Mapping[object, LabelRow]], findings: Findings
) -> None:
    conflicts = [(pair, by_code) for pair, by_code in said.items() if len(by_code) > 1]
    for (query, document, assessor), by_code in conflicts[:10]:
        listed = ", ".join(f"{code} on line {row.line}" for code, row in by_code.items())
        findings.notice(
            next(iter(by_code.values())).path,
            None,
            f"{shown(assessor)} contradicts himself on query {shown(query)}, document "
            f"{shown(document)}: {listed}; all are kept, and the pair is undecided",
        )
    if len(conflicts) > 10:  # noqa: PLR2004 - as many as are told one by one
        path = next(iter(conflicts[0][1].values())).path
        findings.notice(path, None, f"{len(conflicts) - 10:,} more such contradictions")


def _tell_oddities(
    rows: Sequence[LabelRow], labels: Sequence[ReadLabel], findings: Findings
) -> None:
    if not rows or not labels:
        return
    path = rows[0].path
    grades = {label.level.grade for label in labels if label.level is not None}
    if grades == {Grade.NOT_RELEVANT}:
        findings.notice(
            path,
            None,
            f"not one of {len(labels):,} labels is relevant, so every metric will be zero or "
            "undefined; in some classic qrels the last column is 0 for the relevant pairs",
        )
    if len({row.query for row in rows}) > 1 and len({row.document for row in rows}) == 1:
        findings.notice(
            path,
            None,
            f"every row has the same document id, {shown(rows[0].document)}; in some classic qrels "
            "the document stands in the second column",
        )


def _level_counts(labels: Sequence[ReadLabel]) -> list[dict[str, object]]:
    counts: Counter[tuple[Scale, int]] = Counter()
    for label in labels:
        if label.level is not None:
            counts[label.scale, label.level.code] += 1
    return [
        {
            "code": code,
            "level": scale.level(code).name,
            "grade": scale.level(code).grade.value,
            "labels": count,
        }
        for (scale, code), count in sorted(
            counts.items(), key=lambda one: (one[0][0].name, one[0][1])
        )
    ]


def _store(
    tx: WriteTransaction,
    judged: Sequence[_Judged],
    resolved: LabelledItems,
    rubric: Rubric,
    snapshot_id: int,
) -> Counter[int]:
    """Append the judgments that aren't there yet; give how many, by item."""
    kept = [one for one in judged if resolved.holds(one.label.row.query, one.label.row.document)]
    if not kept:
        return Counter()
    rubric_id = rubric_key(
        tx, name=rubric.name, digest=rubric.digest, body=rubric.to_json(), scale=rubric.scale
    )
    items = resolved.keys(tx, snapshot_id, rubric_id)
    levels = {scale.digest: scale_key(tx, scale)[1] for scale in {one.label.scale for one in kept}}
    assessors = {
        (one.kind, one.assessor): assessor_key(tx, one.kind, one.assessor)
        for one in {(one.kind, one.assessor): one for one in kept}.values()
    }
    known = _known(tx, sorted(set(items.values())))
    rows: list[dict[str, Any]] = []
    for one in kept:
        row, level = one.label.row, one.label.level
        item = items[row.query, row.document]
        digest = _digest(one, rubric)
        assessor = assessors[one.kind, one.assessor]
        if (digest, item, assessor, one.sample) in known:
            continue
        rows.append(
            {
                "item_id": item,
                "assessor_id": assessor,
                "outcome": (Outcome.ABSTAINED if level is None else Outcome.JUDGED).value,
                "level_id": None if level is None else levels[one.label.scale.digest][level.code],
                "request_digest": digest,
                "sample": one.sample,
                "occasion": Occasion.FIRST.value,
                "judged_at": row.at,
                "revision_id": tx.revision_id,
            }
        )
    for start in range(0, len(rows), 5000):
        tx.connection.execute(sa.insert(_JUDGMENT), rows[start : start + 5000])
    return Counter(int(row["item_id"]) for row in rows)


def _known(tx: WriteTransaction, items: Sequence[int]) -> set[tuple[str, int, int, int]]:
    columns = [_JUDGMENT.c[name] for name in ("request_digest", "item_id", "assessor_id", "sample")]
    statement = sa.select(*columns).where(is_one_of(tx.connection, _JUDGMENT.c.item_id, items))
    return {(row[0], row[1], row[2], row[3]) for row in tx.connection.execute(statement)}


def _digest(one: _Judged, rubric: Rubric) -> str:
    """Identify an imported label, so that importing it again finds it."""
    row = one.label.row
    content = [
        "import",
        rubric.digest,
        one.label.scale.digest,
        None if one.label.level is None else one.label.level.code,
        None if row.at is None else row.at.isoformat(),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
