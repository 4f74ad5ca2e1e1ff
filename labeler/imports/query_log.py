"""Logs of what users asked: personal data replaced first, then near duplicates taken together."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from labeler.formats.findings import Findings
from labeler.imports.log_rows import LogRow, read_log_rows
from labeler.imports.near_queries import group_queries, normalised
from labeler.imports.queries import store_queries
from labeler.imports.query_rows import QueryRow
from labeler.imports.report import ImportReport, settle
from labeler.records import table
from labeler.records.queries import Origin, Query
from labeler.records.query_log import LoggedQuery, QueryLog
from labeler.store.bulk import find_ids, insert_rows
from labeler.store.database import Store, WriteTransaction

__all__ = ["LogOptions", "group_rows", "import_query_log"]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user says about a log beside its files."""

    domain: str | None = None
    language: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class LoggedGroup:
    """A query of a log with its near duplicates.

    Attributes:
        row: The query: the text that was asked most, its weight being how often it was asked.
        asked: Rows, or the sum of what they count.
        variants: Distinct texts, signs and case counted.
        conversations: Distinct conversations.
        click_known: How often it is known whether there was a click.
        clicked: How often there was one.
        score_known: How often a score is stated.
        mean_score: Their mean, or None.
        first_at: When it was asked first, or None.
        last_at: When it was asked last, or None.
    """

    row: QueryRow
    asked: int
    variants: int
    conversations: int
    click_known: int
    clicked: int
    score_known: int
    mean_score: float | None
    first_at: datetime | None
    last_at: datetime | None


def import_query_log(store: Store, paths: Sequence[Path], options: LogOptions) -> ImportReport:
    """Read logs, replace personal data that has a form, group near duplicates, and store the rest.

    Nothing of a row but its query, its domain and language, when it was asked, and counts is
    stored; conversations are stored as digests that can't be led back to their ids.

    Raises:
        InputError: When a file holds faults.
    """
    findings = Findings()
    replaced: Counter[str] = Counter()
    rows = read_log_rows(paths, options.fields, findings, replaced)
    kept = [row for row in rows if _says_something(row.text)]
    if not rows and not findings.faults:
        findings.fault(paths[0], None, "no queries")
    left_out = settle(findings, lenient=options.lenient, kept=len(kept))
    groups = group_rows(kept, domain=options.domain, language=options.language)
    with store.write("import queries --from-log") as tx:
        added = _store(tx, _name(paths), groups, len(rows), replaced)
    findings.notice(
        paths[0],
        None,
        "personal data is found by its form alone: names, addresses and the like are not found; "
        "read what was imported before you show it to anybody",
    )
    asked = sum(group.asked for group in groups)
    return ImportReport(
        "queries of a log",
        {
            "rows": len(rows),
            "asked": asked,
            "queries": len(groups),
            "distinct texts": len({row.text for row in kept}),
            "asked once": sum(group.asked == 1 for group in groups),
            "domains": len({group.row.domain for group in groups if group.row.domain}),
            "clicks known": sum(group.click_known for group in groups),
            "no click where known": sum(
                group.click_known > 0 and group.clicked == 0 for group in groups
            ),
            **{f"replaced: {kind}": count for kind, count in sorted(replaced.items())},
            "nothing but personal data": len(rows) - len(kept),
            "left out": left_out,
            "added": added,
        },
        {},
        tuple(findings.notices),
        tx.made_revision,
    )


def _says_something(text: str) -> bool:
    return any(not word.startswith("[") for word in normalised(text).split())


def group_rows(
    rows: Sequence[LogRow], *, domain: str | None = None, language: str | None = None
) -> list[LoggedGroup]:
    """Take rows of near duplicates together, the most asked first.

    Args:
        rows: Rows without personal data.
        domain: The domain of rows that name none.
        language: The language of rows that name none.
    """
    asked: Counter[str] = Counter()
    for row in rows:
        asked[normalised(row.text)] += row.count
    stands = group_queries(asked)
    by_group: dict[str, list[LogRow]] = defaultdict(list)
    for row in rows:
        by_group[stands[normalised(row.text)]].append(row)
    groups = [_group(name, members, domain, language) for name, members in by_group.items()]
    return sorted(groups, key=lambda group: (-group.asked, group.row.key))


