"""`labeler report trend`: how metrics went over time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Page
from labeler.cli.report_showing import write_page

if TYPE_CHECKING:
    from labeler.reports.trend import LoggedPoint, Trend

__all__ = ["trend"]

_BAR = 20


def trend(
    *,
    run: str | None = None,
    metric: str | None = None,
    slice_: Annotated[str, Parameter(name="--slice")] = "all",
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Show how metrics went over time, from the log of evaluations.

    Every report on runs and every gate logs the numbers that it gives. Where the snapshot,
    the pool or whose labels count changed since the evaluation before, that is said: the two can't
    be compared.

    Parameters
    ----------
    run
        Only this run.
    metric
        Only this metric: how its name begins, such as P@5 or P@5[unknown=0][human].
    slice_
        The slice.
    """
    from labeler.reports.trend import read_trends, trend_page

    with open_project(db) as store, store.read() as connection:
        trends = read_trends(connection, run=run, metric=metric, slice_name=slice_)
    if html is not None:
        write_page(html, trend_page(trends))
    if json:
        print_json({"trends": [_as_json(one) for one in trends]})
        return
    for number, one in enumerate(trends):
        if number:
            print()
        print(f"{one.run}, {one.metric}, {one.slice}")
        print_table(
            ["at", "by", "command", "value", "interval", "chart", "queries", "labels", "changed"],
            [_row(point, one) for point in one.points],
        )


def _row(point: LoggedPoint, of: Trend) -> list[object]:
    interval = "-"
    if point.low is not None and point.high is not None:
        interval = f"[{point.low:.3f}, {point.high:.3f}]"
    return [
        f"{point.at:%Y-%m-%d %H:%M}",
        point.by,
        point.command,
        "undefined" if point.value is None else f"{point.value:.3f}",
        interval,
        _bar(point, of),
        point.queries,
        f"{point.labels} at {point.revision}",
        "; ".join(point.changed) or "-",
    ]


def _bar(point: LoggedPoint, of: Trend) -> str:
    """Draw a value as a bar as long as its share of the largest one."""
    most = max((one.value for one in of.points if one.value is not None), default=0.0)
    if point.value is None or most <= 0:
        return "-"
    return "#" * max(1, round(_BAR * max(point.value, 0.0) / most))


def _as_json(trend: Trend) -> dict[str, object]:
    points = [asdict(one) | {"at": one.at.isoformat(timespec="seconds")} for one in trend.points]
    return asdict(trend) | {"points": points}
