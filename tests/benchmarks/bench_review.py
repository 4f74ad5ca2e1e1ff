"""Time what a reviewer waits for: key to paint, start to first paint, the next item.

python -m tests.benchmarks.bench_review [items] [database]

`labeler review` runs at a pseudo-terminal of 80x24. The next item is taken from a queue of so many
items (100,000 by default) with several filters, also right after a reorder of 100,000 of them; the
database is a file that is kept and used again, as in bench_store.py. Goals: p95 under 25 ms from
key to paint at 2,000 characters; first paint under 0.6 s; p99 under 5 ms for the next item.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.claims import claim, release
from labeler.queue.filters import queue_filter
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import Fetch
from labeler.queue.wanted import bring_votes_in_line
from labeler.records.scales import AssessorKind
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.registry import assessor_key
from tests.benchmarks.bench_store import head_of_queue, timed, vote
from tests.benchmarks.big_store import SMALL_POOL_SHARE, fill, table_of
from tests.benchmarks.measuring import Row, percentile, print_rows
from tests.benchmarks.pseudo_terminal import PseudoTerminal
from tests.small import write_jsonl, write_run
from tests.write_lock import write_lock

VOTES = {2_000: 60, 20_000: 40, 200_000: 20}
"""How many votes are timed at each length of a passage, in characters."""

_LABELER = [sys.executable, "-c", "from labeler.cli.app import main; main()"]
_ECHO = "import os, tty; tty.setraw(0); os.write(1, b'ready')\nwhile 1: os.write(1, os.read(0, 1))"
_BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("startc0")
    def on_key(self, event):
        self.query_one(Static).update("startc " + event.key + " word" * 300)
Bare().run()
"""
_LOOK = 0.35
"""Seconds for which an item is looked at: a vote counts after 0.25."""
_LOCKED = 1.5
_REORDERED = 100_000
_ROUNDS = 300


def load() -> str:
    """Tell how busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def spread(name: str, times: Sequence[float], baseline: float) -> Row:
    """Make a row of a median in milliseconds, with the upper percentiles beside it."""
    middle, high, top = (percentile(times, share) for share in (0.5, 0.95, 0.99))
    more = f"p95 {high:.1f} ms, p99 {top:.1f} ms, of {len(times)}"
    return Row(name, f"{middle:.2f} ms", middle / baseline, more)


# Key to paint


def passages(folder: Path, length: int, count: int) -> Path:
    """Make a project whose passages have a length in characters; give its database.

    Each begins with a word of its own, and goes on with numbered words.
    """
    words = " ".join(f"w{number:06d}" for number in range(length // 8))
    names = [f"c{number:05d}" for number in range(count)]
    texts: list[dict[str, object]] = [
        {"_id": name, "text": f"start{name} {words}"[:length]} for name in names
    ]
    path = folder / f"{length}.db"
    with open_store(Location(str(path)), create=True) as store:
        import_corpus(store, [write_jsonl(folder / "corpus.jsonl", texts)], CorpusOptions())
        query: list[dict[str, object]] = [{"_id": "q", "text": "which words are there"}]
        import_queries(store, [write_jsonl(folder / "queries.jsonl", query)], QueryOptions())
        import_runs(store, [write_run(folder / "a.run", "a", {"q": names})], RunOptions())
        create_pool(store, "p", PoolOptions(depth=count, rubric=default_rubric()))
        route_pool(store, "p", UNCALIBRATED)
    return path


@contextmanager
def reviewing(database: Path) -> Iterator[PseudoTerminal]:
    """Run `labeler review` until an item is on the screen."""
    command = [*_LABELER, "review", "--reviewer", "ana", "--db", str(database)]
    with PseudoTerminal(command) as terminal:
        terminal.until(lambda text: "startc" in text)
        terminal.rest(1.0)
        yield terminal


def vote_time(terminal: PseudoTerminal, number: int) -> float:
    """Vote; give the milliseconds until the next item is painted."""
    begin = terminal.press("asd"[number % 3])
    took = (terminal.until(lambda text: "startc" in text) - begin) * 1000
    terminal.rest(_LOOK)
    return took


def page_time(terminal: PseudoTerminal, page: int) -> float:
    """Turn a page on, or back; give the milliseconds until other lines are painted."""
    begin = terminal.press(" b"[page % 2])
    took = (terminal.until(lambda text: re.search(r"w\d{6}", text) is not None) - begin) * 1000
    terminal.rest(0.1)
    return took


def echo_times() -> list[float]:
    """Time the baseline: a program that writes each key back at once."""
    with PseudoTerminal([sys.executable, "-c", _ECHO]) as terminal:
        terminal.until(lambda text: "ready" in text, frame=False)
        times = []
        for _ in range(100):
            begin = terminal.press("x")
            times.append((terminal.until(lambda text: "x" in text, frame=False) - begin) * 1000)
            terminal.rest(0.01)
    return times


def bare_times() -> list[float]:
    """Time Textual alone: an app that shows another text at each key."""
    with PseudoTerminal([sys.executable, "-c", _BARE]) as terminal:
        terminal.until(lambda text: "startc" in text)
        terminal.rest(1.0)
        return [vote_time(terminal, number) for number in range(40)]


def locked_times(database: Path, rounds: int) -> list[float]:
    """Time two votes in each of some rounds in which another process holds the write lock.

    Two items are held ahead; whoever votes on more than these in that time waits for the lock.
    """
    times = []
    with reviewing(database) as terminal:
        for number in range(rounds):
            with write_lock(database):
                until = time.perf_counter() + _LOCKED
                times += [vote_time(terminal, 2 * number + one) for one in range(2)]
                terminal.rest(until - time.perf_counter())
            terminal.rest(1.0)
    return times


def measure_keys(folder: Path) -> None:
    """Print the times from key to paint."""
    echo = echo_times()
    base = percentile(echo, 0.5)
    rows = [spread("echo of a key", echo, base)]
    rows.append(spread("Textual alone, 1,500 characters", bare_times(), base))
    for length, votes in VOTES.items():
        database = passages(folder, length, votes + 30)
        with reviewing(database) as terminal:
            times = [vote_time(terminal, number) for number in range(votes)]
            rows.append(spread(f"vote, {length:,} characters", times, base))
            times = [page_time(terminal, page) for page in range(votes)]
            rows.append(spread(f"page, {length:,} characters", times, base))
    rounds = 10
    database = passages(folder / "locked", 2_000, 2 * rounds + 10)
    name = "vote, 2,000, write lock held elsewhere"
    rows.append(spread(name, locked_times(database, rounds), base))
    print_rows(f"key to paint, {load()}", "a program that echoes the key, same terminal", rows)


# Start to first paint


def start_times(database: Path, rounds: int = 7) -> tuple[list[float], list[float]]:
    """Give the milliseconds from start to first paint, and to the first item."""
    command = [*_LABELER, "review", "--reviewer", "ana", "--db", str(database)]
    first, item = [], []
    for _ in range(rounds):
        with PseudoTerminal(command) as terminal:
            painted = terminal.until(lambda text: "Opening the database" in text, frame=False)
            first.append((painted - terminal.started) * 1000)
            shown = terminal.until(lambda text: "passage number" in text, frame=False)
            item.append((shown - terminal.started) * 1000)
    return first, item


def import_textual() -> None:
    """Do what the first paint can't do without."""
    subprocess.run([sys.executable, "-c", "import textual"], check=True)


