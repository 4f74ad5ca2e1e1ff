"""How far assessors agree, and whether confidence keeps its word, as plots and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.lead_views import AgreementView, ConfidenceView
from tui.text import line
from tui.widgets.plots import Span, columns, intervals, reliability, titled

if TYPE_CHECKING:
    from labeler.reports.pairs import PairAgreement
    from labeler.reports.reliability import ConfidenceReliability

__all__ = ["agreement_plot", "agreement_table", "confidence_plot", "confidence_table"]

Lines = list[Content]

_BLANK = Content("")


def agreement_plot(view: AgreementView, width: int) -> Lines:
    """Draw how far assessors agree, so many cells wide."""
    if view.why_not:
        return [line(view.why_not), *_repeats_plot(view, width)]
    lines = [
        *titled("Reviewers: share of the same labels, blind", _pairs(view.reviewers, width)),
        *titled(
            "Judges and what people say together, blind", _pairs(view.judges, width, second=True)
        ),
        *_repeats_plot(view, width),
    ]
    return lines or [line("No item has blind labels of two assessors yet.")]


def _pairs(pairs: Sequence[PairAgreement], width: int, *, second: bool = False) -> Lines:
    spans = []
    for pair in pairs:
        exact = pair.relevance.exact if pair.levels is None else pair.levels.exact
        kappa = pair.relevance.kappa if pair.levels is None else pair.levels.kappa
        told = f"{_share(exact.value)} kappa {_share(kappa.value)} n={pair.common:,}"
        name = pair.second if second else f"{pair.first} × {pair.second}"
        spans.append(Span(name, exact.value, exact.low, exact.high, told))
    return intervals(spans, width)


def _repeats_plot(view: AgreementView, width: int) -> Lines:
    spans = [
        Span(
            one.reviewer,
            one.steadiness.exact.value,
            one.steadiness.exact.low,
            one.steadiness.exact.high,
            f"{_share(one.steadiness.exact.value)} kappa {_share(one.steadiness.kappa.value)} "
            f"n={one.steadiness.labelled:,}",
        )
        for one in view.repeats
    ]
    return titled("Reviewers and their own first answers (hidden repeats)", intervals(spans, width))


def _share(value: float | None) -> str:
    return "undef." if value is None else f"{value + 0.0:.2f}"


def agreement_table(view: AgreementView, width: int) -> Lines:
    """Write how far assessors agree as tables."""
    lines: Lines = [line(view.why_not)] if view.why_not else []
    for pairs in (view.reviewers, view.judges, view.reviewers_and_judges):
        rows: list[list[object]] = []
        for pair in pairs:
            exact = pair.relevance.exact if pair.levels is None else pair.levels.exact
            of_levels = (
                [None, None]
                if pair.levels is None
                else [pair.levels.kappa.value, pair.levels.quadratic_kappa.value]
            )
            reach = "-" if exact.low is None else f"{exact.low:.2f}-{exact.high:.2f}"
            name = f"{pair.first} × {pair.second}"
            rows.append(
                [name, pair.common, exact.value, reach, *of_levels, pair.relevance.kappa.value]
            )
        header = ["pair", "n", "same", "95%", "kappa", "quadratic", "relevant"]
        drawn = columns(header, rows, width)
        lines += [*drawn, _BLANK] if drawn else []
    repeats = [
        [
            one.reviewer,
            one.steadiness.repeated,
            one.steadiness.labelled,
            one.steadiness.same,
            one.steadiness.exact.value,
            one.steadiness.kappa.value,
            one.steadiness.gave_up_once,
        ]
        for one in view.repeats
    ]
    header = ["hidden repeats", "items", "labels", "same", "share", "kappa", "gave up once"]
    drawn = columns(header, repeats, width)
    lines += [*drawn, _BLANK] if drawn else []
    lines += [line(f"note: {notice}") for notice in view.notices]
    return lines or [line("No item has blind labels of two assessors yet.")]


def _confidence_title(one: ConfidenceReliability) -> str:
    calibrated = ", ".join(one.calibrations) or "uncalibrated"
    return f"{one.judge} ({one.digest}; {calibrated}): {one.source}, {one.items:,} items"


_NO_CONFIDENCE = "No item has both a judge's label and blind votes of people yet."


def _confidence_notes(one: ConfidenceReliability) -> Lines:
    lines = []
    if one.source != "audit draws":
        lines.append(line("judged for another reason than a random draw: no sample of all labels"))
    if one.without_confidence:
        lines.append(line(f"{one.without_confidence:,} more items have no confidence"))
    return lines


def confidence_plot(view: ConfidenceView, width: int) -> Lines:
    """Draw a reliability diagram for each judge and source of votes."""
    lines: Lines = []
    for one in view.judges:
        drawn = [*_confidence_notes(one), *(reliability(one.bins, width) if one.bins else [])]
        lines += [line((_confidence_title(one), "bold")), *drawn, _BLANK]
    return lines or [line(_NO_CONFIDENCE)]


def confidence_table(view: ConfidenceView, width: int) -> Lines:
    """Write the bins of each reliability diagram as tables."""
    lines: Lines = []
    for one in view.judges:
        rows = [
            [
                f"{bin_.low:.1f}-{bin_.high:.1f}",
                bin_.count,
                bin_.mean_confidence,
                bin_.agreed,
                bin_.share,
                f"{bin_.share_low:.2f}-{bin_.share_high:.2f}",
            ]
            for bin_ in one.bins
        ]
        header = ["confidence", "items", "mean", "agreed", "share", "exact 95%"]
        lines += [line((_confidence_title(one), "bold")), *_confidence_notes(one)]
        lines += [*columns(header, rows, width), _BLANK]
    return lines or [line(_NO_CONFIDENCE)]
