"""What a gate said, as a page with a chart of each check's interval beside its boundary."""

from __future__ import annotations

from labeler.evaluation.gate_checks import Answer
from labeler.reports.charts import IntervalRow, interval_chart
from labeler.reports.gate import GateReport
from labeler.reports.gate_results import CheckResult
from labeler.reports.page import facts, heading, notes, page, paragraph, table

__all__ = ["gate_page"]

_KINDS = {Answer.PASS: "good", Answer.FAIL: "bad"}


def gate_page(report: GateReport) -> str:
    """Write the page."""
    body = [
        facts(
            {
                "verdict": report.verdict.value,
                "candidate": report.candidate,
                "baseline": report.baseline or "none",
                "frame": f"pool {report.pool} on snapshot {report.snapshot}",
                "labels": f"{report.labels} at revision {report.revision}",
                "sample": report.sample or "none: unknown labels are taken at worst and at best",
                "rules": f"{report.digest}, declared at revision {report.declared}",
            }
        ),
        notes(report.notices),
        heading("Checks"),
        interval_chart("Intervals beside boundaries", [_interval(one) for one in report.checks]),
        paragraph("The dashed mark is the boundary; each row has a scale of its own."),
        table(
            ["check", "role", "rule", "value", "judged", "queries", "clusters", "answer", "why"],
            [_row(one) for one in report.checks],
        ),
    ]
    if report.commands:
        body += [
            heading("What collects what is missing"),
            *(paragraph(one) for one in report.commands),
        ]
    return page(f"Gate {report.gate}: {report.verdict.value}", body)


def _interval(one: CheckResult) -> IntervalRow:
    return IntervalRow(
        one.name, one.value, one.low, one.high, one.boundary, _KINDS.get(one.answer, "open")
    )


def _row(one: CheckResult) -> list[object]:
    judged = "-" if one.coverage is None else f"{one.coverage:.1%}"
    numbers = [one.value, judged, one.queries, one.clusters]
    return [one.name, one.role, one.rule, *numbers, one.answer.value, one.why]
