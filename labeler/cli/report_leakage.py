"""`labeler report leakage`: what a split doesn't hold apart, and who has seen what is sealed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Labels
from labeler.cli.sealing import open_named, tell_seals
from labeler.cli.split_output import SplitName

if TYPE_CHECKING:
    from labeler.reports.leakage import LeakageReport

__all__ = ["leakage"]

_SHOWN = 20


def leakage(
    *,
    split: SplitName = None,
    labels: Labels = "human+auto",
    as_of: int | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Tell what crosses between the parts of a frozen split, and who saw what is sealed.

    Relevance makes no groups, so a passage that answers a sealed query and one of another part is
    told here, and so is a relevant passage whose document is in another part than its query. Exit
    code 8 when there is such a thing, or when a generator saw what is sealed. `labeler split
    check` proves the rest.

    Parameters
    ----------
    as_of
        The labels after this revision; now by default.
    """
    from labeler.assessment.label_states import LabelSource
    from labeler.errors import ExitCode
    from labeler.reports.leakage import report_leakage
    from labeler.sealing.split_in_force import find_split

    with open_project(db) as store, working("looking for leakage"):
        with store.read() as connection:
            found = find_split(connection, name=split)
            report = report_leakage(connection, found, source=LabelSource(labels), as_of=as_of)
        seals = open_named(store, "report leakage", report.named_queries)
    if json:
        print_json(_facts(report) | {"sealed": [seal.facts() for seal in seals]})
    else:
        _print_report(report)
        tell_seals(seals)
    return ExitCode.LEAKAGE if report.is_found else ExitCode.DONE


def _facts(report: LeakageReport) -> dict[str, object]:
    return {
        "schema": "labeler-leakage-1",
        "leakage_found": report.is_found,
        "split": report.split.name,
        "snapshot": report.split.snapshot,
        "root_digest": report.split.root_digest,
        "labels": report.labels,
        "topic_leakage": "measured" if report.topic_measured else "unmeasured",
        "parts": {part: dict(counts) for part, counts in report.parts.items()},
        "relevant_pairs": report.relevant,
        "shared_relevant_evidence": [asdict(one) for one in report.shared],
        "relevant_in_another_part": [asdict(one) for one in report.away],
        "edges_waiting_across": report.waiting,
        "exposed_documents": dict(report.exposures),
        "broken_exposure_records": report.broken_exposures,
        "openings": [one.facts() for one in report.openings],
        "development_queries": report.development,
        "quarantined": report.quarantined,
    }


def _print_report(report: LeakageReport) -> None:
    print_table(
        ["part", "documents", "queries", "of them synthetic", "documents a generator saw"],
        [
            [
                part,
                counts["documents"],
                counts["queries"],
                counts.get("synthetic_queries", 0),
                report.exposures[part],
            ]
            for part, counts in report.parts.items()
        ],
    )
    print()
    print_facts(
        {
            "split": report.split.name,
            "root digest": report.split.root_digest,
            "labels": report.labels,
            "topic leakage": "measured by provenance keys"
            if report.topic_measured
            else "unmeasured: no query had a provenance key",
            "relevant pairs": report.relevant,
            "evidence relevant in several parts": len(report.shared),
            "  one of them sealed": len(report.sealed_shared),
            "relevant, but in another part": len(report.away),
            "edges across that wait for a person": report.waiting,
            "exposure records that don't follow": report.broken_exposures,
            "openings of sealed results": len(report.openings),
            "development queries": report.development,
            "quarantined": report.quarantined,
            "leakage": "FOUND" if report.is_found else "none found",
        }
    )
    if report.sealed_shared:
        print()
        print_table(
            ["evidence relevant in several parts", "train", "dev", "test"],
            [
                [
                    one.evidence,
                    *(", ".join(one.queries.get(part, ())) or "-" for part in report.parts),
                ]
                for one in report.sealed_shared[:_SHOWN]
            ],
        )
    if report.away:
        print()
        print_table(
            ["query", "part", "evidence", "document", "its part"],
            [
                [one.query, one.part, one.evidence, one.document, one.document_part]
                for one in report.away[:_SHOWN]
            ],
        )
    more = max(0, len(report.sealed_shared) - _SHOWN) + max(0, len(report.away) - _SHOWN)
    if more:
        tell(f"{more:,} more rows; --json lists them")
    for one in report.openings[1:]:
        tell(f"note: opening {one.number} by {one.by} through {one.through} was not the first")
