"""`labeler report misses`: known relevant evidence that a run missed, and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Labels, OrderRule, PoolName, Relevant, scope_of
from labeler.cli.report_tables import condition_facts

if TYPE_CHECKING:
    from labeler.reports.misses import MissReport
    from labeler.store.database import Store

__all__ = ["misses"]

_SHOWN = 40

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
    pool: PoolName = None,
    labels: Labels = "human",
    relevant: Relevant = "partially",
    order: OrderRule = None,
    set_: Ruling = None,
    note: str = "",
    as_of: int | None = None,
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

    Note:
        With --set: the reason.
    as_of
        The state after this revision; now by default.
    """
    from labeler.reports.misses import read_misses
    from labeler.sealing.openings import open_sealed

    options = scope_of(
        pool=pool,
        runs=(run,),
        labels=labels,
        relevant=relevant,
        order=order,
        as_of=as_of,
    )
    with open_project(db) as store, working("looking for misses"):
        if set_ is not None:
            _rule(store, run, set_, note)
        with store.read() as connection:
            report, scope = read_misses(connection, options, cutoff=k)
        queries = scope.evaluated.queries.tolist()
        seals = open_sealed(
            store, through="report misses", queries=queries, runs=[run], as_of=as_of
        )
    if json:
        print_json(asdict(report) | {"sealed": [seal.facts() for seal in seals]})
        return
    _print_report(report)
    for notice in (*report.notices, *(line for seal in seals for line in seal.lines())):
        tell(f"note: {notice}")


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
