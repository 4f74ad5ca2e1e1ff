"""Generated questions in front of people: which wait, and what an event changes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.question_events import (
    QuestionAnswer,
    QuestionSaved,
    append_question_event,
    question_verdicts,
)
from labeler.assessment.questions import count_waiting_questions, waiting_questions
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.providers.ledger import job_key
from labeler.records import table
from labeler.records.corpus import Chunk, SnapshotChunk
from labeler.records.queries import Query
from labeler.records.questions import (
    Question,
    QuestionDraw,
    QuestionEventKind,
    QuestionQuery,
    QuestionSource,
)
from labeler.records.scales import AssessorKind
from labeler.records.splits import SplitGroup
from labeler.sealing.split_in_force import find_split
from labeler.store.bulk import intern
from labeler.store.database import Store
from labeler.store.registry import assessor_key, store_texts
from tests.synthesis.projects import fill, words

ACCEPT, EDIT = QuestionEventKind.ACCEPT, QuestionEventKind.EDIT
REJECT, SKIP, UNDO = QuestionEventKind.REJECT, QuestionEventKind.SKIP, QuestionEventKind.UNDO


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Store:
    """Three questions from one document, two of them drawn for people; two reviewers."""
    fill(store, tmp_path, {"d": [words("d", 30)]}, {0: ("train", ["d"], [])})
    with store.write("test") as tx:
        split = find_split(tx.connection)
        group = tx.connection.execute(sa.select(table(SplitGroup).c.id)).scalar_one()
        chunk, there = table(Chunk), table(SnapshotChunk)
        found = tx.connection.execute(
            sa.select(chunk.c.id, there.c.document_id, there.c.text_id).join(
                there, there.c.chunk_id == chunk.c.id
            )
        ).one()
        model = assessor_key(tx, AssessorKind.LLM, "m+generate", "x")
        for name in ("ann", "bo"):
            assessor_key(tx, AssessorKind.PERSON, name)
        job = job_key(
            tx.connection,
            kind="generate",
            digest="j",
            pool_id=None,
            assessor_id=model,
            at=tx.clock(),
        )
        texts = store_texts(tx.connection, [f"question {n}?" for n in range(3)])
        for number in range(3):
            row = sa.insert(table(Question)).values(
                digest=f"digest {number}",
                split_id=split.id,
                group_id=group,
                part="train",
                kind="factual",
                text_id=texts[f"question {number}?"],
                domain="support" if number else "other",
                conditions="{}",
                assessor_id=model,
                job_id=job,
                prompt_digest="p",
                request_digest=f"r{number}",
                sample=0,
                made_at=datetime(2026, 7, 1, tzinfo=UTC),
                revision_id=tx.revision_id,
            )
            key = tx.connection.execute(row.returning(table(Question).c.id)).scalar_one()
            tx.connection.execute(
                sa.insert(table(QuestionSource)).values(
                    question_id=key,
                    place=0,
                    document_id=found.document_id,
                    chunk_id=found.id,
                    text_id=found.text_id,
                    window_start=0,
                    window_end=8,
                )
            )
            if number < 2:
                tx.connection.execute(
                    sa.insert(table(QuestionDraw)).values(
                        question_id=key,
                        stratum="accepted",
                        probability=0.5,
                        revision_id=tx.revision_id,
                    )
                )
    return store


def person(store: Store, name: str = "ann") -> int:
    with store.write("test") as tx:
        return assessor_key(tx, AssessorKind.PERSON, name)


def waiting(store: Store, **only: object) -> list[str]:
    with store.read() as connection:
        found = waiting_questions(connection, **only)  # type: ignore[arg-type]  # given by name
        assert count_waiting_questions(connection, **only) == len(found)  # type: ignore[arg-type]
        return [one.text for one in found]


def number(store: Store, text: str) -> int:
    with store.read() as connection:
        return next(one.question_id for one in waiting_questions(connection) if one.text == text)


def do(store: Store, answer: QuestionAnswer, name: str = "ann") -> QuestionSaved:
    who = person(store, name)
    with store.write("test") as tx:
        return append_question_event(tx, who, answer)


def verdict(store: Store, key: int) -> tuple[str, str | None] | None:
    with store.read() as connection:
        found = question_verdicts(connection, [key]).get(key)
    return None if found is None else (found.kind.value, found.text)


def test_what_was_drawn_waits_with_its_evidence(project: Store) -> None:
    assert waiting(project) == ["question 0?", "question 1?"]
    assert waiting(project, domain="support") == ["question 1?"]
    assert waiting(project, language="en") == []
    with project.read() as connection:
        one = waiting_questions(connection)[0]
    assert one.sources[0].window == (0, 8)
    assert one.sources[0].text == words("d", 30)


def test_a_verdict_takes_a_question_away_and_an_undo_brings_it_back(project: Store) -> None:
    key = number(project, "question 0?")
    assert do(project, QuestionAnswer("e1", key, ACCEPT)) is QuestionSaved.SAVED
    assert waiting(project) == ["question 1?"]
    assert verdict(project, key) == ("accept", "question 0?")
    do(project, QuestionAnswer("e2", key, UNDO, undoes="e1"))
    assert waiting(project) == ["question 0?", "question 1?"]
    assert verdict(project, key) is None
    with pytest.raises(ConflictError):
        do(project, QuestionAnswer("e3", key, UNDO, undoes="e1"))


def test_the_same_key_again_changes_nothing(project: Store) -> None:
    key = number(project, "question 0?")
    do(project, QuestionAnswer("e1", key, REJECT, note="vague"))
    assert do(project, QuestionAnswer("e1", key, ACCEPT)) is QuestionSaved.KNOWN
    assert verdict(project, key) == ("reject", None)


def test_an_edit_keeps_the_question_and_gives_another_wording(project: Store) -> None:
    key = number(project, "question 0?")
    do(project, QuestionAnswer("e1", key, EDIT, text="  a better  question? "))
    assert verdict(project, key) == ("edit", "a better question?")
    with project.read() as connection:
        own = sa.select(table(Question).c.text_id).where(table(Question).c.id == key)
        assert connection.execute(own).scalar_one() is not None


@pytest.mark.parametrize("text", ["", "   ", "question 0?"])
def test_an_edit_that_changes_nothing_is_refused(project: Store, text: str) -> None:
    key = number(project, "question 0?")
    with pytest.raises(UsageError):
        do(project, QuestionAnswer("e1", key, EDIT, text=text))


def test_a_skip_hides_a_question_from_that_person_alone(project: Store) -> None:
    key = number(project, "question 0?")
    do(project, QuestionAnswer("e1", key, SKIP))
    assert waiting(project, assessor_id=person(project)) == ["question 1?"]
    assert waiting(project, assessor_id=person(project, "bo")) == ["question 0?", "question 1?"]
    assert verdict(project, key) is None


def test_who_comes_late_is_kept_and_the_first_verdict_stands(project: Store) -> None:
    key = number(project, "question 0?")
    do(project, QuestionAnswer("e1", key, ACCEPT))
    late = do(project, QuestionAnswer("e2", key, REJECT), "bo")
    assert late is QuestionSaved.LATE
    assert verdict(project, key) == ("accept", "question 0?")
    do(project, QuestionAnswer("e3", key, UNDO, undoes="e1"))
    assert verdict(project, key) == ("reject", None)


def test_nobody_undoes_what_another_did(project: Store) -> None:
    key = number(project, "question 0?")
    do(project, QuestionAnswer("e1", key, ACCEPT))
    with pytest.raises(NotFoundError):
        do(project, QuestionAnswer("e2", key, UNDO, undoes="e1"), "bo")


def test_what_became_a_query_is_settled(project: Store) -> None:
    key = number(project, "question 0?")
    with project.write("test") as tx:
        query = intern(tx.connection, table(Query), ["gen-1"])["gen-1"]
        text = store_texts(tx.connection, ["question 0?"])["question 0?"]
        tx.connection.execute(
            sa.insert(table(QuestionQuery)).values(
                question_id=key, query_id=query, text_id=text, revision_id=tx.revision_id
            )
        )
    assert waiting(project) == ["question 1?"]
    with pytest.raises(ConflictError):
        do(project, QuestionAnswer("e1", key, REJECT))


def test_an_unknown_question_is_said_to_be_so(project: Store) -> None:
    with pytest.raises(NotFoundError):
        do(project, QuestionAnswer("e1", 999, ACCEPT))
