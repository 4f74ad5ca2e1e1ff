"""`labeler report`: what runs and labels are worth. Each command stands in a module of its own."""

from __future__ import annotations

from cyclopts import App

from labeler.cli.report_agreement import agreement
from labeler.cli.report_audit import audit
from labeler.cli.report_calibration import calibration
from labeler.cli.report_compare import compare
from labeler.cli.report_coverage import coverage, sensitivity
from labeler.cli.report_drift import drift
from labeler.cli.report_grid import grid
from labeler.cli.report_issues import query_issues, rubric_issues
from labeler.cli.report_leakage import leakage
from labeler.cli.report_misses import misses
from labeler.cli.report_recall import recall
from labeler.cli.report_trend import trend

app = App(name="report", help="Report on runs and labels: metrics, coverage, agreement.")

for command in (
    agreement,
    audit,
    calibration,
    compare,
    coverage,
    drift,
    grid,
    leakage,
    misses,
    query_issues,
    recall,
    rubric_issues,
    sensitivity,
    trend,
):
    app.command(command)
