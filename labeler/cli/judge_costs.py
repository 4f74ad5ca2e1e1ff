"""`labeler judge costs`: what requests to models took."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project

if TYPE_CHECKING:
    from labeler.reports.costs import Cost, CostReport, Spent

_CENT = 0.01


def costs(*, pool: str | None = None, db: Database = None, json: JsonOutput = False) -> None:
    """Tell what requests to models took: requests, tokens, money, time; by job and by model.

    Every HTTP request counts, those that failed and those whose answer couldn't be used too. The
    cost is that of the responses whose price is known; how many have an unknown cost stands beside
    it. docs/reports.md tells what the columns mean.

    Parameters
    ----------
    pool
        Jobs of this pool only.
    """
    from labeler.reports.costs import report_costs

    with open_project(db) as store, store.read() as connection, working("adding up"):
        report = report_costs(connection, pool)
    if json:
        print_json(asdict(report))
    elif not report.jobs:
        print("no requests to models yet" if pool is None else f"no requests to models for {pool}")
    else:
        _print(report)


def money(cost: Cost) -> str:
    """Write a cost in US dollars; what is unknown is never written as nothing."""
    if cost.known is None:
        return "unknown"
    small = 0 < cost.known < _CENT
    return (f"${cost.known:,.6f}" if small else f"${cost.known:,.4f}") + (
        f", and {cost.unknown:,} of unknown cost" if cost.unknown else ""
    )


def _print(report: CostReport) -> None:
    print_table(
        ["job", "pool", "judge", "digest", *_COLUMNS],
        [
            [
                job.kind,
                "-" if job.pool is None else job.pool,
                "-" if job.judge is None else job.judge,
                (job.digest or "-")[:12],
                *_cells(job.spent),
            ]
            for job in report.jobs
        ],
    )
    print()
    rows: list[list[object]] = [
        [one.model, ", ".join(one.answered_by) or "-", *_cells(one.spent)] for one in report.models
    ]
    if len(rows) > 1:
        rows.append(["total", "", *_cells(report.total)])
    print_table(["model", "answered by", *_COLUMNS], rows)
    failed_for = report.total.failed_for
    if failed_for:
        print()
        print_table(["failure", "requests"], failed_for.items())
    _tell(report.total)


_COLUMNS = (
    "requests",
    "answers",
    "asked again",
    "failures",
    "tokens in",
    "tokens out",
    "cost",
    "unknown cost",
    "median s",
    "p95 s",
    "first (UTC)",
    "last (UTC)",
)


def _cells(spent: Spent) -> list[object]:
    return [
        spent.requests,
        spent.answers,
        spent.reasked,
        sum(spent.failures.values()),
        spent.prompt_tokens,
        spent.completion_tokens,
        "unknown" if spent.cost.known is None else f"{spent.cost.known:,.6f}",
        spent.cost.unknown,
        _seconds(spent.median_ms),
        _seconds(spent.p95_ms),
        _minute(spent.first),
        _minute(spent.last),
    ]


def _seconds(milliseconds: float | None) -> object:
    return "-" if milliseconds is None else milliseconds / 1000


def _minute(at: str | None) -> str:
    return "-" if at is None else at[:16].replace("T", " ")


def _tell(total: Spent) -> None:
    if total.cost.unknown:
        tell(
            f"note: responses without a known cost: {total.cost.unknown:,}; more was spent than is "
            "shown"
        )
    if total.perhaps_billed:
        tell(
            "note: requests without a response that may have been charged all the same, as a "
            f"timeout may: {total.perhaps_billed:,}; no cost is known of them"
        )
    if total.without_tokens:
        tell(f"note: responses of which the provider told no tokens: {total.without_tokens:,}")
