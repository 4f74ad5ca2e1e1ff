"""`labeler report trend`: how metrics went over time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import Page
from labeler.cli.report_showing import write_page
from labeler.cli.sealing import open_shown, tell_seals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labeler.reports.trend import LoggedPoint, Trend
    from labeler.sealing.openings import Seal
    from labeler.store.database import Store

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

    Every report on runs and every gate logs the numbers that it gives. Where the snapshot, the
    pool, the rubric or whose labels count changed since the one before, that is said: the two can't
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

    with open_project(db) as store:
        with store.read() as connection:
            trends = read_trends(connection, run=run, metric=metric, slice_name=slice_)
        seals = _opened(store, trends)
    if html is not None:
        write_page(html, trend_page(trends, [line for seal in seals for line in seal.lines()]))
    if json:
        sealed = [seal.facts() for seal in seals]
        print_json({"trends": [_as_json(one) for one in trends], "sealed": sealed})
        return
    for number, one in enumerate(trends):
        if number:
            print()
        print(f"{one.run}, {one.metric}, {one.slice}")
        print_table(
            ["at", "by", "command", "value", "interval", "chart", "queries", "labels", "changed"],
            [_row(point, one) for point in one.points],
        )
    tell_seals(seals)


def _opened(store: Store, trends: Sequence[Trend]) -> list[Seal]:
    """Record a look at what was measured; a grid's points are of development queries alone."""
    shown = {
        (one.run, point.pool)
        for one in trends
        for point in one.points
        if point.command != "report grid"
    }
    if not shown:
        return []
    pools = {pool for _, pool in shown}
    # Of several pools, or of none, every query that was asked can be among those measured.
    pool = next(iter(pools)) if len(pools) == 1 else "-"
    runs = sorted({run for run, _ in shown})
    return open_shown(store, "report trend", pool=None if pool == "-" else pool, runs=runs)


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