def _group(
    name: str, rows: Sequence[LogRow], domain: str | None, language: str | None
) -> LoggedGroup:
    texts: Counter[str] = Counter()
    for row in rows:
        if normalised(row.text) == name:
            texts[row.text] += row.count
    asked = sum(row.count for row in rows)
    conversations = {row.conversation for row in rows if row.conversation}
    # Only what was asked in one conversation belongs to it: a question that everybody asks would
    # make one group of all conversations.
    single = len(conversations) == 1 and all(row.conversation for row in rows)
    times = [row.at for row in rows if row.at is not None]
    scored = [(row.score, row.count) for row in rows if row.score is not None]
    score_known = sum(count for _, count in scored)
    score_sum = math.fsum(score * count for score, count in scored)
    return LoggedGroup(
        row=QueryRow(
            key=f"log-{hashlib.sha256(name.encode()).hexdigest()[:12]}",
            text=min(texts, key=lambda text: (-texts[text], text)),
            domain=_most(row.domain for row in rows) or domain,
            language=_most(row.language for row in rows) or language,
            weight=float(asked),
            origin=Origin.HISTORICAL,
            group_keys={"conversation": next(iter(conversations))} if single else {},
        ),
        asked=asked,
        variants=len({row.text for row in rows}),
        conversations=len(conversations),
        click_known=sum(row.count for row in rows if row.clicked is not None),
        clicked=sum(row.clicked or 0 for row in rows),
        score_known=score_known,
        mean_score=score_sum / score_known if score_known else None,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
    )


def _most(values: Iterable[str | None]) -> str | None:
    counts = Counter(value for value in values if value)
    return min(counts, key=lambda value: (-counts[value], value)) if counts else None


def _name(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{paths[0].name}{more}"


def _store(
    tx: WriteTransaction,
    name: str,
    groups: Sequence[LoggedGroup],
    rows: int,
    replaced: Mapping[str, int],
) -> int:
    """Append a log and the queries that are new; give how many of these there are."""
    digest = hashlib.sha256(
        "\n".join(
            json.dumps([group.row.digest, *_counts(group)], default=_utc) for group in groups
        ).encode()
    ).hexdigest()
    log = table(QueryLog)
    known = sa.select(log.c.id).where(log.c.digest == digest)
    if tx.connection.execute(known).first() is not None:
        return 0
    queries = table(Query)
    there = find_ids(tx.connection, queries, [group.row.key for group in groups])
    new = [group.row for group in groups if group.row.key not in there]
    added, _ = store_queries(tx, new, update=False, path=name)
    keys = find_ids(tx.connection, queries, [group.row.key for group in groups])
    statement = sa.insert(log).values(
        name=name,
        digest=digest,
        rows=rows,
        replaced=json.dumps(dict(replaced), sort_keys=True),
        revision_id=tx.revision_id,
    )
    log_id = int(tx.connection.execute(statement.returning(log.c.id)).scalar_one())
    columns = ["log_id", "query_id", "asked", "variants", "conversations", "click_known"]
    columns += ["clicked", "score_known", "mean_score", "first_at", "last_at"]
    insert_rows(
        tx.connection,
        table(LoggedQuery),
        columns,
        [
            (
                log_id,
                keys[group.row.key],
                *_counts(group)[:-2],
                _stored(tx, group.first_at),
                _stored(tx, group.last_at),
            )
            for group in groups
        ],
    )
    return added


def _counts(group: LoggedGroup) -> tuple[object, ...]:
    return (
        group.asked,
        group.variants,
        group.conversations,
        group.click_known,
        group.clicked,
        group.score_known,
        group.mean_score,
        group.first_at,
        group.last_at,
    )


def _utc(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value)} is no time")
    return value.astimezone(UTC).isoformat()


def _stored(tx: WriteTransaction, value: datetime | None) -> object:
    """Give a time as the driver takes it, past SQLAlchemy's types."""
    if value is None:
        return None
    utc = value.astimezone(UTC)
    if tx.connection.dialect.name != "sqlite":
        return utc
    return utc.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
