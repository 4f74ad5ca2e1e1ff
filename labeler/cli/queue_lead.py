"""What `labeler queue` tells of the work itself: pace, what is held, disputes, confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_table

if TYPE_CHECKING:
    from labeler.evaluation.pace import TimeLeft
    from labeler.queue.disputes import DisputedItem
    from labeler.queue.holdings import Holding
    from labeler.queue.progress import Progress
    from labeler.queue.repeats import ReviewerSteadiness
    from labeler.reports.reliability import ConfidenceReliability
    from labeler.store.database import Store

__all__ = ["LeadNumbers", "numbers_as_json", "print_numbers", "read_numbers"]


@dataclass(frozen=True, slots=True)
class LeadNumbers:
    """The numbers of the lead's screens that no other command tells."""

    progress: Progress
    held: tuple[Holding, ...]
    disputes: tuple[DisputedItem, ...]
    confidence: tuple[ConfidenceReliability, ...]
    hidden_repeats: tuple[ReviewerSteadiness, ...]

    @property
    def show_labels(self) -> bool:
        """Whether they tell of labels or texts, and not of the work alone."""
        return bool(self.disputes or self.confidence or self.hidden_repeats)


def read_numbers(store: Store, pool: str | None) -> LeadNumbers:
    """Read them, of one pool or of all.

    Raises:
        NotFoundError: When there is no such pool.
    """
    from labeler.queue.disputes import list_disputes
    from labeler.queue.holdings import read_holdings
    from labeler.queue.progress import read_progress
    from labeler.queue.repeats import read_steadiness
    from labeler.reports.reliability import read_reliability
    from labeler.store.registry import pool_named

    now = store.clock()
    with store.read() as connection:
        key = int(pool_named(connection, pool).id) if pool is not None else None
        return LeadNumbers(
            progress=read_progress(connection, now=now, pool_id=key),
            held=read_holdings(connection, key),
            disputes=list_disputes(connection, None, now=now, pool_id=key),
            confidence=read_reliability(connection, pool),
            hidden_repeats=read_steadiness(connection, key),
        )


def numbers_as_json(numbers: LeadNumbers) -> dict[str, object]:
    """Give them as plain values: times in UTC, lengths of time in seconds."""
    found = asdict(numbers)
    for one in found["disputes"]:
        del one["is_own"]  # that is a question of who asks
    plain = _plain(found)
    return plain if isinstance(plain, dict) else {}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def print_numbers(numbers: LeadNumbers) -> None:
    """Print them as tables, each followed by an empty line; what is empty is left out."""
    _print_progress(numbers.progress)
    _print(
        ["held by", "query", "evidence", "until (UTC)"],
        [[one.reviewer, one.query, one.evidence, f"{one.until:%H:%M:%S}"] for one in numbers.held],
    )
    states = Counter(one.state.value for one in numbers.disputes)
    _print(["dispute", "items"], sorted(states.items()))
    _print(
        ["hidden repeats of", "items", "labelled twice", "same", "share", "kappa", "gave up once"],
        [
            [
                one.reviewer,
                one.steadiness.repeated,
                one.steadiness.labelled,
                one.steadiness.same,
                one.steadiness.exact.value,
                one.steadiness.kappa.value,
                one.steadiness.gave_up_once,
            ]
            for one in numbers.hidden_repeats
        ],
    )
    _print(
        ["confidence of", "people's votes", "bin", "items", "mean", "agreed", "share", "exact 95%"],
        [
            [
                one.judge,
                one.source,
                f"{bin_.low:.1f}-{bin_.high:.1f}",
                bin_.count,
                bin_.mean_confidence,
                bin_.agreed,
                bin_.share,
                f"{bin_.share_low:.3f}-{bin_.share_high:.3f}",
            ]
            for one in numbers.confidence
            for bin_ in one.bins
        ],
    )


def _print_progress(progress: Progress) -> None:
    if not progress.left and not progress.given:
        return
    print_facts(
        {
            "votes left": progress.left,
            "of them held": progress.held,
            "votes given": progress.given,
            "time left": _told(progress.time_left),
        }
    )
    print()
    _print(
        [f"{progress.step} (UTC)", "votes", "left at its end"],
        [[one.start.strftime("%Y-%m-%d %H:%M"), one.votes, one.left] for one in progress.burned],
    )
    _print(
        ["pace of", "votes", "median seconds", "votes an hour", "last (UTC)", ""],
        [
            [
                one.reviewer,
                one.pace.votes,
                one.pace.median_dwell,
                None if one.pace.per_hour is None else round(one.pace.per_hour),
                f"{one.last:%Y-%m-%d %H:%M}",
                "rubber-stamping" if one.pace.is_rubber_stamping else "",
            ]
            for one in progress.paces
        ],
    )


def _told(left: TimeLeft | None) -> str:
    if left is None:
        return "unknown until votes are given"
    if left.low is None or left.high is None:
        return f"{left.hours:.1f} h of one person's work; too few votes for a range"
    return (
        f"{left.hours:.1f} h of one person's work, {left.low:.1f} to {left.high:.1f} "
        "(95% interval of the mean pace)"
    )


def _print(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if rows:
        print_table(header, rows)
        print()
