"""The lead's views as plots and as tables: pure functions from what was read to lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.lead_quality import (
    agreement_plot,
    agreement_table,
    confidence_plot,
    confidence_table,
)
from tui.lead_views import (
    AgreementView,
    ConfidenceView,
    CoverageView,
    DisputesView,
    HeldView,
    ProgressView,
    QueueView,
    View,
)
from tui.text import line
from tui.widgets.plots import bars, columns, stacked, titled

if TYPE_CHECKING:
    from datetime import datetime

    from labeler.evaluation.pace import Pace
    from labeler.pools.show import RunShare
    from labeler.queue.forecast import Forecast
    from labeler.queue.holdings import Holding
    from labeler.queue.progress import Progress

__all__ = ["plot_of", "table_of"]

Lines = list[Content]

_BLANK = Content("")
_NO_DOMAIN = "no domain"
_STATUSES = ("decided", "judged", "abstained", "failed", "unjudged", "unavailable")
_MARKS = "█▒a!··"
_WIDE = 100
"""From so many cells on a table has all its columns."""

_LEGEND = "█ decided  ▒ a judge's label only  a abstained  ! failed  · not judged"


def plot_of(view: View, width: int) -> Lines:
    """Draw a view, so many cells wide; the list of disputes has no plot."""
    match view:
        case QueueView():
            return _queue_plot(view, width)
        case ProgressView():
            return [*_progress_plot(view.progress, width), *_forecast_lines(view.forecasts)]
        case AgreementView():
            return agreement_plot(view, width)
        case ConfidenceView():
            return confidence_plot(view, width)
        case CoverageView():
            return _coverage_plot(view, width)
        case HeldView():
            return _held_plot(view, width)
        case DisputesView():
            return []


def table_of(view: View, width: int, *, alone: bool = True) -> Lines:
    """Write a view as tables, so many cells wide at the most.

    Args:
        view: What was read.
        width: Cells.
        alone: Whether no plot of it stands above, which tells some facts already.
    """
    match view:
        case QueueView():
            return _queue_table(view, width)
        case ProgressView():
            lines = _progress_table(view.progress, width, alone=alone)
            return [*lines, *(_forecast_lines(view.forecasts) if alone else [])]
        case AgreementView():
            return agreement_table(view, width)
        case ConfidenceView():
            return confidence_table(view, width)
        case CoverageView():
            return _coverage_table(view, width)
        case HeldView():
            return _held_table(view, width)
        case DisputesView():
            return []


# Queue


def _queue_plot(view: QueueView, width: int) -> Lines:
    counts = view.counts
    if not counts.by_status:
        return [line("Nothing waits for people: `labeler route POOL` fills the queue.")]
    reviewers = {
        name: events.get("vote", 0) - events.get("undo", 0)
        for name, events in counts.by_reviewer.items()
    }
    states = ", ".join(f"{count:,} {status}" for status, count in counts.by_status.items())
    parts = {
        "Waiting items by reason (one may have several)": counts.by_reason,
        "Waiting items by domain": _named(counts.by_domain),
        "Votes given by reviewer": reviewers,
    }
    lines: Lines = [line(f"Tasks: {states}"), _BLANK]
    for title, sizes in parts.items():
        rows = [(name, float(count), f"{count:,}") for name, count in sizes.items()]
        lines += titled(title, bars(rows, width))
    return lines


def _named(by_domain: Mapping[str, int]) -> dict[str, int]:
    return {name or _NO_DOMAIN: count for name, count in by_domain.items()}


def _queue_table(view: QueueView, width: int) -> Lines:
    counts = view.counts
    kinds = sorted({kind for events in counts.by_reviewer.values() for kind in events})
    lines: Lines = []
    for title, sizes in (
        ("state", counts.by_status),
        ("reason", counts.by_reason),
        ("domain", _named(counts.by_domain)),
        ("votes wanted", counts.wanted_votes),
    ):
        rows = columns([title, "items"], list(sizes.items()), width)
        lines += [*rows, _BLANK] if rows else []
    events = [
        [name, *(did.get(kind, 0) for kind in kinds)] for name, did in counts.by_reviewer.items()
    ]
    return [*lines, *columns(["reviewer", *kinds], events, width)]


# Progress


def _progress_facts(progress: Progress) -> Lines:
    held = f", {progress.held:,} of them held" if progress.held else ""
    lines = [line(f"{progress.left:,} votes left{held}; {progress.given:,} given")]
    left = progress.time_left
    if not progress.left:
        return lines
    if left is None:
        return [*lines, line("time left: unknown until votes are given")]
    if left.low is None or left.high is None:
        reach = "too few votes for a range"
    else:
        reach = f"95%: {_hours(left.low)} to {_hours(left.high)}"
    lines.append(line(f"time left: {_hours(left.hours)} of one person's work ({reach})"))
    if progress.at_work > 1:
        each = _hours(left.hours / progress.at_work)
        lines.append(line(f"{progress.at_work} voted in the last hour: {each} each"))
    return lines


def _forecast_lines(forecasts: Sequence[Forecast]) -> Lines:
    """Tell for each pool with calibrated scores what it takes until nothing waits.

    Each range holds what comes nine times in ten.
    """
    lines: Lines = []
    for one in forecasts:
        votes = f"{one.votes.middle:,.0f} votes ({one.votes.low:,.0f} to {one.votes.high:,.0f})"
        audit = f", {one.audit_votes:,} of them for the audit" if one.audit_votes else ""
        lines.append(line(f"{one.pool}, until nothing waits: {votes}{audit}"))
        if one.minutes is not None:
            low, middle, high = (
                _hours(minutes / 60)
                for minutes in (one.minutes.low, one.minutes.middle, one.minutes.high)
            )
            lines.append(line(f"  {middle} of one person's work ({low} to {high})"))
        lines.append(line(f"  {one.policy}: {one.promise}"))
    return [_BLANK, *lines, line("  (ranges hold nine times in ten)")] if lines else []


def _hours(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{hours * 60:.0f} min"


def _progress_plot(progress: Progress, width: int) -> Lines:
    lines = [*_progress_facts(progress), _BLANK]
    burned = [
        (_time(one.start, progress.step), float(one.left), f"{one.left:,} left, {one.votes:,} done")
        for one in progress.burned
    ]
    lines += titled(f"Left at the end of each {progress.step} (UTC)", bars(burned, width))
    paces = [(one.reviewer, one.pace.per_hour or 0.0, _pace(one.pace)) for one in progress.paces]
    lines += titled("Votes an hour of work by reviewer", bars(paces, width))
    return [*lines, *_stamps(progress)]


def _pace(pace: Pace) -> str:
    told = "unknown" if pace.per_hour is None else f"{pace.per_hour:,.0f}/h"
    if pace.median_dwell is None:
        return told
    return f"{told}, {pace.median_dwell:.1f} s median{' !' if pace.is_rubber_stamping else ''}"


def _stamps(progress: Progress) -> Lines:
    names = [one.reviewer for one in progress.paces if one.pace.is_rubber_stamping]
    if not names:
        return []
    return [
        line(("! rubber-stamping: ", "bold"), ", ".join(names)),
        line("  half of these votes took under 0.5 s, which is less than it takes to read"),
    ]


def _time(at: datetime, step: str) -> str:
    return f"{at:%m-%d %H:00}" if step == "hour" else f"{at:%Y-%m-%d}"


def _progress_table(progress: Progress, width: int, *, alone: bool) -> Lines:
    burned = [[_time(one.start, progress.step), one.votes, one.left] for one in progress.burned]
    paces = [
        [
            one.reviewer,
            one.pace.votes,
            None if one.pace.median_dwell is None else f"{one.pace.median_dwell:.1f}",
            None if one.pace.per_hour is None else f"{one.pace.per_hour:,.0f}",
            f"{one.last:%m-%d %H:%M}",
            "rubber-stamping" if one.pace.is_rubber_stamping else "",
        ]
        for one in progress.paces
    ]
    return [
        *([*_progress_facts(progress), _BLANK] if alone else []),
        *columns([f"{progress.step} (UTC)", "votes", "left"], burned, width),
        *([_BLANK] if burned else []),
        *columns(["reviewer", "votes", "median s", "votes/h", "last (UTC)", ""], paces, width),
    ]


# Coverage


def _coverage_plot(view: CoverageView, width: int) -> Lines:
    lines: Lines = []
    for pool in view.pools:
        rows = []
        for run in pool.runs:
            sizes = _sizes(run)
            share = sizes[0] / run.candidates if run.candidates else 0.0
            rows.append((run.run, sizes, f"{share:.0%} of {run.candidates:,}"))
        lines += titled(
            f"Pool {pool.name}: decided candidates of each run", stacked(rows, _MARKS, width)
        )
    return [line((_LEGEND, "dim")), _BLANK, *lines] if lines else [line("There is no pool yet.")]


def _sizes(run: RunShare) -> list[int]:
    sizes = {status.value: count for status, count in run.by_status.items()}
    return [sizes.get(status, 0) for status in _STATUSES]


def _coverage_table(view: CoverageView, width: int) -> Lines:
    is_wide = width >= _WIDE
    lines: Lines = []
    for pool in view.pools:
        rows = [
            [
                run.run,
                *([run.role, run.depth] if is_wide else []),
                run.candidates,
                run.from_it_alone,
                *_sizes(run),
            ]
            for run in pool.runs
        ]
        header = ["run", *(["role", "depth"] if is_wide else []), "items", "alone"]
        header += ["decided", "judged", "abst.", "failed", "unjudged", "no text"]
        lines += titled(f"Pool {pool.name}", columns(header, rows, width))
    return lines or [line("There is no pool yet.")]


# Held


def _held_plot(view: HeldView, width: int) -> Lines:
    by_reviewer: dict[str, list[Holding]] = defaultdict(list)
    for one in view.held:
        by_reviewer[one.reviewer].append(one)
    rows = [
        (name, float(len(own)), f"{len(own)} until {max(one.until for one in own):%H:%M:%S}")
        for name, own in by_reviewer.items()
    ]
    if not rows:
        return [line("Nobody holds anything.")]
    return titled("Items held by reviewer, until (UTC)", bars(rows, width))


def _held_table(view: HeldView, width: int) -> Lines:
    rows = [
        [one.reviewer, one.query, one.evidence, f"{one.until:%H:%M:%S}", _left(one, view.now)]
        for one in view.held
    ]
    header = ["reviewer", "query", "evidence", "until (UTC)", "left"]
    return columns(header, rows, width) or [line("Nobody holds anything.")]


def _left(one: Holding, now: datetime) -> str:
    seconds = round((one.until - now).total_seconds())
    return "over" if seconds < 0 else f"{seconds // 60:02d}:{seconds % 60:02d}"
