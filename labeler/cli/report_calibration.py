"""`labeler report calibration`: whether probabilities of labels are what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_showing import show_report
from labeler.cli.sealing import open_shown

if TYPE_CHECKING:
    from labeler.evaluation.agreement import Estimate
    from labeler.reports.calibration import CalibrationFigures, ReliabilityRow

_WIDTH = 40

Labels = Annotated[
    Literal["drawn", "all"],
    Parameter(
        name="--labels",
        help="drawn: of items drawn at random, or of a pool labelled as a whole. "
        "all: every label; what the queue picked is no sample, so it speaks of these items alone.",
    ),
]


def calibration(
    pool: str,
    /,
    *,
    labels: Labels = "drawn",
    of: Literal["grade", "relevance"] = "grade",
    as_of: int | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell whether the probabilities of a pool's labels are what they say, by blind votes.

    The latest scores of `labeler calibrate` are held against people's labels that they weren't
    fitted on: a table and a plot of confidence and how often it was right, calibration errors, the
    Brier score, AUROC of "the label is wrong", and the share of wrong labels among the surest
    parts. Each has an interval over queries.

    Parameters
    ----------
    pool
        The pool's name.
    labels
        Which labels of people count.
    of
        Whether a label is a grade, or relevant or not.
    as_of
        The state after this revision; now by default.
    """
    from labeler.reports.calibration import LabelSource, Of, report_calibration
    from labeler.reports.report_log import log_report, plain

    with open_project(db) as store, working("comparing"):
        with store.read() as connection:
            figures = report_calibration(
                connection, pool, source=LabelSource(labels), of=Of(of), as_of=as_of
            )
        logged = log_report(
            store,
            "report calibration",
            {
                "pool": pool,
                "labels": labels,
                "scores": figures.scores[:12],
                "revision": figures.revision,
            },
            result=plain(figures),
            subjects=[pool],
            pool=pool,
            as_of=as_of,
        )
        seals = open_shown(store, "report calibration", pool=pool, as_of=as_of)
    show_report(figures, logged, seals, _print_report, json=json)


def _print_report(figures: CalibrationFigures) -> None:
    _print_conditions(figures)
    _print_reliability(figures)
    _print_figures(figures)


def _print_conditions(figures: CalibrationFigures) -> None:
    print_facts(
        {
            "items": figures.frame,
            "labels of people": figures.labels,
            "  of queries": figures.queries,
            "  not counted, of the queue": figures.labels_of_queue,
            "scores": f"{figures.scores[:12]}, {figures.calibration}",
            "a label is": "a grade" if figures.of == "grade" else "relevant or not",
            "interval": figures.interval,
            "revision": str(figures.revision),
        }
    )
    print()


def _print_reliability(figures: CalibrationFigures) -> None:
    print_table(
        ["confidence", "labels", "mean", "right", f"0{'right *, mean |':^{_WIDTH - 2}}1"],
        [
            [
                f"{row.low:.1f}-{row.high:.1f}",
                row.count,
                row.mean_confidence,
                _cell(row.right),
                _plot(row),
            ]
            for row in figures.reliability
        ],
    )
    print()


def _plot(row: ReliabilityRow) -> str:
    """Draw a line from 0 to 1: the share that was right, its interval, the mean confidence."""
    line = [" "] * _WIDTH

    def at(value: float) -> int:
        return min(max(round(value * (_WIDTH - 1)), 0), _WIDTH - 1)

    if row.right.low is not None and row.right.high is not None:
        for place in range(at(row.right.low), at(row.right.high) + 1):
            line[place] = "-"
    line[at(row.mean_confidence)] = "|"
    if row.right.value is not None:
        line[at(row.right.value)] = "*"
    return "".join(line)


def _print_figures(figures: CalibrationFigures) -> None:
    parts = figures.murphy
    risks: list[list[object]] = [
        [f"wrong among the surest {share}", _cell(found)] for share, found in figures.risk.items()
    ]
    rows: list[list[object]] = [
        ["calibration error, 10 bins of equal width", _cell(figures.error_equal_width)],
        ["calibration error, 10 bins of equal mass", _cell(figures.error_equal_mass)],
        ["Brier score", _cell(figures.brier)],
        ["  reliability", f"{parts.reliability:.3f}"],
        ["  resolution", f"{parts.resolution:.3f}"],
        ["  uncertainty", f"{parts.uncertainty:.3f}"],
        ["  within bins", f"{parts.within + 0.0:.3f}"],
        ['AUROC of "the label is wrong"', _cell(figures.auc_wrong)],
        *risks,
        ["wrong, mean over all such parts (AURC)", _cell(figures.area_under_risk)],
    ]
    print_table(["figure", "value"], rows)


def _cell(found: Estimate) -> str:
    if found.value is None:
        return f"undefined, {found.undefined}"
    value = f"{found.value + 0.0:.3f}"
    if found.low is None or found.high is None:
        return value
    return f"{value} [{found.low:.3f}, {found.high:.3f}]"
