"""`labeler calibrate`: fit the label model of a pool to people's votes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import Progress, print_facts, print_json, print_table, program
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_tables import estimate_of
from labeler.cli.sealing import open_shown, tell_seals

if TYPE_CHECKING:
    from labeler.calibration.calibrate import CalibrationReport

_WAYS = {
    "fixed": "the judges' own labels",
    "refit": "refitted across queries",
    "smoothed": "refitted, and smoothed inside each query",
}


def calibrate(pool: str, /, *, db: Database = None, json: JsonOutput = False) -> None:
    """Fit the probabilities of a pool's labels to people's votes.

    All raw signals of all judges go in, and the words of the passages; nothing that a retriever
    said does. Each fit is a version of its own, which nothing changes later. With fewer than 100
    labels of people, or with labels of one kind alone, it is called uncalibrated, and no audit is
    drawn from it. The labels in force are the judges' own until a refit does better on labels that
    it hasn't seen.

    Run it after a sitting, then `labeler route`. Votes may go on meanwhile.

    Parameters
    ----------
    pool
        The pool's name.
    """
    from labeler.calibration.calibrate import calibrate_pool

    with open_project(db) as store, Progress("fitting") as progress:
        report = calibrate_pool(store, pool, advance=progress.advance)
        seals = open_shown(store, "calibrate", pool=pool) if report.labels else []
    if json:
        print_json(asdict(report) | {"sealed": [seal.facts() for seal in seals]})
        return
    _print_fit(report)
    _print_judges(report)
    if not report.labels:
        print(f"next: {program()} route {pool}, then {program()} review --pool {pool}")
    else:
        print(f"next: {program()} route {pool}")
    tell_seals(seals)


def _print_fit(report: CalibrationReport) -> None:
    print_facts(
        {
            "pool": report.pool,
            "items": report.items,
            "labels of people": report.labels,
            "  of queries": report.queries,
            "  left out, disputed": report.disputed,
            "calibration": _calibration(report),
            "labels in force": _WAYS[report.way],
            "scores": f"{report.digest[:12]} ({'new' if report.is_new else 'as before'})",
        }
    )
    print()
    if report.losses:
        print_table(
            ["labels", "log loss at labels not seen", "in force"],
            [
                [_WAYS[way], loss, "yes" if way is report.way else "no"]
                for way, loss in report.losses.items()
            ],
        )
        print()


def _calibration(report: CalibrationReport) -> str:
    from labeler.records.scores import Calibration

    if report.calibration is Calibration.CALIBRATED:
        return report.calibration.value
    if report.labels >= report.needed:
        return (
            f"{report.calibration.value}: people's labels are all relevant, or none is; it takes "
            "labels of both kinds"
        )
    return f"{report.calibration.value}: it takes {report.needed - report.labels} more labels"


def _print_judges(report: CalibrationReport) -> None:
    print_table(
        ["judge", "labels not picked for doubt", "queries", "AUC", "kappa of relevant", "health"],
        [
            [
                one.judge,
                one.labels,
                one.queries,
                estimate_of(one.auc),
                estimate_of(one.kappa),
                one.health.value,
            ]
            for one in report.judges
        ],
    )
    print()
