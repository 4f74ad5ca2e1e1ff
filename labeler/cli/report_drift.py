"""`labeler report drift`: whether a judge's labels moved."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project

if TYPE_CHECKING:
    from labeler.evaluation.agreement import Estimate
    from labeler.evaluation.drift import MarginalTest
    from labeler.reports.drift import DriftReport

__all__ = ["drift"]


def drift(
    first: str,
    second: str,
    /,
    *,
    pool: str | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell whether a judge drifted, by the items that both of two versions labelled.

    Use one frozen pool as the sentinel set and have it judged after every change. A large p shows
    nothing: the judge is called steady only when the interval of the shift lies inside the margin.
    A judge that drifted gets its labels as a new revision; nothing is rewritten.

    Parameters
    ----------
    first
        The judge before the change: its name, or NAME@ and the start of its digest.
    second
        The judge after it.
    pool
        The sentinel set; all items that both labelled by default.
    margin
        Within which the share of relevant labels counts as the same.
    alpha
        The error of each of the two one-sided tests.
    """
    from labeler.errors import UsageError
    from labeler.reports.drift import read_drift

    if not 0 < margin < 1 or not 0 < alpha < 0.5:  # noqa: PLR2004 - one-sided
        raise UsageError("--margin lies between 0 and 1, --alpha between 0 and 0.5")
    with open_project(db) as store, store.read() as connection, working("comparing labels"):
        report = read_drift(connection, first, second, pool=pool, margin=margin, alpha=alpha)
    if json:
        print_json(_as_json(report))
        return
    _print_report(report, alpha)
    for notice in report.notices:
        tell(f"note: {notice}")


def _print_report(report: DriftReport, alpha: float) -> None:
    shift = report.relevance
    interval = "none: too few queries"
    if shift.interval is not None:
        interval = f"{1 - 2 * alpha:.0%} [{shift.interval.low:.3f}, {shift.interval.high:.3f}]"
    print_facts(
        {
            "before": report.first,
            "after": report.second,
            "items": f"{report.frame}: {report.labelled:,} labelled by both, "
            f"of {report.queries:,} queries",
            "revision": str(report.revision),
            "became relevant": shift.raised,
            "ceased to be": shift.lowered,
            "shift of the share": shift.value,
            "interval over queries": interval,
            "margin": f"{shift.margin:g}",
            "McNemar, exact": f"p {shift.p:.4f}, items taken for independent",
            "kappa of relevant or not": _estimate(report.kappa),
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
            "kappa of levels": _estimate(moved.kappa),
            "quadratic kappa": _estimate(moved.quadratic_kappa),
        }
    )


def _test(found: MarginalTest) -> str:
    return f"chi-squared {found.statistic:.3f} with {found.degrees} degrees, p {found.p:.4f}"


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return f"undefined, {found.undefined}"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}, no interval: {found.no_interval}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _as_json(report: DriftReport) -> dict[str, object]:
    content = asdict(report)
    levels = content["levels"]
    if isinstance(levels, dict) and levels["bhapkar"]["statistic"] == float("inf"):
        levels["bhapkar"]["statistic"] = None
    return content
