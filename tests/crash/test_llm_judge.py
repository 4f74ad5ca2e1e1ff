"""A language model's judge that is killed goes on where it stopped, and repays next to nothing."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.crash.killing import assert_sound
from tests.fake_provider.running import Provider, running_provider
from tests.judges.llm.running import Templates, plain_texts
from tests.nursery import Nursery

KILLS = int(os.environ.get("LABELER_KILLS", "3"))
"""How many kills at random times."""
ITEMS = int(os.environ.get("LABELER_ITEMS", "300"))
"""Items of the pool that is killed at random times."""
FEW = 60
"""Items of the pool that is killed at chosen points."""
IN_FLIGHT = 16
KILLED = -signal.SIGKILL
MODEL = "plain"


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider(latency=0.05, keep=0) as provider:
        yield provider


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("templates"))


@dataclass
class Trial:
    """A project that is judged by processes that are killed, against a server that counts."""

    nursery: Nursery
    provider: Provider
    database: Path
    items: int
    lost: list[int] = field(default_factory=list)
    """For each kill: answers that were paid and not yet committed."""

    def _start(self, point: str) -> int:
        words = ["judge", "run", "p", "--judge", f"openai/{MODEL}"]
        words += ["--endpoint", self.provider.address, "--db", str(self.database)]
        words += ["--max-concurrency", str(IN_FLIGHT)]
        return self.nursery.start([words], folder=self.database.parent, point=point)

    def paid(self, *, distinct: bool = False) -> int:
        """Count the answers that the server sent, or the requests that it ever answered."""
        return self.provider.count(MODEL, "paid_distinct" if distinct else "paid_total")

    def stored(self, table: str) -> int:
        raw = sqlite3.connect(self.database)
        count = int(raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        raw.close()
        return count

    def kill(self, point: str, after: tuple[int, float] | None = None) -> None:
        """Let a judge be killed at a point, or so many requests and seconds after its start."""
        before = self.provider.count(MODEL, "requests")
        pid = self._start(point)
        if after is not None:
            requests, seconds = after
            self._until(lambda: self.provider.count(MODEL, "requests") >= before + requests)
            time.sleep(seconds)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        code = self.nursery.wait().code
        assert code == KILLED or (code == 0 and after is not None)
        # What was in flight is answered all the same, and has to be paid.
        self._until(lambda: self.provider.count(MODEL, "in_flight") == 0)
        self.lost.append(self.paid() - self.stored("response") - sum(self.lost))
        assert_sound(self.database)
        self.look()

    def finish(self) -> None:
        """Judge to the end, and see that nothing is missing and nothing there twice."""
        self._start("none")
        ended = self.nursery.wait()
        assert ended.code == 0, ended.err
        assert_sound(self.database)
        self.look()
        assert self.stored("judgment") == self.items
        assert self.stored("attempt") == self.stored("response") == self.items
        raw = sqlite3.connect(self.database)
        job = raw.execute("SELECT state, total, done, failed FROM job").fetchall()
        raw.close()
        assert job == [("done", self.items, self.items, 0)]
        assert self.paid(distinct=True) == self.items
        # Paid twice was only what was not committed when a process was killed.
        assert self.paid() - self.paid(distinct=True) <= sum(self.lost)
        asked = self.provider.count(MODEL, "requests")
        self._start("none")
        assert self.nursery.wait().code == 0
        assert self.provider.count(MODEL, "requests") == asked

    def look(self) -> None:
        """See that each item is judged once at most, by an answer that is in the ledger."""
        raw = sqlite3.connect(self.database)
        rows = raw.execute(
            "SELECT count(*), count(DISTINCT item_id), count(response_id) FROM judgment"
        )
        [(judgments, items, responses)] = rows.fetchall()
        raw.close()
        assert judgments == items == responses

    @staticmethod
    def _until(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < end, "it never came to that"
            time.sleep(0.02)


@contextmanager
def trial_of(
    nursery: Nursery, provider: Provider, templates: Templates, folder: Path, items: int
) -> Iterator[Trial]:
    provider.reset()
    with templates.copy(folder, plain_texts(items, queries=-(-items // 30))):
        pass
    yield Trial(nursery, provider, folder / "queue.db", items)


@pytest.fixture
def trial(
    nursery: Nursery, running: Provider, templates: Templates, tmp_path: Path
) -> Iterator[Trial]:
    with trial_of(nursery, running, templates, tmp_path, FEW) as made:
        yield made


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        # Before the first commit nothing is stored, whatever was answered.
        (["before-commit:1"], 0),
        # A commit that was begun is undone as a whole.
        (["middle:2"], 1),
        (["after-commit:1"], 1),
        (["asked"], 1),
        # In the run that goes on after a kill.
        (["after-commit:1", "before-commit:1"], 1),
    ],
)
def test_a_judge_killed_at_a_point(trial: Trial, points: list[str], kept: int) -> None:
    for point in points:
        trial.kill(point)
    assert (trial.stored("judgment") > 0) == bool(kept)
    assert trial.stored("judgment") < FEW
    # An answer may be there before what was judged by it, and never the other way round.
    assert trial.stored("judgment") <= trial.stored("response")
    for point, lost in zip(points, trial.lost, strict=True):
        assert lost > 0 or point.startswith("after")
    trial.finish()
    assert trial.paid() - FEW == sum(trial.lost)


def test_a_judge_killed_at_random(
    nursery: Nursery, running: Provider, templates: Templates, tmp_path: Path
) -> None:
    source = random.Random("llm judge")  # noqa: S311 - repeatable, not secret
    with trial_of(nursery, running, templates, tmp_path, ITEMS) as trial:
        for _ in range(KILLS):
            stored = trial.stored("judgment")
            # So that the kills fall into all of the run, however fast the machine is.
            most = min(2 * ITEMS // KILLS, ITEMS - stored) - IN_FLIGHT
            trial.kill("none", (source.randint(1, max(most, 1)), source.uniform(0.0, 0.2)))
            assert trial.stored("judgment") >= stored
        trial.finish()
        twice = trial.paid() - ITEMS
        print(f"{len(trial.lost)} kills, not committed at each: {trial.lost}; paid twice: {twice}")
        # At each kill: what was answered since the last commit, and what was in flight.
        assert twice <= sum(trial.lost)
        assert max(trial.lost, default=0) < ITEMS // 2
