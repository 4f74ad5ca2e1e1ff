"""`labeler report drift`: whether a judge's labels moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Page
from labeler.cli.report_showing import show_report
from labeler.cli.report_tables import estimate_of
from labeler.cli.sealing import open_shown

if TYPE_CHECKING:
    from labeler.evaluation.drift import MarginalTest
    from labeler.reports.drift import DriftReport

__all__ = ["drift"]


def drift(
    first: str,
    second: str | None = None,
    /,
    *,
    occasions: Annotated[
        tuple[int, int] | None,
        Parameter(help="With one judge: which two; its first and its latest by default."),
    ] = None,
    pool: str | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell whether a judge drifted, by the items that it labelled before and after.

    Use one frozen pool as the sentinel set. Have it judged after every change of the judge, and
    name both versions; or judged again by the same judge, `judge run POOL --occasion 2`, and name
    the one, since a provider may change a model under its name. A large p shows nothing: the judge
    is called steady only when the interval of the shift lies inside the margin. A judge that
    drifted gets its labels as a new revision; nothing is rewritten.

    Parameters
    ----------
    first
        The judge before the change: its name, or NAME@ and the start of its digest.
    second
        The judge after it; without one, occasions of the first are compared.
    pool
        The sentinel set; all items that were labelled both times by default.
    margin
        Within which the share of relevant labels counts as the same.
    alpha
        The error of each of the two one-sided tests.
    """
    from labeler.errors import UsageError
    from labeler.reports.drift import read_drift
    from labeler.reports.label_pages import drift_page
    from labeler.reports.report_log import log_report, plain

    if not 0 < margin < 1 or not 0 < alpha < 0.5:  # noqa: PLR2004 - one-sided
        raise UsageError("--margin lies between 0 and 1, --alpha between 0 and 0.5")
    with open_project(db) as store, working("comparing labels"):
        with store.read() as connection:
            report = read_drift(
                connection,
                first,
                second,
                occasions=occasions,
                pool=pool,
                margin=margin,
                alpha=alpha,
            )
        logged = log_report(
            store,
            "report drift",
            {"pool": report.pool, "labels": "of judges", "revision": report.revision},
            result=plain(report),
            subjects=report.judges,
            pool=pool,
        )
        seals = open_shown(store, "report drift", pool=pool)

    def print_it(report: DriftReport) -> None:
        _print_report(report, alpha)

    show_report(report, logged, seals, print_it, json=json, html=html, page=drift_page)


def _print_report(report: DriftReport, alpha: float) -> None:
    shift = report.relevance
    interval = "none: too few queries"
    if shift.interval is not None:
        interval = f"{1 - 2 * alpha:.0%} [{shift.interval.low:.3f}, {shift.interval.high:.3f}]"
    print_facts(
        {
            "before": report.first,
            "after": report.second,
            "items": f"{report.frame}: {report.labelled:,} labelled both times, "
            f"of {report.queries:,} queries",
            "revision": str(report.revision),
            "became relevant": shift.raised,
            "ceased to be": shift.lowered,
            "shift of the share": shift.value,
            "interval over queries": interval,
            "margin": f"{shift.margin:g}",
            "McNemar, exact": f"p {shift.p:.4f}, items taken for independent",
            "kappa of relevant or not": estimate_of(report.kappa, explained=True),
            "verdict": shift.verdict.value,
        }
    )
    moved = report.levels
    if moved is None:
        print(f"levels not compared: {report.levels_not_compared}")
        return
    print()
    rows = zip(moved.levels, moved.before, moved.after, strict=True)
    print_table(["level", "before", "after"], [list(row) for row in rows])
    print_facts(
        {
            "Stuart-Maxwell": _test(moved.stuart_maxwell),
            "Bhapkar": _test(moved.bhapkar),
            "kappa of levels": estimate_of(moved.kappa, explained=True),
            "quadratic kappa": estimate_of(moved.quadratic_kappa, explained=True),
        }
    )


def _test(found: MarginalTest) -> str:
    return f"chi-squared {found.statistic:.3f} with {found.degrees} degrees, p {found.p:.4f}"
