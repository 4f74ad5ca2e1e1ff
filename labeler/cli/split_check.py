"""`labeler split check`, `show`, `openings` and `develop`: what holds, and who looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import Progress, print_facts, print_json, print_table, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.split_output import Embeddings, SplitName, embedder_wanted

if TYPE_CHECKING:
    from labeler.splits.check import CheckReport
    from labeler.splits.check_records import Crossing

__all__ = ["check", "develop", "openings", "show"]

_SHOWN = 10


def check(
    *,
    split: SplitName = None,
    embeddings: Embeddings = None,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Prove that nothing crosses from one part to another; exit code 8 when something does.

    A second way, which shares no code with grouping: records by SQL, digests and the manifest's
    root told anew, texts compared anew. It lists verbatim runs of 8 words, near duplicates and
    semantic neighbours between parts by ids and scores, never by text. docs/splits.md describes
    the JSON.
    """
    from labeler.errors import ExitCode
    from labeler.sealing.split_in_force import find_split
    from labeler.splits.check import check_split

    with open_project(db) as store, store.read() as connection, Progress("checking") as progress:
        report = check_split(
            connection,
            find_split(connection, name=split),
            embedder_wanted(store, embeddings, progress),
            progress.begin,
        )
    if json:
        print_json(_report_facts(report))
    else:
        _print_report(report)
    return ExitCode.DONE if report.holds else ExitCode.LEAKAGE


def show(*, split: SplitName = None, db: Database = None, json: JsonOutput = False) -> None:
    """Show a frozen split: its parts, its manifest, what came later, who opened it."""
    from labeler.sealing.openings import development_queries, read_openings
    from labeler.sealing.split_in_force import find_split, read_membership

    with open_project(db) as store, store.read() as connection:
        found = find_split(connection, name=split)
        membership = read_membership(connection, found)
        opened = read_openings(connection, found.id)
        tuned = development_queries(connection) & membership.queries.keys()
    facts: dict[str, object] = {
        "split": found.name,
        "snapshot": found.snapshot,
        "seed": found.seed,
        "root digest": found.root_digest,
        "revision": str(found.revision),
    }
    for part in ("train", "dev", "test"):
        documents = sum(one.part == part for one in membership.documents.values())
        queries = sum(one.part == part for one in membership.queries.values())
        facts[part] = f"{documents:,} documents, {queries:,} queries"
    away = len(membership.quarantined_documents) + len(membership.quarantined_queries)
    facts |= {
        "quarantined": away,
        "openings": len(opened),
        "development queries": len(tuned),
        "topic leakage": "measured" if found.topic_measured else "unmeasured",
    }
    if json:
        print_json({**facts, "scheme": dict(found.scheme)})
        return
    print_facts(facts)


def openings(*, split: SplitName = None, db: Database = None, json: JsonOutput = False) -> None:
    """List who looked at sealed results: when, through what, with which runs."""
    from labeler.sealing.openings import read_openings
    from labeler.sealing.split_in_force import find_split

    with open_project(db) as store, store.read() as connection:
        found = read_openings(connection, find_split(connection, name=split).id)
    if json:
        print_json(
            {
                "openings": [
                    {"split": one.split, **one.facts(), "reason": one.reason} for one in found
                ]
            }
        )
        return
    if not found:
        print("nobody has looked at sealed results")
        return
    print_table(
        ["no.", "at", "by", "through", "queries", "runs", "for", "revision", "labels as of"],
        [
            [
                one.number,
                f"{one.at:%Y-%m-%d %H:%M}",
                one.by,
                one.through,
                len(one.queries),
                ", ".join(one.runs) or "-",
                one.purpose.value + (f": {one.reason}" if one.reason else ""),
                str(one.revision),
                str(one.labels_revision),
            ]
            for one in found
        ],
    )


def develop(
    queries: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")],
    /,
    *,
    why: str,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Say that the labels of sealed queries were opened during tuning: they are development data.

    Their part stays as it was frozen; from now on they count as dev, and reports say so.

    Parameters
    ----------
    queries
        The queries' ids.
    why
        What they were used for.
    """
    from labeler.errors import NotFoundError, UsageError
    from labeler.records import table
    from labeler.records.queries import Query
    from labeler.records.splits import OpeningPurpose
    from labeler.sealing.openings import open_sealed
    from labeler.store.bulk import find_ids

    if not why.strip():
        raise UsageError("tell with --why what they were used for")
    with open_project(db) as store:
        with store.read() as connection:
            keys = find_ids(connection, table(Query), sorted(set(queries)))
        if missing := sorted(set(queries) - set(keys)):
            raise NotFoundError(f"there is no query '{missing[0]}'")
        seals = open_sealed(
            store,
            through="split develop",
            queries=list(keys.values()),
            purpose=OpeningPurpose.TUNING,
            reason=why.strip(),
        )
    if json:
        print_json({"seals": [seal.facts() for seal in seals]})
        return
    if not seals:
        print("none of them is sealed: nothing changed")
    for seal in seals:
        for line in seal.lines():
            print(line)


def _report_facts(report: CheckReport) -> dict[str, object]:
    return {
        "schema": "labeler-split-check-1",
        "holds": report.holds,
        "split": report.split.name,
        "snapshot": report.split.snapshot,
        "root_digest": report.split.root_digest,
        "parts": {part: dict(counts) for part, counts in report.parts.items()},
        "rules": [
            {
                "rule": rule.name,
                "holds": not rule.broken,
                "checked": rule.checked,
                "broken": rule.broken,
                "excused": rule.excused,
                "findings": [_crossing_facts(one) for one in rule.findings],
            }
            for rule in report.rules
        ],
        "listed": {
            listing.name: {
                "total": listing.total,
                "pairs": [_crossing_facts(one) for one in listing.findings],
            }
            for listing in report.listings
        },
        "unplaced": report.unplaced,
        "unmeasured": list(report.unmeasured),
    }


def _crossing_facts(one: Crossing) -> dict[str, object]:
    return {
        "left": one.left,
        "right": one.right,
        "left_part": one.left_part,
        "right_part": one.right_part,
        "cause": one.cause,
        "score": one.score,
    }


def _print_report(report: CheckReport) -> None:
    print_table(
        ["part", "documents", "queries"],
        [[part, one["documents"], one["queries"]] for part, one in report.parts.items()],
    )
    print()
    print_table(
        ["rule", "holds", "checked", "broken", "settled by people"],
        [
            [one.name, "no" if one.broken else "yes", one.checked, one.broken, one.excused]
            for one in report.rules
        ],
    )
    print()
    print_table(
        ["listed between parts", "pairs", "strongest"],
        [
            [one.name, one.total, _strongest(one.findings[0]) if one.findings else "-"]
            for one in report.listings
        ],
    )
    for rule in report.rules:
        for found in rule.findings[:_SHOWN]:
            tell(f"{rule.name}: {_strongest(found)}")
        if rule.broken > _SHOWN:
            tell(f"{rule.name}: {rule.broken - _SHOWN:,} more; --json lists them")
    if report.unplaced:
        tell(
            f"note: {report.unplaced:,} documents or queries have no part; "
            "`labeler split extend` places what came later"
        )
    for sentence in report.unmeasured:
        tell(f"note: {sentence}")
    print()
    print_facts(
        {
            "split": report.split.name,
            "root digest": report.split.root_digest,
            "nothing crosses": "yes" if report.holds else "NO",
        }
    )


def _strongest(one: Crossing) -> str:
    score = "" if one.score is None else f" {one.score:g}"
    return f"{one.left} ({one.left_part}) ~ {one.right} ({one.right_part}): {one.cause}{score}"
