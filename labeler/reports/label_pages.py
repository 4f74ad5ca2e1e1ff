"""Reports on labels as pages: what drawn items say, and whether a judge drifted."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from labeler.evaluation.drift import MarginalTest
from labeler.reports.audit import AgreementRow, AuditReport
from labeler.reports.charts import IntervalRow, bar_chart, interval_chart
from labeler.reports.drift import DriftReport
from labeler.reports.page import facts, heading, notes, page, paragraph, table

__all__ = ["audit_page", "drift_page"]

_SHARES = (0.0, 1.0)


def audit_page(report: AuditReport, told: Sequence[str] = ()) -> str:
    """Write the page of an audit; ``told`` is said on top."""
    sample = report.sample
    body = [
        facts(
            {
                "frame": report.frame,
                "policy": report.policy,
                **report.ledgers.facts(),
                "answers that count": f"{sample.labelled:,} labels, {sample.relevant:,} relevant; "
                f"{sample.abstained:,} can't judge, {sample.waiting:,} wait",
                "strength": f"{sample.strength.value}, effective size {sample.effective:,.0f}",
                "interval": report.interval,
                "prior": report.prior,
                "revision": report.conditions.revision,
                "snapshot": report.conditions.snapshot,
            }
        ),
        notes((*told, *report.notices)),
        *_agreement("Labels accepted without people", report.accepted),
        *_agreement("Labels not accepted", report.others),
        heading("What the draws say"),
        interval_chart(
            "Estimates from the draws",
            [
                IntervalRow(
                    _named(row.name, row.run), row.value, row.interval.low, row.interval.high
                )
                for row in report.figures
            ],
        ),
        paragraph("Each row has a scale of its own."),
        table(
            ["figure", "run", "value", "95%", "with any abstention", "found in the draw", "known"],
            [
                [
                    *(row.name, row.run or "", row.value),
                    f"[{row.interval.low:.3f}, {row.interval.high:.3f}]",
                    f"[{row.bounds.low:.3f}, {row.bounds.high:.3f}]",
                    *(row.found, row.known_relevant),
                ]
                for row in report.figures
            ],
        ),
    ]
    return page("What drawn items say", body)


def _named(name: str, run: str | None) -> str:
    return name if run is None else f"{run}: {name}"


def _agreement(title: str, rows: Sequence[AgreementRow]) -> list[str]:
    if not rows:
        return []
    chart = [
        IntervalRow(
            f"{row.grade.value}, {row.agreed:,} of {row.answered:,}",
            row.share,
            None if row.interval is None else row.interval.low,
            None if row.interval is None else row.interval.high,
        )
        for row in rows
    ]
    return [
        heading(title),
        paragraph("The share that people agree with, of the drawn labels of each grade."),
        interval_chart(title, chart, _SHARES),
    ]


def drift_page(report: DriftReport, told: Sequence[str] = ()) -> str:
    """Write the page of a report on drift; ``told`` is said on top."""
    shift = report.relevance
    low, high = (
        (None, None) if shift.interval is None else (shift.interval.low, shift.interval.high)
    )
    margins = [IntervalRow("margin", 0.0, -shift.margin, shift.margin)]
    body = [
        facts(
            {
                "verdict": shift.verdict.value,
                "before": report.first,
                "after": report.second,
                "items": f"{report.frame}: {report.labelled:,} labelled both times, of "
                f"{report.queries:,} queries",
                "became relevant": f"{shift.raised:,}",
                "ceased to be": f"{shift.lowered:,}",
                "revision": report.revision,
            }
        ),
        notes((*told, *report.notices)),
        heading("Shift of the share of relevant labels"),
        interval_chart(
            "Shift beside the margin",
            [IntervalRow("shift", shift.value, low, high, 0.0), *margins],
            _around(shift.value, low, high, shift.margin),
        ),
    ]
    moved = report.levels
    if moved is None:
        body.append(paragraph(f"Levels are not compared: {report.levels_not_compared}."))
        return page("Whether a judge drifted", body)
    bars = {
        f"{level}, {when}": count
        for level, *counts in zip(moved.levels, moved.before, moved.after, strict=True)
        for when, count in zip(("before", "after"), counts, strict=True)
    }
    body += [heading("Labels by level"), bar_chart("Labels by level, before and after", bars)]
    body.append(
        table(
            ["test", "chi-squared", "degrees", "p"],
            [
                [name, _statistic(found), found.degrees, found.p]
                for name, found in (
                    ("Stuart-Maxwell", moved.stuart_maxwell),
                    ("Bhapkar", moved.bhapkar),
                )
            ],
        )
    )
    return page("Whether a judge drifted", body)


def _around(*values: float | None) -> tuple[float, float]:
    """Give the ends of an axis with 0 in its middle that holds all values."""
    most = 1.2 * max(abs(one) for one in values if one is not None)
    return -most, most


def _statistic(found: MarginalTest) -> object:
    return found.statistic if isfinite(found.statistic) else "no limit"
