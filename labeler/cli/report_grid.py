"""`labeler report grid`: a run at other candidate depths and thresholds, on development queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Labels, Metrics, Page, metrics_of
from labeler.cli.report_showing import show_report

if TYPE_CHECKING:
    from labeler.reports.grid import GridReport

__all__ = ["grid"]

Candidates = Annotated[
    tuple[int, ...],
    Parameter(
        name="--candidates",
        consume_multiple=True,
        negative="",
        help="How many candidates N to keep, 1 or more; all of them by default.",
    ),
]
Thresholds = Annotated[
    tuple[float, ...],
    Parameter(
        name="--threshold",
        consume_multiple=True,
        negative="",
        help="Least scores; every hit by default.",
    ),
]


def grid(
    run: str,
    /,
    *,
    pool: str,
    metric: Metrics = (),
    candidates: Candidates = (),
    threshold: Thresholds = (),
    first_stage: str | None = None,
    labels: Labels = "human",
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Measure a run at other settings: K by the metrics, N candidates, least scores.

    Only queries of the split's dev part count: what is chosen on sealed queries is tuned on them.
    Settings are compared by the eye here; the one that is chosen is then shown by `report compare`
    and `gate`.

    Parameters
    ----------
    run
        The run's name.
    pool
        The pool whose queries and labels count.
    first_stage
        The run whose first N are the candidates that this one ordered again, as a reranker does.
    """
    from labeler.assessment.label_states import LabelSource
    from labeler.errors import UsageError
    from labeler.reports.grid import GridOptions, read_grid
    from labeler.reports.logged_values import grid_values
    from labeler.reports.report_log import log_report, plain
    from labeler.reports.run_pages import grid_page

    if any(count < 1 for count in candidates):
        raise UsageError("--candidates is 1 or more")
    options = GridOptions(
        pool=pool,
        run=run,
        metrics=metrics_of(metric),
        candidates=tuple(dict.fromkeys(candidates)) or (None,),
        thresholds=tuple(dict.fromkeys(threshold)) or (None,),
        first_stage=first_stage,
        source=LabelSource(labels),
    )
    with open_project(db) as store, working("measuring settings"):
        with store.read() as connection:
            report = read_grid(connection, options)
        logged = log_report(
            store,
            "report grid",
            report.conditions,
            result=plain(report),
            values=grid_values(report),
            pool=pool,
        )
    show_report(report, logged, (), _print_report, json=json, html=html, page=grid_page)


def _print_report(report: GridReport) -> None:
    print_facts(
        {
            "run": report.run,
            "candidates of": report.first_stage,
            "queries": f"{report.queries:,}, the dev part of the split {report.split}",
            "labels": f"{report.labels} at revision {report.revision}",
        }
    )
    print()
    print_table(
        ["candidates", "threshold", "metric", "value", "possible", "judged", "returned"],
        [
            [
                "all" if one.candidates is None else one.candidates,
                "-" if one.threshold is None else f"{one.threshold:g}",
                one.metric,
                one.value,
                "-" if one.lowest is None else f"{one.lowest:.3f} to {one.highest or 0.0:.3f}",
                "-" if one.coverage is None else f"{one.coverage:.1%}",
                one.returned,
            ]
            for one in report.cells
        ],
    )
