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
from labeler.formats.findings import Findings
from labeler.formats.scale_file import scale_named
from labeler.imports.known import (
    check_queries,
    snapshot_meant,
    tell_no_corpus,
    unknown_queries_hint,
)
from labeler.imports.label_items import LabelledItems, resolve_items
from labeler.imports.label_notices import (
    tell_contradictions,
    tell_disputes,
    tell_oddities,
    tell_other_rubrics,
)
from labeler.imports.label_rows import LabelRow, read_labels
from labeler.imports.report import ImportReport, settle
from labeler.imports.scale_choice import ReadLabel, choose_scale, read_levels
from labeler.labels import Outcome, Scale
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.scales import AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import assessor_key, rubric_key, scale_key

__all__ = ["LabelOptions", "import_labels"]

_JUDGMENT = table(Judgment)
_UNREAD_LABELS = (
    "say what labels mean with --map, or which column holds them with --field label=NAME; "
    "--lenient leaves out odd rows, and with them all labels of a kind"
)


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
    before = len(findings.faults)
    labels = read_levels(rows, scale, findings)
    hint = _UNREAD_LABELS if len(findings.faults) > before else None
    tell_oddities(rows, labels, findings)
    if not labels and not findings.faults:
        findings.fault(paths[0], None, "no row holds a label" if rows else "no rows")
    with store.write(
        f"import labels ({len(paths)} files, {scale.describe() if scale else ''})"
    ) as tx:
        labels, unknown = _of_known_queries(tx, rows, labels, findings)
        snapshot_id, snapshot = snapshot_meant(tx, options.snapshot)
        rubric = options.rubric or default_rubric()
        items = resolve_items(tx, snapshot_id, _pairs(labels), findings)
        labels = [label for label in labels if label.row.pair in items.evidence]
        judged, repeats = _number_samples(labels, items.evidence, options, findings)
        left_out = settle(
            findings,
            lenient=options.lenient,
            kept=len(judged),
            hint=hint or unknown,
        )
        added, pairs = _store(tx, judged, items, rubric, snapshot_id)
        decided = settle_items(tx, added)
        tell_other_rubrics(tx.connection, snapshot_id, rubric, paths[0], findings)
    tell_disputes([pairs[item] for item in sorted(decided.disputed)], paths[0], findings)
    if tx.made_revision is not None:
        tell_no_corpus("labels", paths[0], snapshot, findings)
    abstained = sum(one.label.level is None for one in judged)
    return ImportReport(
        "labels",
        {
            "rows": len(rows),
            "pairs": len({one.label.row.pair for one in judged}),
            "judged": len(judged) - abstained,
            "abstained": abstained,
            "without a label": sum(row.value is None and not row.abstained for row in rows),
            "repeated": repeats,
            "no_text": items.without_text,
            "left out": left_out,
            "added": sum(added.values()),
            "settled": len(decided.settled),
            "settled as unjudgeable": len(decided.abstained),
            "disputed": len(decided.disputed),
        },
        {
            "snapshot": snapshot,
            "rubric": rubric.name,
            "scale": "; ".join(
                sorted({scale.describe() for scale in {one.label.scale for one in judged}})
            ),
            "scale chosen": how,
        },
        tuple(findings.notices),
        tx.made_revision,
        tuple(_level_counts([one.label for one in judged])),
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


def _pairs(labels: Sequence[ReadLabel]) -> dict[tuple[str, str], tuple[str, int | None]]:
    pairs: dict[tuple[str, str], tuple[str, int | None]] = {}
    for label in labels:
        pairs.setdefault(label.row.pair, (label.row.path, label.row.line))
    return pairs


def _number_samples(
    labels: Sequence[ReadLabel],
    evidence: Mapping[tuple[str, str], str],
    options: LabelOptions,
    findings: Findings,
) -> tuple[list[_Judged], int]:
    """Give every label its assessor and a number among equal ones on one evidence.

    A person who says the same twice said it once, also of two chunks that carry one evidence. A
    machine that was asked several times gave
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
        pair = (row.query, evidence[row.pair], assessor)
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
    tell_contradictions(said, findings)
    return judged, sum(len(lines) for lines in repeated.values())


def _of_known_queries(
    tx: WriteTransaction, rows: Sequence[LabelRow], labels: Sequence[ReadLabel], findings: Findings
) -> tuple[list[ReadLabel], str | None]:
    """Leave out the labels of queries that the project should know and doesn't.

    Returns:
        The other labels, and what to do where no query of the files is known.
    """
    counts = Counter(label.row.query for label in labels)
    places: dict[str, tuple[str, int | None]] = {}
    for row in rows:
        places.setdefault(row.query, (row.path, row.line))
    refused = check_queries(tx.connection, places, counts, findings)
    hint = unknown_queries_hint(tx.connection, places, refused)
    return [label for label in labels if label.row.query not in refused], hint


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
    kept: Sequence[_Judged],
    resolved: LabelledItems,
    rubric: Rubric,
    snapshot_id: int,
) -> tuple[Counter[int], dict[int, tuple[str, str]]]:
    """Append the judgments that aren't there yet; give how many by item, and each item's pair."""
    rubric_id = rubric_key(
        tx, name=rubric.name, digest=rubric.digest, body=rubric.to_json(), scale=rubric.scale
    )
    items = resolved.keys(tx, snapshot_id, rubric_id)
    scales = {one.label.scale for one in kept}
    levels = {scale: scale_key(tx, scale)[1] for scale in scales}
    # Digests are made once: for each label they would take half the time of an import.
    scale_digests, rubric_digest = {scale: scale.digest for scale in scales}, rubric.digest
    assessors = {
        (one.kind, one.assessor): assessor_key(tx, one.kind, one.assessor)
        for one in {(one.kind, one.assessor): one for one in kept}.values()
    }
    known = _known(tx, sorted(set(items.values())))
    rows: list[dict[str, Any]] = []
    for one in kept:
        row, level = one.label.row, one.label.level
        item = items[one.label.row.pair]
        digest = _digest(one, rubric_digest, scale_digests[one.label.scale])
        assessor = assessors[one.kind, one.assessor]
        if (digest, item, assessor, one.sample) in known:
            continue
        rows.append(
            {
                "item_id": item,
                "assessor_id": assessor,
                "outcome": (Outcome.ABSTAINED if level is None else Outcome.JUDGED).value,
                "level_id": None if level is None else levels[one.label.scale][level.code],
                "request_digest": digest,
                "sample": one.sample,
                "occasion": Occasion.FIRST.value,
                "judged_at": row.at,
                "revision_id": tx.revision_id,
            }
        )
    for start in range(0, len(rows), 5000):
        tx.connection.execute(sa.insert(_JUDGMENT), rows[start : start + 5000])
    return Counter(int(row["item_id"]) for row in rows), {
        items[one.label.row.pair]: one.label.row.pair for one in kept
    }


def _known(tx: WriteTransaction, items: Sequence[int]) -> set[tuple[str, int, int, int]]:
    columns = [_JUDGMENT.c[name] for name in ("request_digest", "item_id", "assessor_id", "sample")]
    statement = sa.select(*columns).where(is_one_of(tx.connection, _JUDGMENT.c.item_id, items))
    return {(row[0], row[1], row[2], row[3]) for row in tx.connection.execute(statement)}


def _digest(one: _Judged, rubric_digest: str, scale_digest: str) -> str:
    """Identify an imported label, so that importing it again finds it."""
    row = one.label.row
    content = [
        "import",
        rubric_digest,
        scale_digest,
        None if one.label.level is None else one.label.level.code,
        None if row.at is None else row.at.isoformat(),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
