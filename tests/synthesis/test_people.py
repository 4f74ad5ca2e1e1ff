"""What people say decides what becomes a query, and what they write is filtered like the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.question_events import QuestionAnswer, append_question_event
from labeler.records import table
from labeler.records.project import Text
from labeler.records.questions import QuestionEventKind, QuestionQuery
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from labeler.synthesis.admission import admit
from labeler.synthesis.reading import QuestionState, Stands, question_states
from labeler.synthesis.run import generate
from labeler.synthesis.setup import lay_ground
from tests.fake_provider.running import Provider, running_provider
from tests.synthesis.projects import asking, plain_project

pytestmark = pytest.mark.usefixtures("ready_workers")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


def states(store: Store) -> list[QuestionState]:
    with store.read() as connection:
        return question_states(connection)


def say(store: Store, number: int, kind: QuestionEventKind, text: str = "") -> None:
    with store.write("test") as tx:
        who = assessor_key(tx, AssessorKind.PERSON, "ann")
        append_question_event(tx, who, QuestionAnswer(f"e{number}{text}", number, kind, text=text))


def admitted(store: Store) -> list[tuple[int, str]]:
    with store.read() as connection:
        ground = lay_ground(connection, None, None, None)
    return admit(store, ground).refused


def queries(store: Store) -> set[str]:
    became, text = table(QuestionQuery), table(Text)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(text.c.body).join(became, became.c.text_id == text.c.id)
        )
        return {str(body) for (body,) in rows}


def test_people_decide_and_a_rejected_question_is_replaced(
    sqlite_store: Store,
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    plain_project(sqlite_store, tmp_path)
    options = asking(provider.address, per_domain=4, review_share=1.0)

    def run() -> None:
        with sqlite_store.read() as connection:
            ground = lay_ground(connection, None, None, None)
        assert generate(sqlite_store, ground, options).accepted == 4

    run()
    first, second, third, fourth = states(sqlite_store)
    assert {one.stands for one in states(sqlite_store)} == {Stands.WAITING}
    assert admitted(sqlite_store) == []
    assert queries(sqlite_store) == set()

    say(sqlite_store, first.question_id, QuestionEventKind.ACCEPT)
    say(sqlite_store, second.question_id, QuestionEventKind.EDIT, "When does the blue gate close?")
    say(sqlite_store, third.question_id, QuestionEventKind.EDIT, str(first.text).upper())
    say(sqlite_store, fourth.question_id, QuestionEventKind.REJECT)
    refused = admitted(sqlite_store)
    assert [number for number, _ in refused] == [third.question_id]
    assert "duplicate" in refused[0][1]
    assert queries(sqlite_store) == {first.text, "When does the blue gate close?"}

    run()  # a rejected one no longer counts, so another is made
    assert [one.stands for one in states(sqlite_store)].count(Stands.REJECTED) == 1
    assert len(states(sqlite_store)) == 5
