"""What the screen says where no passage is shown, and how far the sitting is. Pure functions."""

from __future__ import annotations

from datetime import datetime

from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.orders import Fetched, Skip
from labeler.queue.sitting.state import SittingState
from labeler.queue.sitting.tally import Tally
from tui.bindings import KeyTable
from tui.seat import Seat

__all__ = [
    "FINDING_KEYS",
    "MIN_HEIGHT",
    "MIN_WIDTH",
    "bar",
    "keys_now",
    "message_of",
    "nothing_left",
    "percent",
    "sitting_ended",
    "summary",
    "too_small",
]

FINDING_KEYS = [("Enter", "next", 0), ("Up", "previous", 1), ("Esc", "back to judging", 0)]
"""What keys do while something is typed into the search, and their rank for want of room."""

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
    return tally.describe()


def too_small(width: int, height: int, table: KeyTable) -> str:
    """Say how large a terminal is needed."""
    return (
        f"This terminal has {width}x{height} cells;\n"
        f"reviewing needs {MIN_WIDTH}x{MIN_HEIGHT}.\n"
        f"No key labels here. {table.shown('quit')} ends."
    )


def message_of(sitting: SittingState, seat: Seat, table: KeyTable, now: datetime) -> str:
    """Say what there is instead of an item, or nothing where there is one.

    Args:
        sitting: Where the sitting stands.
        seat: Who reviews, and what.
        table: The keys in force.
        now: The time of day, in UTC.
    """
    match sitting.phase:
        case Phase.PAUSED:
            return _paused(table)
        case Phase.EMPTY if sitting.left is not None:
            rows = nothing_left(sitting.left, sitting.tally, seat, now, table)
        case Phase.ENDED:
            rows = sitting_ended(sitting.tally, seat, sitting.standing)
        case Phase.WAITING if sitting.tally.done:
            return "Looking for the next item …"
        case _:
            return ""
    if sitting.may_reveal or sitting.all_revealed:
        rows.append(f"{table.shown('judges')} shows what judges said of your items.")
    back = "skip" if isinstance(sitting.last, Skip) else "vote"
    rows.append(f"{table.shown('undo')} takes the last {back} back. {table.shown('quit')} ends.")
    return "\n\n".join(rows)


def _paused(table: KeyTable) -> str:
    return (
        f"Paused: the item is hidden, and no time counts.\n\n"
        f"{table.shown('pause')} goes on. {table.shown('quit')} ends.\n\n"
        "After ten minutes others may take the items that you hold."
    )


def sitting_ended(tally: Tally, seat: Seat, votes: int) -> list[str]:
    """Say which limit is reached; ``votes`` are those of the sitting that stand."""
    if seat.limit is not None and votes >= seat.limit:
        ended = f"The sitting's {_count(seat.limit, 'vote')} {_are(seat.limit)} given."
    else:
        ended = f"The sitting's {seat.minutes:g} minutes are over." if seat.minutes else "The end."
    left = tally.total - tally.done
    rest = "1 more item waits for you." if left == 1 else f"{left} more items wait for you."
    return [ended, summary(tally), rest if left else "Nothing is left for you."]


def nothing_left(
    fetched: Fetched, tally: Tally, seat: Seat, now: datetime, table: KeyTable
) -> list[str]:
    """Say why nothing can be taken now, and which key helps.

    Args:
        fetched: The answer that brought no items.
        tally: What was done so far.
        seat: Who reviews, and what.
        now: The time of day, in UTC.
        table: The keys in force.
    """
    left, widen = fetched.left, table.shown("widen")
    rows: list[str] = []
    if left is None:
        return rows
    if left.held:
        free = (
            "" if left.next_free is None else f"; the next is free in {_until(left.next_free, now)}"
        )
        rows.append(f"{_items(left.held)} held by others{free}. Looked for again by itself.")
    if left.skipped:
        which = "1 item waits" if left.skipped == 1 else f"{left.skipped} items wait"
        rows.append(f"{which} that you skipped. {widen} takes skipped items again.")
    if not rows and seat.filters and fetched.elsewhere and not tally.done:
        asked, total = ", ".join(seat.filters), fetched.elsewhere
        rows.append(f"0 of {total} waiting items match: {asked}.\n{widen} takes all items.")
    elif not rows:
        rows.append(
            "All done: nothing is left for you." if tally.done else "Nothing waits for you."
        )
        if fetched.elsewhere:
            rows.append(f"{_items(fetched.elsewhere)} waiting elsewhere. {widen} takes them.")
    if left.others and not left.held:
        wanted = f"{_count(left.others, 'more vote')} {_are(left.others)} wanted"
        rows.append(f"{wanted} of others, on items that you have done.")
    if tally.votes or tally.skipped or tally.undone or tally.extra:
        rows.append(summary(tally))
    return rows


def keys_now(
    sitting: SittingState, table: KeyTable, *, finding: bool
) -> list[tuple[str, str, int]]:
    """Give the keys that do something now, what each does, and its rank for want of room."""
    if finding:
        return FINDING_KEYS
    match sitting.phase:
        case Phase.JUDGING:
            told = [(row.shown, row.short, row.rank) for row in table.rows if row.short]
        case Phase.ASKING:
            told = [("1-5", "why", 0), ("Esc", "back", 0)]
        case Phase.PAUSED:
            told = _named(table, pause="go on", help="help", quit="quit")
        case Phase.REVEALED:
            told = _named(
                table, go_on="next item", undo="undo", page_down="page", help="help", quit="quit"
            )
        case Phase.EMPTY | Phase.ENDED:
            judges = sitting.may_reveal or sitting.all_revealed
            told = _named(
                table,
                undo="undo",
                **({"widen": "more"} if _has_more(sitting.left) else {}),
                **({"judges": "judges"} if judges else {}),
                help="help",
                quit="quit",
            )
        case Phase.WAITING:
            told = _named(table, help="help", quit="quit")
    return told


def _has_more(fetched: Fetched | None) -> bool:
    """Tell whether more items could be taken on request."""
    if fetched is None or fetched.left is None:
        return False
    return bool(fetched.left.skipped or fetched.elsewhere)


def _named(table: KeyTable, **words: str) -> list[tuple[str, str, int]]:
    return [(table.shown(name), word, table.row(name).rank) for name, word in words.items()]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _items(count: int) -> str:
    return "1 item is" if count == 1 else f"{count} items are"


def _until(then: datetime, now: datetime) -> str:
    seconds = max(0, round((then - now).total_seconds()))
    return f"{seconds // 60:02d}:{seconds % 60:02d}"
