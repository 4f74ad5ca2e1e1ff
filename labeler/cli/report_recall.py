"""`labeler report recall`: how good runs are, with what each number rests on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Gain, Metrics, Page, Runs, ScopeChoice, metrics_of
from labeler.cli.report_showing import log_and_open, show_report
from labeler.cli.report_tables import (
    condition_facts,
    interval_of,
    print_needs,
    print_serving,
    share,
    spread_of,
)

if TYPE_CHECKING:
    from labeler.reports.metric_rows import MetricRow
    from labeler.reports.recall import RecallReport

__all__ = ["recall"]

_EVERYTHING = ScopeChoice()


def recall(
    *,
    runs: Runs = (),
    scope: ScopeChoice = _EVERYTHING,
    metric: Metrics = (),
    gain: Gain = "linear",
    required_k: int = 10,
    domain_k: int = 5,
    slices: Annotated[bool, Parameter(negative="")] = False,
    per_query: Annotated[bool, Parameter(negative="")] = False,
    before: Path | None = None,
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Measure runs: P, MRR, recall, nDCG, latency, with bounds and what each rests on.

    Recall is found / all that is known to be relevant, as in trec_eval; P@K divides by K also when
    less was returned. What is undefined is called so, with the reason. docs/metrics.md defines
    every column; --json has all of it, and every slice.

    Parameters
    ----------
    required_k
        Among how many first places the evidence that an answer needs is looked for.
    domain_k
        Of how many first places the domain is looked at.
    slices
        Print every slice, too.
    per_query
        Print every query, too.
    before
        An earlier report (--json) to hold this one against. By default it is the latest logged one
        on one of these runs; a snapshot, pool, rubric or scale that changed is told at the top.
    """
    from labeler.reports.earlier import read_conditions
    from labeler.reports.logged_values import recall_values
    from labeler.reports.recall import report_recall
    from labeler.reports.report_log import plain
    from labeler.reports.run_pages import recall_page

    wanted = metrics_of(metric)
    earlier = None if before is None else read_conditions(before)
    with open_project(db) as store, working("measuring runs"):
        with store.read() as connection:
            report = report_recall(
                connection,
                scope.options(runs, gain),
                metrics=wanted,
                required_cutoff=required_k,
                domain_cutoff=domain_k,
                per_query=per_query,
            )
        slices_told = {"slices": [plain(one) for one in report.slices]}
        values = recall_values(report)
        logged, seals = log_and_open(
            store, "report recall", report.conditions, slices_told, values, scope, before=earlier
        )

    def print_it(report: RecallReport) -> None:
        _print_report(report, slices=slices)

    show_report(report, logged, seals, print_it, json=json, html=html, page=recall_page)


def _print_report(report: RecallReport, *, slices: bool) -> None:
    overall = report.slices[0]
    print_facts(
        {
            **condition_facts(report.conditions),
            "known relevant": spread_of(overall.known_relevant, "by query"),
            "unknown items": f"{overall.unknown:,} in the frame, of which people couldn't judge "
            f"{overall.abstained:,}",
            "interval": report.interval,
        }
    )
    print()
    _print_metrics([row for row in report.metrics if row.slice == overall.slice])
    print_needs([row for row in report.needs if row.slice == overall.slice])
    print_serving(report.serving)
    if slices:
        _print_slices(report)
    _print_queries(report)


def _print_metrics(rows: list[MetricRow]) -> None:
    print_table(
        ["run", "metric", "value", "interval", "at least", "at most", "judged", "queries"],
        [
            [
                row.run,
                row.metric,
                share(row.summary.macro.value),
                interval_of(row.summary.macro),
                share(row.summary.lower),
                share(row.summary.upper),
                share(row.judged_coverage),
                row.summary.macro.queries,
            ]
            for row in rows
        ],
    )
    print()
    print_table(
        [
            "run",
            "metric",
            "micro",
            "weighted",
            "judged only",
            "returned",
            "unknown",
            "only here",
            "can't judge",
            "undefined",
            "ceiling",
        ],
        [
            [
                row.run,
                row.metric,
                share(row.summary.micro),
                share(row.summary.weighted.value),
                share(row.summary.judged_only),
                "-" if row.returned is None else share(row.returned),
                row.unknown,
                row.candidate_only,
                row.abstained,
                row.summary.undefined,
                "-" if row.ceiling is None else share(row.ceiling),
            ]
            for row in rows
        ],
    )
    _print_reasons(rows)
    print()


def _print_reasons(rows: Iterable[MetricRow]) -> None:
    reasons: dict[str, list[str]] = {}
    for row in rows:
        mean = row.summary.macro
        if mean.reason is not None:
            reasons.setdefault(mean.reason, []).append(row.short)
        if row.summary.undefined and mean.value is not None:
            some = "left out of the mean where undefined: " + (row.undefined or "")
            reasons.setdefault(some.replace("any query", "a query"), []).append(row.short)
    for reason, names in reasons.items():
        print(f"{', '.join(dict.fromkeys(names))}: {reason}")


def _print_slices(report: RecallReport) -> None:
    facts = {one.slice: one for one in report.slices}
    rows = [row for row in report.metrics if row.slice != report.slices[0].slice]
    print()
    print_table(
        [
            "slice",
            "queries",
            "clusters",
            "known relevant",
            "run",
            "metric",
            "value",
            "interval",
            "at least",
            "at most",
            "judged",
        ],
        [
            [
                row.slice,
                facts[row.slice].queries,
                facts[row.slice].clusters,
                spread_of(facts[row.slice].known_relevant, ""),
                row.run,
                row.short,
                share(row.summary.macro.value),
                interval_of(row.summary.macro),
                share(row.summary.lower),
                share(row.summary.upper),
                share(row.judged_coverage),
            ]
            for row in rows
        ],
    )


def _print_queries(report: RecallReport) -> None:
    if not report.queries:
        return
    print()
    print_table(
        [
            "query",
            "run",
            "metric",
            "value",
            "at least",
            "at most",
            "judged only",
            "judged",
            "known relevant",
        ],
        [
            [
                row.query,
                row.run,
                row.metric,
                share(row.value),
                share(row.lower),
                share(row.upper),
                share(row.judged_only),
                share(row.judged_coverage),
                row.known_relevant,
            ]
            for row in report.queries
        ],
    )
