"""What the screen says where no passage is shown, and how far the sitting is. Pure functions."""

from __future__ import annotations

from datetime import datetime

from labeler.queue.sitting.orders import Fetched
from labeler.queue.sitting.tally import Tally

__all__ = ["MIN_HEIGHT", "MIN_WIDTH", "bar", "nothing_left", "percent", "sitting_ended", "summary"]

MIN_WIDTH, MIN_HEIGHT = 60, 16
"""The smallest terminal that an item can be judged in, in cells."""


def bar(done: int, total: int, width: int) -> str:
    """Draw how far a sitting is."""
    full = round(width * done / total) if total else 0
    return "[" + "#" * full + "-" * (width - full) + "]"


def percent(done: int, total: int) -> int:
    """Tell the share that is done, rounded down: 100 means all."""
    return 100 * done // total if total else 0


def summary(tally: Tally) -> str:
    """Say what a sitting came to; nothing of labels."""
    pace = tally.seconds_per_item
    return tally.describe() + (f"; {pace:.1f} s an item" if pace is not None else "")


def sitting_ended(tally: Tally, limit: int) -> str:
    """Say that the limit is reached."""
    ended = f"The sitting's {limit} votes are given."
    return "\n\n".join([ended, summary(tally), "u takes the last vote back. q ends."])


def nothing_left(fetched: Fetched, tally: Tally, pool: str | None, now: datetime) -> str:
    """Say why nothing can be taken now, and which key helps.

    Args:
        fetched: The answer that brought no items.
        tally: What was done so far.
        pool: The pool that was asked for, or None.
        now: The time of day, in UTC.
    """
    left = fetched.left
    rows: list[str] = []
    if left is None:
        return ""
    if left.held:
        free = (
            "" if left.next_free is None else f"; the next is free in {_until(left.next_free, now)}"
        )
        rows.append(f"{_items(left.held)} held by others{free}. Looked for again by itself.")
    if left.skipped:
        which = "1 item waits" if left.skipped == 1 else f"{left.skipped} items wait"
        rows.append(f"{which} that you skipped. w takes skipped items again.")
    if not rows and pool is not None and fetched.elsewhere and not tally.done:
        total = fetched.elsewhere
        rows.append(f"0 of {total} waiting items match: pool {pool}.\nw takes items of all pools.")
    elif not rows:
        rows.append(
            "All done: nothing is left for you." if tally.done else "Nothing waits for you."
        )
        if fetched.elsewhere:
            rows.append(f"{_items(fetched.elsewhere)} waiting in other pools. w takes them.")
    rows.append(summary(tally))
    rows.append("u takes the last vote back. q ends.")
    return "\n\n".join(rows)


def _items(count: int) -> str:
    return "1 item is" if count == 1 else f"{count} items are"


def _until(then: datetime, now: datetime) -> str:
    seconds = max(0, round((then - now).total_seconds()))
    return f"{seconds // 60:02d}:{seconds % 60:02d}"
