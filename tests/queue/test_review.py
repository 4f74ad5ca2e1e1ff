"""A reviewer's sitting: blind items, votes on disk, undo, skip, disputes, leases."""

from __future__ import annotations

import dataclasses
import io
import re
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind import BlindItem, BlindQuery, PassageContext
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.review_lines import review_lines
from labeler.errors import ConflictError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE, Grade, Outcome
from labeler.queue.claims import LEASE
from labeler.queue.counts import count_queue
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Event, Saved, record_event, shown_digest
from labeler.records import table
from labeler.records.judgments import Basis, Judgment
from labeler.records.queue import Assignment, EventKind, ReviewEvent, VotePurpose
from labeler.store.database import Store
from labeler.store.maintenance import check
from tests.conftest import Ticking
from tests.small import QUERIES, HandJudge, judge, pooled, write_jsonl

FULLY, PARTIALLY, NOT = NATIVE.levels


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait, since no judge was asked."""
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    return store


def bases(store: Store) -> list[Basis]:
    with store.read() as connection:
        return sorted(
            label.basis for label in labels_in_force(connection, items_of_pool(1)).values()
        )


def test_what_a_reviewer_sees_has_no_place_for_anything_that_would_unblind() -> None:
    fields = {
        field.name
        for kind in (BlindItem, BlindQuery, PassageContext)
        for field in dataclasses.fields(kind)
    }
    assert fields == {
        *("item_id", "passage", "context"),
        *("text", "need", "conditions", "language", "domain"),
        *("title", "product", "region", "effective_date", "source"),
    }


def test_a_vote_settles_an_item_and_goes_on(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    first = session.current
    assert first is not None
    assert session.vote(FULLY) is Saved.COUNTED
    assert session.current != first
    with queue.read() as connection:
        label = labels_in_force(connection, items_of_pool(1))[first.claim.item_id]
    assert (label.grade, label.basis) == (Grade.FULLY_RELEVANT, Basis.ONE_REVIEWER)


def test_every_item_is_shown_once_and_then_nothing_is_left(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    seen = []
    while (shown := session.current) is not None:
        seen.append(shown.claim.item_id)
        session.vote(NOT)
    assert len(seen) == len(set(seen)) == 11
    left = session.left()
    assert (left.waiting, left.skipped, left.held) == (0, 0, 0)
    assert all(not finding.problems for finding in check(queue))


def test_cannot_judge_is_a_vote_that_leaves_the_item_unknown(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    shown = session.current
    assert shown is not None
    session.vote(None)
    with queue.read() as connection:
        label = labels_in_force(connection, items_of_pool(1))[shown.claim.item_id]
    assert (label.outcome, label.grade, label.state.value) == (Outcome.ABSTAINED, None, "unknown")
    assert session.current != shown


def test_undo_shows_the_item_again_to_any_depth(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    voted = []
    for level in (FULLY, NOT, PARTIALLY):
        assert session.current is not None
        voted.append(session.current.claim.item_id)
        session.vote(level)
    for item in reversed(voted):
        assert session.undo()
        assert session.current is not None
        assert session.current.claim.item_id == item
    assert bases(queue) == []
    assert not session.undo()
    for _ in voted:
        session.vote(NOT)
    assert len(bases(queue)) == 3
    # Nothing is rewritten: all six votes are in the record.
    with queue.read() as connection:
        assert len(connection.execute(sa.select(table(Judgment))).all()) == 6


def test_undo_reaches_across_sittings(queue: Store) -> None:
    first = ReviewSession(queue, "ana")
    assert first.current is not None
    item = first.current.claim.item_id
    first.vote(FULLY)
    first.close()
    second = ReviewSession(queue, "ana")
    assert second.undo()
    assert second.current is not None
    assert second.current.claim.item_id == item


def test_undo_puts_what_a_policy_had_accepted_in_force_again(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.96)}))
    route_pool(store, "p", UNCALIBRATED)
    with store.read() as connection:
        label = labels_in_force(connection, items_of_pool(1))
    item = next(key for key, one in label.items() if one.grade is Grade.FULLY_RELEVANT)
    session = ReviewSession(store, "ana")
    while session.current is not None and session.current.claim.item_id != item:
        session.skip()
    session.vote(NOT)
    with store.read() as connection:
        assert labels_in_force(connection, items_of_pool(1))[item].grade is Grade.NOT_RELEVANT
    session.undo()
    with store.read() as connection:
        back = labels_in_force(connection, items_of_pool(1))[item]
    assert (back.grade, back.basis) == (Grade.FULLY_RELEVANT, Basis.ACCEPTED)


def test_a_skipped_item_stays_for_others(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    shown = session.current
    assert shown is not None
    session.skip()
    while (current := session.current) is not None:
        assert current.claim.item_id != shown.claim.item_id
        session.vote(NOT)
    assert session.left().skipped == 1
    session.close()
    other = ReviewSession(queue, "bo").current
    assert other is not None
    assert other.claim.item_id == shown.claim.item_id
    again = ReviewSession(queue, "ana", with_skipped=True)
    ReviewSession(queue, "bo").close()
    assert again.current is not None
    assert again.current.claim.item_id == shown.claim.item_id


def test_two_reviewers_never_hold_the_same_item(queue: Store) -> None:
    ana, bo = ReviewSession(queue, "ana"), ReviewSession(queue, "bo")
    seen: set[int] = set()
    while True:
        progressed = False
        for session in (ana, bo):
            if session.current is not None:
                assert session.current.claim.item_id not in seen
                seen.add(session.current.claim.item_id)
                session.vote(NOT)
                progressed = True
        if not progressed:
            break
    assert len(seen) == 11
    assert bases(queue) == [Basis.ONE_REVIEWER] * 11


def test_an_empty_queue_says_what_others_hold(queue: Store) -> None:
    ana = ReviewSession(queue, "ana")
    assert ana.current is not None
    bo = ReviewSession(queue, "bo")
    while bo.current is not None:
        bo.vote(NOT)
    left = bo.left()
    assert left.waiting == 0
    assert left.held == 3
    assert left.next_free is not None


def test_a_lease_that_ran_out_costs_nothing_while_nobody_else_voted(
    queue: Store, clock: Ticking
) -> None:
    session = ReviewSession(queue, "ana")
    assert session.current is not None
    clock.advance((LEASE + timedelta(minutes=1)).total_seconds())
    assert session.vote(FULLY) is Saved.COUNTED


def test_a_vote_after_somebody_else_voted_is_kept_and_does_not_count(
    queue: Store, clock: Ticking
) -> None:
    ana = ReviewSession(queue, "ana")
    shown = ana.current
    assert shown is not None
    clock.advance((LEASE + timedelta(minutes=1)).total_seconds())
    bo = ReviewSession(queue, "bo")
    assert bo.current is not None
    assert bo.current.claim.item_id == shown.claim.item_id
    bo.vote(NOT)
    assert ana.vote(FULLY) is Saved.EXTRA
    with queue.read() as connection:
        label = labels_in_force(connection, items_of_pool(1))[shown.claim.item_id]
    assert (label.grade, label.basis) == (Grade.NOT_RELEVANT, Basis.ONE_REVIEWER)


def test_the_same_event_counts_once(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    shown = session.current
    assert shown is not None
    event = Event("key-1", EventKind.VOTE, shown.block, FULLY)
    assert record_event(queue, 1, shown.claim, event) is Saved.COUNTED
    assert record_event(queue, 1, shown.claim, event) is Saved.KNOWN
    with queue.read() as connection:
        assert len(connection.execute(sa.select(table(ReviewEvent))).all()) == 1


def test_a_vote_on_what_changed_meanwhile_is_refused(queue: Store, own_folder: Path) -> None:
    session = ReviewSession(queue, "ana")
    shown = session.current
    assert shown is not None
    key = next(key for key, text in QUERIES.items() if text == shown.block.query.text)
    changed: list[dict[str, object]] = [{"_id": key, "text": "something else"}]
    import_queries(queue, [write_jsonl(own_folder / "q.jsonl", changed)], QueryOptions(update=True))
    with pytest.raises(ConflictError, match="changed while it was on the screen"):
        session.vote(FULLY)
    assert session.current is not None
    assert session.current.block.query.text == "something else"
    assert session.vote(FULLY) is Saved.COUNTED


def test_a_contradiction_opens_a_dispute_that_a_third_person_settles(
    store: Store, own_folder: Path
) -> None:
    from labeler.imports.labels import LabelOptions, import_labels

    pooled(store, own_folder)
    rows: list[dict[str, object]] = [
        {"query_id": "q1", "doc_id": "c03", "rater": rater, "label": label}
        for rater, label in (("ana", "fully"), ("bo", "not"))
    ]
    report = import_labels(store, [write_jsonl(own_folder / "l.jsonl", rows)], LabelOptions())
    assert (report.counts["settled"], report.counts["disputed"]) == (0, 1)
    judge(store, HandJudge())
    assert route_pool(store, "p", UNCALIBRATED).reasons == {"people_disagree": 1}
    with store.work() as connection:
        slot = table(Assignment)
        connection.execute(sa.delete(slot).where(slot.c.purpose == VotePurpose.AUDIT.value))
    assert ReviewSession(store, "ana").current is None
    assert ReviewSession(store, "bo").current is None
    cy = ReviewSession(store, "cy")
    assert cy.current is not None
    cy.vote(PARTIALLY)
    assert Basis.ADJUDICATION in bases(store)
    with store.read() as connection:
        assert count_queue(connection).by_status == {"open": 10, "settled": 1}
    assert cy.undo()
    assert Basis.ADJUDICATION not in bases(store)
    with store.read() as connection:
        assert count_queue(connection).by_status == {"open": 10, "disputed": 1}


def test_the_shown_digest_tells_texts_and_rubrics_apart(queue: Store) -> None:
    shown = ReviewSession(queue, "ana").current
    assert shown is not None
    same = dataclasses.replace(shown.block)
    item = dataclasses.replace(shown.item, passage="another text")
    other = dataclasses.replace(shown.block, items=(item,))
    assert shown_digest(same) == shown_digest(shown.block) != shown_digest(other)


def run_lines(store: Store, text: str, *, limit: int | None = None) -> str:
    target = io.StringIO()
    session = ReviewSession(store, "ana", limit=limit)
    review_lines(session, io.StringIO(text), target)
    session.close()
    return target.getvalue()


def test_the_line_mode_takes_votes_and_commands(queue: Store) -> None:
    told = run_lines(queue, "1\n3\nx\nn hello\nbogus\n2\nu\n4\nr\nq\n")
    assert "not_relevant: saved" in told
    assert "fully_relevant: saved" in told
    assert "skipped: it stays in the queue" in told
    assert "note saved" in told
    assert "answers are 1, 2, 3, 4" in told
    assert "the last vote is taken back" in told
    assert "cannot_judge: saved" in told
    assert "Words in common are no evidence" in told
    assert re.search(r"> 4 votes saved, 1 skipped, 1 taken back; [0-9.]+ s an item\n$", told)
    assert len(bases(queue)) == 3


def test_the_line_mode_tells_its_keys_at_first_and_when_asked(queue: Store) -> None:
    told = run_lines(queue, "1\n2\n3\nq\n")
    assert told.count("x skip") == 1
    assert told.count("4 can't judge   ? keys") == 4
    assert told.index("x skip") < told.index("not_relevant: saved")
    assert run_lines(queue, "1\n?\nq\n").count("x skip") == 2


def test_the_line_mode_ends_at_its_limit_and_at_the_end_of_input(queue: Store) -> None:
    told = run_lines(queue, "1\n1\n1\n", limit=2)
    assert re.search(r"\n2 votes saved, 0 skipped, 0 taken back; [0-9.]+ s an item\n$", told)
    told = run_lines(queue, "1\n")
    assert re.search(r"\n1 vote saved, 0 skipped, 0 taken back; [0-9.]+ s an item\n$", told)


def test_nothing_of_a_passage_reaches_the_terminal_as_an_escape_sequence(
    store: Store, own_folder: Path
) -> None:
    from labeler.assessment.rubric import default_rubric
    from labeler.imports.corpus import CorpusOptions, import_corpus
    from labeler.imports.runs import RunOptions, import_runs
    from labeler.pools.create import PoolOptions, create_pool
    from tests.small import write_run

    hostile = "red \x1b[31mtext\x1b[0m \x07 \x1b]0;owned\x07 \u202eabc \x9b31m"
    corpus = write_jsonl(own_folder / "c.jsonl", [{"_id": "d", "text": hostile, "title": hostile}])
    import_corpus(store, [corpus], CorpusOptions(snapshot="s"))
    query: list[dict[str, object]] = [{"_id": "q", "text": hostile}]
    import_queries(store, [write_jsonl(own_folder / "q.jsonl", query)], QueryOptions())
    import_runs(store, [write_run(own_folder / "r.run", "r", {"q": ["d"]})], RunOptions())
    create_pool(store, "p", PoolOptions(depth=1, rubric=default_rubric()))
    route_pool(store, "p", UNCALIBRATED)
    told = run_lines(store, "q\n")
    assert "text" in told
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(told)
