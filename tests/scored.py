"""A pool with calibrated scores, and people who vote as they are told: for tests of acceptance."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from labeler.assessment.item_scores import ItemScores, add_scores
from labeler.assessment.reading import blocks_of
from labeler.assessment.rubric import default_rubric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import NATIVE, Grade
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.claims import Claim
from labeler.queue.votes import Event, record_event
from labeler.records import table
from labeler.records.pools import Candidate
from labeler.records.queue import Assignment, AssignmentState, EventKind, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.records.scores import Calibration
from labeler.store.database import Store
from labeler.store.registry import assessor_key, pool_named
from tests.small import HandJudge, judge, write_jsonl, write_run

NOT = Grade.NOT_RELEVANT


def judged_pool(store: Store, folder: Path, *, queries: int = 4, passages: int = 100) -> list[int]:
    """Import, pool as 'p' and judge so many passages for each query; give the items in order."""
    names = [f"p{query:02d}x{number:03d}" for query in range(queries) for number in range(passages)]
    rows: list[dict[str, object]] = [
        {"_id": name, "text": f"passage {name} of the handbook"} for name in names
    ]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    asked: list[dict[str, object]] = [
        {"_id": f"q{query:02d}", "text": f"question number {query}"} for query in range(queries)
    ]
    import_queries(store, [write_jsonl(folder / "q.jsonl", asked)], QueryOptions())
    results = {
        f"q{query:02d}": names[query * passages : (query + 1) * passages]
        for query in range(queries)
    }
    import_runs(store, [write_run(folder / "one.run", "one", results)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=passages, rubric=default_rubric()))
    judge(store, HandJudge())
    candidate = table(Candidate)
    with store.read() as connection:
        statement = sa.select(candidate.c.item_id).order_by(candidate.c.item_id)
        return [int(item) for item in connection.execute(statement).scalars()]


def score(
    store: Store,
    items: list[int],
    not_relevant: Callable[[int], float],
    *,
    calibration: Calibration = Calibration.CALIBRATED,
    name: str = "by hand",
) -> ItemScores:
    """Store scores: the probability that the item at a place is not relevant; else it is fully."""
    probabilities = np.array(
        [[not_relevant(place), 0.0, 1 - not_relevant(place)] for place in range(len(items))],
        dtype=np.float64,
    )
    scores = ItemScores(
        name=name,
        calibration=calibration,
        model="{}",
        labels=200,
        queries=10,
        item_ids=np.array(items, dtype=np.int64),
        probabilities=probabilities,
    )
    with store.write("calibrate p") as tx:
        add_scores(tx, int(pool_named(tx.connection, "p").id), scores)
    return scores


def wanted_votes(store: Store) -> dict[int, str]:
    """Give the purpose of the waiting vote of each item; of several the first."""
    slot = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(slot.c.item_id, slot.c.purpose)
            .where(slot.c.state == AssignmentState.WAITING.value)
            .order_by(slot.c.id.desc())
        )
        return {int(item): str(purpose) for item, purpose in rows}


def vote(
    store: Store, items: Collection[int], grade_of: Callable[[int], Grade | None], who: str = "ana"
) -> None:
    """Have a person vote on waiting items."""
    slot = table(Assignment)
    with store.write("review start", actor=who) as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, who)
    for item in sorted(items):
        with store.read() as connection:
            block = blocks_of(connection, [item], seed="")[0]
            row = connection.execute(
                sa.select(slot)
                .where(slot.c.item_id == item, slot.c.state == AssignmentState.WAITING.value)
                .order_by(slot.c.id)
            ).first()
        assert row is not None
        grade = grade_of(item)
        level = None if grade is None else NATIVE.level_for(grade)
        event = Event(str(uuid.uuid4()), EventKind.VOTE, block, level=level)
        claim = Claim(row.id, row.task_id, item, VotePurpose(row.purpose))
        record_event(store, reviewer, claim, event)
