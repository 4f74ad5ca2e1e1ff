"""The ledger: every try is written, every answer is found again, in the order they came in."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from labeler.providers.chat import AnswerMode, AnswerShape, ChatRequest, Ended, Try
from labeler.providers.ledger import (
    KnownAnswer,
    answers_to,
    job_digest,
    job_key,
    note_progress,
    store_tries,
)
from labeler.records import Record, table
from labeler.records.ledger import Attempt, Job, JobState, Response
from labeler.records.project import Text, Tombstone
from labeler.store.database import Store, open_store
from labeler.store.location import Location

AT = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


class Answer(BaseModel):
    reason: str = ""
    level: Literal["0", "1", "2"]


REQUEST = ChatRequest("m", (), AnswerShape(Answer, codes=("0", "1", "2")), AnswerMode.TEXT)


def answered(raw: str, *, outcome: str = "answered", **more: Any) -> Try:
    return Try(AT, outcome, raw=raw, **more)


def lost(failure: str = "throttled (HTTP 429): busy") -> Try:
    return Try(AT, "failed", failure=failure)


def begin(store: Store, name: str = "job", settings_: Mapping[str, Any] | None = None) -> int:
    with store.work() as connection:
        return job_key(
            connection,
            kind="judge",
            digest=job_digest(name),
            pool_id=None,
            assessor_id=None,
            settings=settings_,
            at=AT,
        )


def write(store: Store, job: int, *tried: tuple[str, Sequence[Try]]) -> list[int | None]:
    with store.write("test") as tx:
        return store_tries(tx, job, tried)


def raws(store: Store, *digests: str) -> dict[str, list[str]]:
    with store.read() as connection:
        found = answers_to(connection, digests)
    return {digest: [one.raw for one in answers] for digest, answers in found.items()}


def rows(store: Store, kind: type[Record], *columns: str) -> list[tuple[Any, ...]]:
    into = table(kind)
    statement = sa.select(*(into.c[name] for name in columns)).order_by(into.c.id)
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(statement)]


def test_each_try_is_a_row_and_each_answer_another(store: Store) -> None:
    job = begin(store)
    last = write(
        store,
        job,
        ("a", [lost(), answered("x", outcome="reasked"), answered("{1}", cost=0.25)]),
        ("b", [lost(), lost("server_error")]),
        ("c", [answered("", outcome="failed", failure="empty_response")]),
    )
    assert rows(store, Attempt, "request_digest", "number", "outcome", "failure") == [
        ("a", 0, "failed", "throttled (HTTP 429): busy"),
        ("a", 1, "reasked", None),
        ("a", 2, "answered", None),
        ("b", 0, "failed", "throttled (HTTP 429): busy"),
        ("b", 1, "failed", "server_error"),
        ("c", 0, "failed", "empty_response"),
    ]
    keys = [key for (key,) in rows(store, Response, "id")]
    assert len(keys) == 3
    assert last == [keys[1], None, keys[2]]
    assert raws(store, "a", "b", "c", "d") == {"a": ["{1}"]}


def test_what_is_unknown_is_null_and_what_is_known_is_kept(sqlite_store: Store) -> None:
    known: dict[str, Any] = {
        "model": "m-2026",
        "fingerprint": "fp",
        "prompt_tokens": 12,
        "completion_tokens": 0,
        "cost": 0.0,
        "latency_ms": 1.5,
        "finish_reason": "stop",
    }
    write(sqlite_store, begin(sqlite_store), ("a", [answered("x"), answered("y", **known)]))
    assert rows(sqlite_store, Response, *known) == [(None,) * len(known), tuple(known.values())]


def test_numbers_of_tries_go_on_and_each_job_has_its_own(sqlite_store: Store) -> None:
    one, other = begin(sqlite_store, "one"), begin(sqlite_store, "other")
    write(sqlite_store, one, ("a", [lost(), lost()]), ("b", [lost()]), ("a", [lost()]))
    write(sqlite_store, one, ("a", [answered("x")]))
    write(sqlite_store, other, ("a", [lost()]))
    assert rows(sqlite_store, Attempt, "job_id", "request_digest", "number") == [
        (one, "a", 0),
        (one, "a", 1),
        (one, "b", 0),
        (one, "a", 2),
        (one, "a", 3),
        (other, "a", 0),
    ]


def test_answers_of_all_jobs_are_found_in_their_order(store: Store) -> None:
    one, other = begin(store, "one"), begin(store, "other")
    write(store, one, ("a", [answered("first")]))
    write(store, other, ("a", [answered("second")]), ("b", [answered("elsewhere")]))
    write(store, one, ("a", [lost(), answered("first")]))
    assert raws(store, "a") == {"a": ["first", "second", "first"]}
    assert raws(store) == {}


def test_log_probabilities_are_kept(sqlite_store: Store) -> None:
    values = {"2": -0.1, "0": -2.5, "?": -9.0}
    write(sqlite_store, begin(sqlite_store), ("a", [answered("x"), answered("y", logprobs=values)]))
    with sqlite_store.read() as connection:
        found = answers_to(connection, ["a"])["a"]
    assert [dict(one.logprobs) for one in found] == [{}, values]


def test_an_answer_that_was_erased_keeps_its_place(store: Store) -> None:
    write(store, begin(store), ("a", [answered('{"level": "1"}'), answered('{"level": "2"}')]))
    with store.write("erase") as tx:
        text, tombstone = table(Text), table(Tombstone)
        key = tx.connection.execute(
            sa.select(text.c.id).where(text.c.body == '{"level": "1"}')
        ).scalar_one()
        tx.connection.execute(
            sa.insert(tombstone).values(text_id=key, reason="asked", revision_id=tx.revision_id)
        )
        tx.connection.execute(sa.update(text).where(text.c.id == key).values(body=None))
    with store.read() as connection:
        first, second = answers_to(connection, ["a"])["a"]
    assert first.reply(REQUEST) is None
    reply = second.reply(REQUEST)
    assert reply is not None
    assert reply.fields["level"] == "2"


def test_an_empty_batch_of_tries_leaves_no_trace(sqlite_store: Store) -> None:
    job = begin(sqlite_store)
    before = rows(sqlite_store, Job, "id")
    with sqlite_store.write("test") as tx:
        assert store_tries(tx, job, []) == []
        assert store_tries(tx, job, [("a", [])]) == [None]
        assert tx.made_revision is None
    assert rows(sqlite_store, Attempt, "id") == []
    assert rows(sqlite_store, Job, "id") == before


def test_a_job_is_found_again_with_the_settings_it_was_begun_with(sqlite_store: Store) -> None:
    first = begin(sqlite_store, "one", {"b": 1, "a": [2]})
    assert begin(sqlite_store, "one", {"b": 2}) == first
    assert begin(sqlite_store, "two") != first
    assert rows(sqlite_store, Job, "settings", "state") == [
        ('{"a": [2], "b": 1}', JobState.RUNNING),
        (None, JobState.RUNNING),
    ]


def test_progress_is_noted(sqlite_store: Store) -> None:
    job, other = begin(sqlite_store, "one"), begin(sqlite_store, "other")
    later = AT + timedelta(hours=1)
    with sqlite_store.work() as connection:
        note_progress(connection, job, state=JobState.STOPPED, total=9, done=5, failed=2, at=later)
    columns = ("id", "state", "total", "done", "failed", "started_at", "updated_at")
    assert rows(sqlite_store, Job, *columns) == [
        (job, JobState.STOPPED, 9, 5, 2, AT, later),
        (other, JobState.RUNNING, 0, 0, 0, AT, AT),
    ]


def test_parts_of_a_digest_do_not_run_together() -> None:
    parts = [("a", "b"), ("ab",), ("a", "", "b"), ("b", "a"), ("a", "b", "")]
    assert len({job_digest(*one) for one in parts}) == len(parts)


# -- reading an answer again


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        ('{"reason": "x", "level": "1"}', "1"),
        ('Here it is:\n```json\n{"reason": "x", "level": "1"}\n```', "1"),
        ('<think>2?</think>{"level": "0"}', "0"),
        ("level: 2", "2"),
        ('{"level": "9"}', None),
        ('{"level": "1"', None),
        ('{"level": "1"} {"level": "2"}', None),
        ("", None),
    ],
)
def test_an_answer_is_read_as_it_was_when_it_came(raw: str, level: str | None) -> None:
    reply = KnownAnswer(1, raw, {"1": -0.1}).reply(REQUEST)
    if level is None:
        assert reply is None
        return
    assert reply is not None
    assert reply.ended is Ended.ANSWERED
    assert reply.fields["level"] == level
    assert reply.tries == ()
    assert reply.logprobs == {"1": -0.1}


# -- any order of tries

TRIES = st.lists(
    st.sampled_from(["answered", "reasked", "failed", "refused", "truncated", "lost"]), max_size=4
)
CALLS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), TRIES), max_size=4), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A database for all examples; each has digests of its own."""
    path = tmp_path_factory.mktemp("ledger") / "queue.db"
    with open_store(Location(str(path)), create=True) as opened:
        yield opened


EXAMPLES = itertools.count()


@given(CALLS)
@settings(max_examples=40, deadline=None)
def test_whatever_is_stored_is_read_in_its_order(
    one_store: Store, calls: list[list[tuple[str, list[str]]]]
) -> None:
    example = next(EXAMPLES)
    job = begin(one_store)
    expected: dict[str, list[str]] = {}
    sent: Counter[str] = Counter()
    for call in calls:
        tried = []
        for name, outcomes in call:
            digest = f"{example}{name}"
            tries = []
            for outcome in outcomes:
                raw = f"answer {digest} {sent[digest]}"
                sent[digest] += 1
                tries.append(lost() if outcome == "lost" else answered(raw, outcome=outcome))
                if outcome == "answered":
                    expected.setdefault(digest, []).append(raw)
            tried.append((digest, tries))
        write(one_store, job, *tried)
    digests = [f"{example}{name}" for name in "abc"]
    assert raws(one_store, *digests) == expected
    attempts = rows(one_store, Attempt, "request_digest", "number")
    for digest in digests:
        numbers = [number for one, number in attempts if one == digest]
        assert numbers == list(range(sent[digest]))
