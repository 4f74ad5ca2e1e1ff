"""`labeler report coverage` and `sensitivity`: how far it is judged, and what hangs on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import Progress, print_facts, print_table, program, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Gain, Page, Runs, ScopeChoice
from labeler.cli.report_showing import log_and_open, show_report
from labeler.cli.report_tables import condition_facts, share

if TYPE_CHECKING:
    from labeler.reports.coverage import CoverageReport
    from labeler.reports.scenarios import ScenarioRow
    from labeler.reports.sensitivity import SensitivityReport

__all__ = ["coverage", "sensitivity"]

_SHOWN_REFUSALS = 10
_EVERYTHING = ScopeChoice()

MetricName = Annotated[str, Parameter(name="--metric", help="P@K, MRR, MRR@K, recall@K or nDCG@K.")]


def coverage(
    *,
    runs: Runs = (),
    scope: ScopeChoice = _EVERYTHING,
    k: Annotated[int, Parameter(name="--k", help="How many places count.")] = 10,
    metric: MetricName = "P@10",
    gain: Gain = "linear",
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell how far what runs found is judged, and which runs the pool favours.

    'only here' counts unknown places that no other run has. Leaving a run out takes away the labels
    of what it alone brought to the first K places, and measures all runs again: what then falls was
    held up by being pooled. Runs whose judged shares differ by more than 5 points can't be
    compared; the command that draws what is missing is printed.
    """
    from labeler.evaluation.metrics import parse_metric
    from labeler.reports.coverage import report_coverage
    from labeler.reports.logged_values import coverage_values
    from labeler.reports.report_log import plain
    from labeler.reports.run_pages import coverage_page

    wanted = parse_metric(metric)
    with open_project(db) as store, working("measuring runs"):
        with store.read() as connection:
            options = scope.options(runs, gain)
            report = report_coverage(connection, options, cutoff=k, metric=wanted)
        values = coverage_values(report)
        logged, seals = log_and_open(
            store, "report coverage", report.conditions, plain(report), values, scope
        )
    show_report(report, logged, seals, _print_coverage, json=json, html=html, page=coverage_page)


def _print_coverage(report: CoverageReport) -> None:
    print_facts(condition_facts(report.conditions))
    print()
    k = report.cutoff
    ranks = [f"{rank}" for rank in range(1, k + 1)]
    print_table(
        ["run", "role", f"judged@{k}", "unknown", "only here", "can't judge", "outside", *ranks],
        [
            [
                row.run,
                row.role,
                share(row.judged),
                row.unknown,
                row.candidate_only,
                row.abstained,
                row.outside,
                *("-" if one is None else f"{one:.2f}" for one in row.by_rank),
            ]
            for row in report.rows
        ],
    )
    print()
    print_table(
        ["left out", "labels gone", report.metric, "change", "tau of all runs", "largest fall"],
        [
            [
                row.run,
                row.labels,
                share(row.value),
                "undefined" if row.change is None else f"{row.change + 0.0:+.3f}",
                share(row.tau),
                row.largest_drop,
            ]
            for row in report.left_out
        ],
    )
    for refusal in report.refusals[:_SHOWN_REFUSALS]:
        print()
        print(
            f"not comparable: {refusal.first} and {refusal.second}, whose judged shares differ by "
            f"{100 * refusal.gap:.1f} points"
        )
        print(f"next: {_typed(refusal.command)}")
    if len(report.refusals) > _SHOWN_REFUSALS:
        print(f"and {len(report.refusals) - _SHOWN_REFUSALS:,} more pairs of runs; --json has all")


def sensitivity(
    first: str,
    second: str,
    /,
    *,
    scope: ScopeChoice = _EVERYTHING,
    metric: MetricName = "P@10",
    gain: Gain = "linear",
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell how much a comparison of two runs depends on what is unknown.

    Each row treats unknown items in one way, and says whether that is an assumption or an estimate.
    Below stands the least number of unknown items that would have to be relevant to put the other
    run ahead: exact for precision, MRR and recall, two bounds for nDCG.

    Parameters
    ----------
    first
        A run.
    second
        The run to compare it with.
    """
    from labeler.evaluation.metrics import parse_metric
    from labeler.reports.logged_values import sensitivity_values
    from labeler.reports.report_log import plain
    from labeler.reports.run_pages import sensitivity_page
    from labeler.reports.sensitivity import report_sensitivity

    wanted, named = parse_metric(metric), (first, second)
    with open_project(db) as store, Progress("comparing") as progress:
        with store.read() as connection:
            report = report_sensitivity(
                connection, scope.options(named, gain), metric=wanted, progress=progress.advance
            )
        values = sensitivity_values(report)
        logged, seals = log_and_open(
            store, "report sensitivity", report.conditions, plain(report), values, scope
        )
    show_report(
        report, logged, seals, _print_sensitivity, json=json, html=html, page=sensitivity_page
    )


def _print_sensitivity(report: SensitivityReport) -> None:
    print_facts(condition_facts(report.conditions) | {"metric": report.metric})
    print()
    print_table(
        ["scenario", "kind", report.leader, report.other, "difference", "interval", "rests on"],
        [
            [
                row.scenario,
                row.basis.value,
                _or_dash(row.leader),
                _or_dash(row.other),
                "-" if row.difference is None else f"{row.difference + 0.0:+.3f}",
                _limits(row),
                row.note,
            ]
            for row in report.rows
        ],
    )
    print()
    judged = [share(one) for one in report.coverage]
    print_facts(
        {
            "to reverse it": _flips(report),
            "how likely": _chance(report),
            "judged": f"{report.leader} {judged[0]}, {report.other} {judged[1]}",
            "verdict": f"{report.verdict.value}: {report.why}",
        }
    )
    if report.next is not None:
        print(f"next: {_typed(report.next)}")


def _flips(report: SensitivityReport) -> str:
    if report.least_flips is None:
        return "no labels of unknown items can"
    of = f"of {report.available:,} unknown items would have to be relevant"
    if report.least_flips == report.most_flips:
        return f"{report.least_flips:,} {of}"
    most = "no number of top gains" if report.most_flips is None else f"{report.most_flips:,}"
    return f"from {report.least_flips:,} to {most} {of}"


def _chance(report: SensitivityReport) -> str:
    if report.chance_of_flips is None:
        return f"not told: {report.no_chance}"
    return f"so many are relevant with probability {report.chance_of_flips:.3g}"


def _limits(row: ScenarioRow) -> str:
    if row.low is None or row.high is None:
        return "-"
    return f"[{row.low:+.3f}, {row.high:+.3f}]"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else share(value)


def _typed(command: str) -> str:
    return f"{program()} {command.removeprefix('labeler ')}"
