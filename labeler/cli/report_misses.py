"""`labeler report misses`: known relevant evidence that a run missed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Page, ScopeChoice
from labeler.cli.report_showing import show_report
from labeler.cli.report_tables import condition_facts

if TYPE_CHECKING:
    from labeler.reports.misses import MissReport
    from labeler.store.database import Store

__all__ = ["misses"]

_SHOWN = 40
_EVERYTHING = ScopeChoice()

Ruling = Annotated[
    tuple[str, str, str] | None,
    Parameter(
        name="--set",
        help="QUERY EVIDENCE CLASS: say why it was missed; the latest word counts, and none is "
        "lost.",
    ),
]


def misses(
    run: str,
    /,
    *,
    k: int = 20,
    scope: ScopeChoice = _EVERYTHING,
    set_: Ruling = None,
    note: Annotated[str, Parameter(help="With --set: the reason.")] = "",
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """List known relevant evidence that a run doesn't have in its top k, by failure class.

    What can be told from what is stored is told: not in the index, cut off by rank, taken out by a
    metadata filter, an older or newer version in its place, the passage beside it in its place, no
    word in common with the query, or confused although the words are the same. Else it is
    undetermined until a person says. Unknown results are a list of their own.

    Parameters
    ----------
    run
        The run's name.
    k
        How many places count.
    set_
        See --set.
    """
    from labeler.reports.logged_values import miss_values
    from labeler.reports.misses import read_misses
    from labeler.reports.report_log import log_report, plain
    from labeler.reports.run_pages import misses_page
    from labeler.sealing.openings import open_sealed

    with open_project(db) as store, working("looking for misses"):
        if set_ is not None:
            _rule(store, run, set_, note)
        with store.read() as connection:
            report, looked_at = read_misses(connection, scope.options((run,)), cutoff=k)
        queries = looked_at.evaluated.queries.tolist()
        seals = open_sealed(
            store, through="report misses", queries=queries, runs=[run], as_of=scope.as_of
        )
        logged = log_report(
            store,
            "report misses",
            plain(report.conditions),
            result={
                "known_relevant": report.known_relevant,
                "found": report.found,
                "by_class": dict(report.by_class),
                "unknown": len(report.unknown),
                "rules": report.rules,
            },
            values=miss_values(report),
            pool=scope.pool,
            as_of=scope.as_of,
        )
    show_report(report, logged, seals, _print_report, json=json, html=html, page=misses_page)


def _rule(store: Store, run: str, words: tuple[str, str, str], note: str) -> None:
    from labeler.errors import UsageError
    from labeler.records.evaluations import FailureClass
    from labeler.reports.misses import rule_on_miss

    query, evidence, named = words
    known = [one.value for one in FailureClass]
    if named not in known:
        raise UsageError(f"no failure class is called '{named}'", hint=f"known: {', '.join(known)}")
    failure = FailureClass(named)
    rule_on_miss(store, run=run, query=query, evidence=evidence, failure=failure, note=note)


def _print_report(report: MissReport) -> None:
    print_facts(
        {"run": report.run}
        | condition_facts(report.conditions)
        | {
            "known relevant": report.known_relevant,
            f"in the top {report.cutoff}": report.found,
            "missed": len(report.misses),
            **{f"  {name}": count for name, count in report.by_class.items()},
            f"unknown in the top {report.cutoff}": len(report.unknown),
        }
    )
    if report.misses:
        print()
        print_table(
            ["query", "evidence", "rank", "why", "by", "note"],
            [
                [
                    miss.query,
                    miss.evidence,
                    "-" if miss.rank is None else miss.rank,
                    miss.failure.value,
                    miss.ruled_by or "rule",
                    miss.note,
                ]
                for miss in report.misses
            ],
        )
    if report.unknown:
        print("\nunknown, neither hit nor miss:")
        shown = report.unknown[:_SHOWN]
        print_table(
            ["query", "evidence", "rank"],
            [[one.query, one.evidence or "not in the project", one.rank] for one in shown],
        )
        if len(report.unknown) > _SHOWN:
            print(f"and {len(report.unknown) - _SHOWN:,} more; --json has all of them")
