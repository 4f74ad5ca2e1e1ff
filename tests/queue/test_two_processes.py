"""Two reviewers in two processes: no vote is lost, and each item has one that counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.judgments import Decision, Judgment
from labeler.records.queue import Assignment, AssignmentState, EventKind, ReviewEvent
from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.maintenance import check
from labeler.store.projections import judgments_in_force
from tests.small import write_jsonl, write_run

QUERIES, DEPTH = int(os.environ.get("LABELER_QUERIES", "40")), 5
ITEMS = QUERIES * DEPTH


@pytest.fixture
def queue(location: Location, tmp_path: Path) -> Location:
    """200 items, or as many as are asked for, that wait for one vote each."""
    names = [f"c{number:02d}" for number in range(10)]
    texts: list[dict[str, object]] = [{"_id": name, "text": f"passage {name}"} for name in names]
    queries: list[dict[str, object]] = [
        {"_id": f"q{number:02d}", "text": f"question {number}"} for number in range(QUERIES)
    ]
    results = {f"q{number:02d}": names[number % 5 :][:DEPTH] for number in range(QUERIES)}
    with open_store(location, create=True) as store:
        import_corpus(store, [write_jsonl(tmp_path / "corpus.jsonl", texts)], CorpusOptions())
        import_queries(store, [write_jsonl(tmp_path / "queries.jsonl", queries)], QueryOptions())
        import_runs(store, [write_run(tmp_path / "one.run", "one", results)], RunOptions())
        create_pool(store, "p", PoolOptions(depth=DEPTH, rubric=default_rubric()))
        assert route_pool(store, "p", UNCALIBRATED).to_people == ITEMS
    return location


def both_vote(location: Location, lease_seconds: float) -> list[list[tuple[str, int]]]:
    """Let two processes work off the queue; give what each says became of its votes."""
    script = str(Path(__file__).with_name("voter.py"))
    processes = [
        subprocess.Popen(
            [sys.executable, script, location.address, name, str(lease_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("ana", "bo")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = []
    for process in processes:
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        lines = [line.split() for line in printed.splitlines()]
        told.append([(became, int(item)) for became, item in lines])
    return told


def assert_one_counting_vote_each(
    location: Location, told: list[list[tuple[str, int]]]
) -> Counter[str]:
    """Compare what the processes were told with what is stored; count what became of the votes."""
    votes = [vote for of_one in told for vote in of_one]
    judgment, assignment = table(Judgment), table(Assignment)
    with open_store(location) as store:
        with store.read() as connection:
            stored = connection.execute(sa.select(judgment.c.item_id)).scalars().all()
            in_force = connection.execute(
                sa.select(judgment.c.item_id).where(judgments_in_force())
            ).scalars()
            counting = Counter(in_force)
            events = sa.select(sa.func.count()).where(
                table(ReviewEvent).c.kind == EventKind.VOTE.value
            )
            assert connection.execute(events).scalar_one() == len(votes)
            states = connection.execute(sa.select(assignment.c.state)).scalars().all()
            decided = connection.execute(sa.select(table(Decision).c.item_id)).scalars().all()
        assert all(not finding.problems for finding in check(store))
    assert Counter(stored) == Counter(item for _, item in votes)
    assert counting == Counter(item for became, item in votes if became == "counted")
    assert len(counting) == ITEMS
    assert set(counting.values()) == {1}
    assert states == [AssignmentState.DONE.value] * ITEMS
    assert sorted(decided) == sorted(counting)
    return Counter(became for became, _ in votes)


def test_two_processes_share_a_queue(queue: Location) -> None:
    told = both_vote(queue, 600)
    assert assert_one_counting_vote_each(queue, told) == {"counted": ITEMS}
    assert all(told)


def test_leases_that_end_at_once_cost_no_vote(queue: Location) -> None:
    """Both take the same items again and again: what comes second is kept as extra."""
    told = both_vote(queue, 0)
    became = assert_one_counting_vote_each(queue, told)
    assert became["counted"] == ITEMS
    assert set(became) <= {"counted", "extra"}
