"""A judge over a pool: blind blocks, stored answers, resuming, never asked twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.verdict import CUT_PASSAGE, Verdict
from labeler.errors import NotFoundError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.judges.embedding_cache import StoredEmbeddings
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.ledger import Job
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled, write_jsonl


def stored(store: Store) -> int:
    with store.read() as connection:
        counted = sa.select(sa.func.count()).select_from(table(Judgment))
        return int(connection.execute(counted).scalar_one())


def test_a_judge_is_given_whole_queries_in_an_order_that_tells_nothing(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    with store.read() as connection:
        blocks = read_pool_blocks(connection, "p")
    assert blocks.unavailable == 1
    assert sorted(len(block.items) for block in blocks.blocks) == [3, 4, 4]
    with store.read() as connection:
        assert read_pool_blocks(connection, "p") == blocks


def test_answers_are_stored_and_never_asked_for_again(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    hand = HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.7), "c07": (Outcome.ABSTAINED, 0)})
    first = judge(store, hand)
    assert (first.items, first.known, first.outcomes) == (11, 0, {"judged": 10, "abstained": 1})
    assert stored(store) == len(hand.asked) == 11
    again = judge(store, hand)
    assert (again.known, again.outcomes) == (11, {})
    assert len(hand.asked) == 11


def test_a_stopped_run_goes_on_where_it_stopped(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)

    class Stopped(HandJudge):
        def judge(self, block: Block) -> list[Verdict]:
            if len(self.asked) > 3:
                raise KeyboardInterrupt
            return super().judge(block)

    stopped = Stopped()
    with pytest.raises(KeyboardInterrupt):
        judge(store, stopped)
    kept = stored(store)
    assert 0 < kept < 11
    hand = HandJudge()
    report = judge(store, hand)
    assert (report.known, len(hand.asked)) == (kept, 11 - kept)
    assert stored(store) == 11
    with store.read() as connection:
        job = connection.execute(sa.select(table(Job))).one()
    assert (job.state, job.done, job.total) == ("done", 11, 11)


def test_another_setting_of_a_judge_is_asked_anew(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    assert judge(store, HandJudge(version="2")).known == 0
    assert stored(store) == 22


def test_a_changed_query_is_judged_anew_and_the_others_are_not(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    rows: list[dict[str, object]] = [{"_id": "q1", "text": "returns within 60 days"}]
    import_queries(store, [write_jsonl(own_folder / "q.jsonl", rows)], QueryOptions(update=True))
    hand = HandJudge()
    report = judge(store, hand)
    assert report.known == 7
    assert sorted(hand.asked) == ["c01", "c03", "c04", "c08"]


def test_failures_are_told_and_are_no_labels(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    report = judge(store, HandJudge({"c03": (Outcome.FAILED, 0), "c04": (Outcome.REFUSED, 0)}))
    assert report.failed == 2
    assert report.grades == {"not_relevant": 9}


def test_a_cut_passage_is_no_suspicious_one(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    flags = {"c03": (CUT_PASSAGE,), "c07": (CUT_PASSAGE, "repeats_the_query")}
    assert judge(store, HandJudge(flags=flags)).flagged == 1


def test_a_pool_that_is_not_there(store: Store) -> None:
    with store.read() as connection, pytest.raises(NotFoundError, match="no pool 'p'"):
        read_pool_blocks(connection, "p")


def test_progress_is_told(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    told: list[tuple[int, int]] = []
    with store.read() as connection:
        blocks = read_pool_blocks(connection, "p")
    judge_pool(
        store,
        blocks,
        HandJudge(),
        AssessorKind.LLM,
        advance=lambda done, total: told.append((done, total)),
        monotonic=lambda: 0.0,
    )
    assert told[0] == (0, 11)
    assert told[-1] == (11, 11)
    assert told == sorted(told)


def test_embeddings_are_kept_by_model_and_text(store: Store) -> None:
    first, other = StoredEmbeddings(store, "model-1"), StoredEmbeddings(store, "model-2")
    first.put({"a": b"\x00\x01", "b": b"\x02\x03"})
    first.put({"a": b"\xff\xff", "c": b"\x04\x05"})
    assert first.get(["a", "b", "c", "d"]) == {
        "a": b"\x00\x01",
        "b": b"\x02\x03",
        "c": b"\x04\x05",
    }
    assert other.get(["a"]) == {}
