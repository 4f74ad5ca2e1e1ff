"""A judge that is killed goes on where it stopped; a vote that was called saved is on disk."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.crash.killing import (
    KILLS,
    assert_sound,
    command,
    copy_of,
    counts,
    kill_after,
    kill_times,
    run_child,
    seconds_of,
)
from tests.small import write_jsonl, write_run

QUERIES = 40
DEPTH = 5


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool of 40 blocks with 5 items each."""
    folder = tmp_path_factory.mktemp("pooled")
    database = folder / "before.db"
    names = [f"c{number:02d}" for number in range(10)]
    texts: list[dict[str, object]] = [
        {"_id": name, "text": f"passage {name} tells of something"} for name in names
    ]
    queries: list[dict[str, object]] = [
        {"_id": f"q{number:02d}", "text": f"question {number}"} for number in range(QUERIES)
    ]
    results = {f"q{number:02d}": names[number % 5 :][:DEPTH] for number in range(QUERIES)}
    for kind, path in (
        ("corpus", write_jsonl(folder / "corpus.jsonl", texts)),
        ("queries", write_jsonl(folder / "queries.jsonl", queries)),
        ("runs", write_run(folder / "one.run", "one", results)),
    ):
        run_child("none", database, "import", kind, str(path))
    run_child("none", database, "pool", "create", "p", "--depth", str(DEPTH))
    return database


def asked(database: Path) -> list[str]:
    """List the queries that the judge was asked about, by all processes."""
    log = database.with_suffix(".log")
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def assert_each_item_judged_once(database: Path) -> None:
    raw = sqlite3.connect(database)
    rows = raw.execute(
        "SELECT item_id, count(*), min(sample), max(sample) FROM judgment GROUP BY 1"
    )
    assert [row[1:] for row in rows.fetchall()] == [(1, 0, 0)] * (QUERIES * DEPTH)
    assert raw.execute("SELECT state, done, total FROM job").fetchall() == [("done", 200, 200)]
    raw.close()


# The third block's answer is lost with the process, unless its commit had been made.
@pytest.mark.parametrize(
    ("point", "kept"), [("answer:3", 2), ("before-commit:3", 2), ("after-commit:3", 3)]
)
def test_a_judge_killed_at_a_point(pooled: Path, point: str, kept: int, tmp_path: Path) -> None:
    database = copy_of(pooled, tmp_path / "queue.db")
    run_child(point, database, "judge", "run", "p")
    assert_sound(database)
    assert counts(database, "judgment") == {"judgment": kept * DEPTH}
    assert len(asked(database)) == 3
    run_child("none", database, "judge", "run", "p")
    assert_sound(database)
    assert_each_item_judged_once(database)
    assert len(asked(database)) == 3 + QUERIES - kept


def test_a_judge_killed_at_random(pooled: Path, tmp_path: Path) -> None:
    trial = copy_of(pooled, tmp_path / "trial.db")
    longest = seconds_of(trial, "judge", "run", "p")
    database = copy_of(pooled, tmp_path / "queue.db")
    kills, stored = 0, 0
    for seconds in kill_times("judge", longest):
        kills += kill_after(seconds, database, "judge", "run", "p")
        assert_sound(database)
        now = counts(database, "judgment")["judgment"]
        assert now % DEPTH == 0
        assert now >= stored
        stored = now
    run_child("none", database, "judge", "run", "p")
    assert_each_item_judged_once(database)
    # A block is asked about again only when the process died between its answer and its commit.
    assert set(asked(database)) == {f"question {number}" for number in range(QUERIES)}
    assert len(asked(database)) <= QUERIES + kills


def votes_on_disk(database: Path) -> list[str]:
    """Name the levels that were voted, in order."""
    raw = sqlite3.connect(database)
    rows = raw.execute(
        "SELECT level.name FROM review_event AS event"
        " JOIN judgment ON judgment.id = event.judgment_id"
        " JOIN scale_level AS level ON level.id = judgment.level_id"
        " WHERE event.kind = 'vote' ORDER BY event.id"
    )
    names = [str(name) for (name,) in rows.fetchall()]
    raw.close()
    return names


def review(database: Path, point: str, answers: str, seconds: float | None) -> list[str]:
    """Review with answers from a pipe until the kill; give the levels that were called saved."""
    line = command(point, database, "review", "--plain", "--reviewer", "ana")
    child = subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # So that each item is voted on once.
        env=os.environ | {"LABELER_REVIEW_REPEATS": "0"},
    )
    try:
        printed, _ = child.communicate(answers, timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        printed, _ = child.communicate()
    ends = [text.removeprefix("> ") for text in printed.splitlines()]
    return [text.removesuffix(": saved") for text in ends if text.endswith(": saved")]


def answers_from(seed: str) -> str:
    source = random.Random(seed)  # noqa: S311 - repeatable, not secret
    return "".join(f"{source.randint(1, 3)}\n" for _ in range(QUERIES * DEPTH + 1))


@pytest.fixture
def queue(pooled: Path, tmp_path: Path) -> Path:
    """The pool, all of it waiting for people."""
    database = copy_of(pooled, tmp_path / "queue.db")
    run_child("none", database, "route", "p")
    return database


@pytest.mark.parametrize(("point", "kept"), [("before-vote:5", 4), ("after-vote:5", 5)])
def test_a_review_killed_at_a_point(queue: Path, point: str, kept: int) -> None:
    saved = review(queue, point, answers_from(point), None)
    assert_sound(queue)
    stored = votes_on_disk(queue)
    assert len(saved) == 4
    assert len(stored) == kept
    assert stored[:4] == saved


def test_a_review_killed_at_random(queue: Path) -> None:
    begin = time.monotonic()
    told = review(queue, "after-vote:40", answers_from("first"), None)
    longest = 2 * (time.monotonic() - begin)
    for seconds in kill_times("review", longest):
        before = votes_on_disk(queue)
        assert before[: len(told)] == told
        saved = review(queue, "none", answers_from(str(seconds)), seconds)
        assert_sound(queue)
        stored = votes_on_disk(queue)
        # One vote may be on disk whose line was not yet printed; none is printed and lost.
        assert stored[: len(before) + len(saved)] == before + saved
        assert len(stored) <= len(before) + len(saved) + 1
        told = stored
    assert KILLS == 0 or len(told) > 0
    review(queue, "none", answers_from("last"), None)
    assert len(votes_on_disk(queue)) == QUERIES * DEPTH
    assert_sound(queue)