def measure_start(database: Path, items: int) -> None:
    """Print the times from start to paint."""
    bare = timed(import_textual, 7)
    base = percentile(bare, 0.5)
    first, item = start_times(database)
    rows = [
        spread("import textual", bare, base),
        spread("first paint", first, base),
        spread(f"first item of {items:,}", item, base),
    ]
    print_rows(f"start to paint, {load()}", "python -c 'import textual'", rows)


# The next item


def fetches(store: Store, **asked: str) -> Callable[[], object]:
    """Make what a vote makes the database do: hold the next item, and read it."""
    with store.read() as connection:
        only = queue_filter(connection, **{"pool": None, "domain": None, "language": None} | asked)
    desk = Desk(store, "ana", only)
    return lambda: desk.perform(Fetch(1, frozenset()))


def reorder(store: Store, count: int) -> float:
    """Turn the order of the first items of the queue round, as routing does; give the seconds."""
    waiting = table_of("assignment").c
    statement = (
        sa.select(waiting.item_id)
        .where(waiting.state == "waiting")
        .order_by(waiting.priority)
        .limit(count)
    )
    begin = time.perf_counter()
    with store.write("bench") as tx:
        items = [int(item) for item in tx.connection.execute(statement).scalars()]
        wanted = dict.fromkeys(items, ("low_confidence",))
        order = {item: place for place, item in enumerate(reversed(items))}
        bring_votes_in_line(tx, items, wanted, order, dict.fromkeys(items, 1))
    return time.perf_counter() - begin


FILTERS: dict[str, dict[str, str]] = {
    "next item": {},
    "... --pool all": {"pool": "all"},
    "... --pool small": {"pool": "small"},
    "... --domain late": {"domain": "late"},
    "... --domain late --language pt": {"domain": "late", "language": "pt"},
    "... --domain rare": {"domain": "rare"},
    "... --language pt --pool all": {"language": "pt", "pool": "all"},
}


def measure_next(store: Store, items: int) -> None:
    """Print the times of the next item in the database."""
    with store.write("bench") as tx:
        other = assessor_key(tx, AssessorKind.PERSON, str(uuid.uuid4()))
    read = head_of_queue(store)
    read()
    bare = timed(read, _ROUNDS)
    base = percentile(bare, 0.5)
    rows = [spread("head of the queue", bare, base)]
    # A pool that is used up would be counted, which is another thing to wait for.
    few = min(_ROUNDS, items // SMALL_POOL_SHARE // 2)

    def add(name: str, asked: dict[str, str]) -> None:
        rounds = few if asked.get("pool") == "small" else _ROUNDS
        rows.append(spread(name, timed(fetches(store, **asked), rounds), base))

    for name, asked in FILTERS.items():
        add(name, asked)
    count = min(_REORDERED, items // 2)
    took = reorder(store, count)
    rows.append(Row(f"reorder of {count:,}", f"{took:.1f} s"))
    rows.append(spread("the next item right after it", timed(fetches(store), 1), base))
    for name, asked in FILTERS.items():
        add(f"then {name}", asked)
    held = claim(store, other, 100)
    rows.append(spread("vote", [timed(vote(store, other, one), 1)[0] for one in held], base))
    release(store, other)
    title = f"the next item of {items:,}, wall clock in the database, {load()}"
    print_rows(title, "reading the first three waiting assignments", rows)


def main(items: int, given: str | None) -> None:
    """Measure everything."""
    print(f"SQLite {sqlite3.sqlite_version}, Python {sys.version.split()[0]}, {load()}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "locked").mkdir()
        measure_keys(Path(folder))
        path = Path(given or Path(folder) / "big.db")
        with open_store(Location(str(path)), create=True) as store:
            counted = sa.select(sa.func.count()).select_from(table_of("assignment"))
            with store.read() as connection:
                there = int(connection.execute(counted).scalar_one())
            if not there:
                fill(store, items)
        measure_start(path, there or items)
        with open_store(Location(str(path))) as store:
            measure_next(store, there or items)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,
        sys.argv[2] if len(sys.argv) > 2 else None,
    )
