"""`labeler report compare`: runs against one of them, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, program, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Metrics, Page, Runs, ScopeChoice, metrics_of
from labeler.cli.report_showing import show_report
from labeler.cli.report_tables import condition_facts, share

if TYPE_CHECKING:
    from labeler.evaluation.posterior import Interval
    from labeler.reports.compared_runs import ComparedRuns, ComparisonReport

__all__ = ["compare"]

_HEADER = (
    "run less other",
    "metric",
    "slice",
    "run",
    "other",
    "difference",
    "95% cluster-t",
    "bootstrap",
    "adjusted p",
    "possible",
    "queries",
    "clusters",
    "finding",
)

_EVERYTHING = ScopeChoice()

Slices = Annotated[
    tuple[str, ...],
    Parameter(
        name="--slice",
        consume_multiple=True,
        negative="",
        help="Slices to compare on, such as domain:billing; all queries by default.",
    ),
]


def compare(
    *,
    runs: Runs = (),
    against: str | None = None,
    scope: ScopeChoice = _EVERYTHING,
    metric: Metrics = (),
    slice_: Slices = (),
    adjust: Literal["holm", "max-t"] = "holm",
    seed: int = 0,
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Compare runs query by query, all at one revision of the labels.

    Each run is compared with one of them: a candidate with production, with reranking with
    without, after with before. All comparisons that one command makes share one error. Where one
    run is judged farther than the other, or brings much that no pool holds, and the unknown labels
    could change the sign, the comparison is refused, with the command that draws the judgments.

    Runs of two snapshots are compared, too, each measured on its own; labels count on both where
    the text is the same. Leave --pool and --snapshot out then.

    Parameters
    ----------
    against
        The run that the others are compared with; the first named by default.
    slice_
        See --slice.
    adjust
        How comparisons share one error: Holm's procedure, or max-T over sign flips of clusters.
    seed
        Decides bootstraps and sign flips.
    """
    from labeler.reports.compared_runs import Adjustment, ComparisonOptions
    from labeler.reports.comparison import compare_runs
    from labeler.reports.comparison_page import comparison_page
    from labeler.reports.evaluated import ALL
    from labeler.reports.logged_values import comparison_values
    from labeler.reports.report_log import log_report, plain
    from labeler.sealing.openings import open_sealed

    options = ComparisonOptions(
        scope=scope.options(runs),
        against=against,
        metrics=metrics_of(metric),
        slices=tuple(dict.fromkeys(slice_)) or (ALL,),
        adjustment=Adjustment(adjust),
        seed=seed,
    )
    with open_project(db) as store, working("comparing runs"):
        with store.read() as connection:
            report, looked_at = compare_runs(connection, options)
        evaluated = looked_at.evaluated
        seals = open_sealed(
            store,
            through="report compare",
            queries=evaluated.queries.tolist(),
            runs=list(evaluated.runs),
            as_of=scope.as_of,
        )
        logged = log_report(
            store,
            "report compare",
            plain(report.conditions),
            result=plain(report),
            values=comparison_values(report),
            runs={name: run.key for name, run in evaluated.runs.items()},
            pool=scope.pool,
            as_of=scope.as_of,
        )
    show_report(report, logged, seals, _print_report, json=json, html=html, page=comparison_page)


def _print_report(report: ComparisonReport) -> None:
    if report.across is not None:
        for line in report.across.lines():
            print(line)
        print()
    print_facts(
        condition_facts(report.conditions)
        | {"comparisons": f"{report.declared} declared, sharing one error by {report.adjustment}"}
        | {
            f"{run} differs in": "; ".join(found) or "nothing that `import runs --config` told"
            for run, found in report.differences.items()
        }
    )
    print()
    print_table(
        _HEADER,
        [_row(one) for one in report.comparisons],
    )
    commands = dict.fromkeys(one.command for one in report.comparisons if one.command)
    if commands:
        print("\nwhat collects what is missing:")
        for command in commands:
            print(f"  {program()}{command.removeprefix('labeler')}")


def _row(one: ComparedRuns) -> list[object]:
    from labeler.reports.compared_runs import Finding

    found = one.found
    refused = one.finding is Finding.JUDGMENTS_FIRST
    known = [found.first, found.second, found.value]
    return [
        f"{one.run} - {one.against}",
        one.metric,
        one.slice,
        *("-" if refused else share(value) for value in known),
        "-" if refused else _interval(found.interval),
        "-" if refused else _interval(found.bootstrap),
        "-" if refused else share(one.adjusted_p),
        "-" if one.lowest is None else f"{one.lowest:.3f} to {one.highest or 0.0:.3f}",
        found.queries,
        found.clusters,
        one.finding.value,
    ]


def _interval(found: Interval | None) -> str:
    return "-" if found is None else f"[{found.low:.3f}, {found.high:.3f}]"
