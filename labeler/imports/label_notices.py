"""What is told about labels beside their counts: contradictions, disputes, what won't be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.rubric import Rubric
from labeler.formats.findings import Findings, shown
from labeler.imports.label_rows import LabelRow
from labeler.imports.scale_choice import ReadLabel
from labeler.labels import Grade
from labeler.records import table
from labeler.records.pools import Pool
from labeler.records.scales import RubricRecord

__all__ = ["tell_contradictions", "tell_disputes", "tell_oddities", "tell_other_rubrics"]

_TOLD_ONE_BY_ONE = 10


def tell_contradictions(
    said: Mapping[tuple[str, str, str], Mapping[object, LabelRow]], findings: Findings
) -> None:
    """Tell where one person gives one pair several labels and no time says which is the later.

    Args:
        said: By query, document and person, the first row with each code.
        findings: Takes the notices.
    """
    conflicts = [(pair, by_code) for pair, by_code in said.items() if len(by_code) > 1]
    for (query, document, assessor), by_code in conflicts[:_TOLD_ONE_BY_ONE]:
        rows = list(by_code.items())
        path = rows[0][1].path
        listed = ", ".join(f"{code}{_place(row, path)}" for code, row in rows)
        findings.notice(
            path,
            None,
            f"{shown(assessor)} gives query {shown(query)}, document {shown(document)} different "
            f"labels: {listed}; all are kept, and the pair is undecided",
        )
    if len(conflicts) > _TOLD_ONE_BY_ONE:
        path = next(iter(conflicts[0][1].values())).path
        more = len(conflicts) - _TOLD_ONE_BY_ONE
        findings.notice(path, None, f"{more:,} more such contradictions")


def _place(row: LabelRow, path: str) -> str:
    where = "" if row.path == path else f" of {row.path}"
    return f" on line {row.line}{where}" if row.line is not None else where


def tell_disputes(pairs: Sequence[tuple[str, str]], path: Path, findings: Findings) -> None:
    """Tell which pairs are undecided now, since the labels of people on them contradict."""
    if not pairs:
        return
    listed = ", ".join(
        f"query {shown(query)} document {shown(document)}"
        for query, document in pairs[:_TOLD_ONE_BY_ONE]
    )
    count = "1 pair is" if len(pairs) == 1 else f"{len(pairs):,} pairs are"
    more = len(pairs) - _TOLD_ONE_BY_ONE
    findings.notice(
        path,
        None,
        f"labels contradict each other, so {count} undecided: {listed}"
        f"{f', and {more:,} more' if more > 0 else ''}; `labeler route POOL` sends such pairs to "
        "people, `labeler correct judgment` withdraws a label",
    )


def tell_oddities(
    rows: Sequence[LabelRow], labels: Sequence[ReadLabel], findings: Findings
) -> None:
    """Tell of labels that look as if columns or codes were taken the wrong way round."""
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


def tell_other_rubrics(
    connection: Connection, snapshot_id: int, rubric: Rubric, path: Path, findings: Findings
) -> None:
    """Tell where labels stand under a rubric that no pool of the snapshot has: none sees them.

    Args:
        connection: A transaction's connection.
        snapshot_id: The snapshot that the labels stand on.
        rubric: What they were given under.
        path: The file that the notice names.
        findings: Takes the notice.
    """
    pool, record = table(Pool), table(RubricRecord)
    statement = (
        sa.select(pool.c.name, record.c.name, record.c.digest)
        .join(record, record.c.id == pool.c.rubric_id)
        .where(pool.c.snapshot_id == snapshot_id)
        .order_by(pool.c.id)
    )
    pools = connection.execute(statement).all()
    if not pools or any(digest == rubric.digest for _, _, digest in pools):
        return
    name, other, _ = pools[0]
    more = f" and {len(pools) - 1} more pools" if len(pools) > 1 else ""
    findings.notice(
        path,
        None,
        f"these labels stand under the rubric {shown(rubric.name)}, and no pool of this snapshot "
        f"does: reports on {shown(name)}{more} don't see them; if they were given under its "
        f"rubric, {shown(other)}, import them with --rubric and that file",
    )
