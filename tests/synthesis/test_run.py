"""Whole runs against a fake provider: what is asked, exposed, paid, stored, and gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.errors import BudgetReachedError, ConflictError, InterruptedRunError, NotFoundError
from labeler.providers.chat import Ended
from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.ledger import Attempt, Job
from labeler.records.queries import Query, QueryVersion
from labeler.records.questions import Question, QuestionKind, QuestionQuery
from labeler.records.splits import Exposure
from labeler.sealing.exposures import broken_exposures
from labeler.sealing.split_in_force import find_split, read_membership
from labeler.store.database import Store
from labeler.synthesis.admission import SINGLE_POSITIVE, admit
from labeler.synthesis.journals import held, left_journals, new_journal, work_folder
from labeler.synthesis.orders import Answered, write_line
from labeler.synthesis.reading import Stands, question_states
from labeler.synthesis.run import generate
from labeler.synthesis.run_report import GenerateReport
from labeler.synthesis.setup import GenerateOptions, Ground, lay_ground
from tests.fake_provider.running import Provider, running_provider
from tests.freezing import Groups
from tests.synthesis.projects import asking, fill, plain_project, words

pytestmark = pytest.mark.usefixtures("ready_workers")


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider(keep=5000) as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    running.reset()
    return running


def ground_of(store: Store) -> Ground:
    with store.read() as connection:
        return lay_ground(connection, None, None, None)


def run(store: Store, options: GenerateOptions) -> GenerateReport:
    return generate(store, ground_of(store), options)


def stands(store: Store) -> list[Stands]:
    with store.read() as connection:
        return [one.stands for one in question_states(connection)]


def exposed(store: Store) -> set[str]:
    exposure, document = table(Exposure), table(Document)
    statement = sa.select(document.c.external_id).join(
        exposure, exposure.c.document_id == document.c.id
    )
    with store.read() as connection:
        return {str(name) for (name,) in connection.execute(statement)}


def seen(store: Store, provider: Provider) -> set[str]:
    """Name the documents of which the provider was sent a chunk."""
    with store.read() as connection:
        ground = lay_ground(connection, None, None, None)
    sent = [json.dumps(one["body"]) for one in provider.requests()]
    return {
        chunk.document
        for chunk in ground.pack.chunks
        if any(chunk.text in request for request in sent)
    }


def test_a_run_gives_just_as_many_accepted_questions_as_were_wanted(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    report = run(sqlite_store, asking(provider.address, per_domain=5))
    assert report.stop is None
    assert [(one.domain, one.accepted, one.why) for one in report.domains] == [("support", 5, "")]
    assert stands(sqlite_store) == [Stands.ACCEPTED] * 5


def test_without_a_frozen_split_it_refuses_and_says_how_to_make_one(sqlite_store: Store) -> None:
    with pytest.raises(NotFoundError) as told:
        ground_of(sqlite_store)
    assert "labeler split freeze" in str(told.value.hint)


def test_exposures_are_just_the_documents_that_the_provider_saw(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address, judge="asks:x", per_domain=3))
    assert exposed(sqlite_store) == seen(sqlite_store, provider)
    with sqlite_store.read() as connection:
        assert broken_exposures(connection) == []


def test_a_changed_exposure_breaks_the_chain(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address, per_domain=3))
    with sqlite_store.work() as connection:
        connection.exec_driver_sql("DROP TRIGGER guard_exposure_update")
        first = connection.execute(sa.select(sa.func.min(table(Exposure).c.id))).scalar_one()
        connection.execute(
            sa.update(table(Exposure))
            .where(table(Exposure).c.id == first)
            .values(text_digest="another")
        )
    with sqlite_store.read() as connection:
        assert broken_exposures(connection) == [first]


def test_the_same_command_again_asks_nothing_and_makes_nothing(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address))
    asked = provider.count("asks", "requests")
    report = run(sqlite_store, asking(provider.address))
    assert (report.domains[0].before, report.domains[0].generated) == (4, 0)
    assert provider.count("asks", "requests") == asked


def test_more_questions_later_use_answers_that_were_paid_for(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address, per_domain=4))
    first = provider.count("asks", "requests")
    assert first > 4  # the first round reckons with questions that are turned down
    run(sqlite_store, asking(provider.address, per_domain=6))
    assert provider.count("asks", "paid_total") == provider.count("asks", "paid_distinct")
    assert len(stands(sqlite_store)) == 6


def test_a_budget_stops_the_run_and_a_higher_one_goes_on(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    stopped = run(sqlite_store, asking(provider.address, per_domain=8, max_cost=0.004, most=1))
    assert isinstance(stopped.stop, BudgetReachedError)
    assert 0 < stopped.accepted < 8
    assert stopped.counts.cost <= 0.004
    assert stopped.domains[0].left > 0
    assert f"{stopped.domains[0].left} candidates are left" in stopped.domains[0].why
    report = run(sqlite_store, asking(provider.address, per_domain=8, max_cost=1.0))
    assert report.accepted == 8
    assert provider.count("asks", "paid_total") == provider.count("asks", "paid_distinct")
    assert exposed(sqlite_store) == seen(sqlite_store, provider)


@pytest.mark.parametrize("scenario", ["refusal", "words", "truncated"])
def test_what_gives_no_question_is_counted_and_not_asked_again(
    sqlite_store: Store, tmp_path: Path, provider: Provider, scenario: str
) -> None:
    texts = {f"d{n}": [words(n, 40) + (" poison" if n % 2 else "")] for n in range(6)}
    groups: Groups = {n: ("train", [name], []) for n, name in enumerate(texts)}
    fill(sqlite_store, tmp_path, texts, groups)
    model = f"asks:{scenario}"
    report = run(sqlite_store, asking(provider.address, model, per_domain=20))
    (domain,) = report.domains
    assert domain.accepted < 20
    assert "no candidate is left" in domain.why
    assert domain.left == 0
    assert sum(domain.unusable.values()) > 0
    asked = provider.count(model, "requests")
    again = run(sqlite_store, asking(provider.address, model, per_domain=20))
    assert provider.count(model, "requests") == asked
    assert again.domains[0].accepted == domain.accepted


def test_a_stopped_run_keeps_what_was_answered_and_goes_on(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    pressed: list[int] = []

    def observe(report: GenerateReport) -> None:
        if report.counts.ended and not pressed:
            pressed.append(1)

    options = asking(provider.address, per_domain=8, most=1)
    stopped = generate(
        sqlite_store,
        ground_of(sqlite_store),
        options,
        interrupts=lambda: len(pressed),
        observe=observe,
    )
    assert isinstance(stopped.stop, InterruptedRunError)
    paid = provider.count("asks", "paid_total")
    assert 0 < paid < 16
    report = run(sqlite_store, options)
    assert report.accepted == 8
    assert provider.count("asks", "paid_total") == provider.count("asks", "paid_distinct")


def test_a_journal_that_was_left_is_copied_once(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    pressed: list[int] = []

    def observe(report: GenerateReport) -> None:
        pressed.extend([1, 1])  # the second press kills the process: nothing tidies up

    options = asking(provider.address, per_domain=8)
    with pytest.raises(InterruptedRunError):
        generate(
            sqlite_store,
            ground_of(sqlite_store),
            options,
            interrupts=lambda: len(pressed),
            observe=observe,
        )
    # What the journal says once more is in the ledger already, in part or whole.
    folder = work_folder(sqlite_store.location)
    with sqlite_store.read() as connection:
        job = connection.execute(sa.select(table(Job).c.digest)).scalar_one()
    left = left_journals(folder)
    report = run(sqlite_store, options)
    assert left_journals(folder) == []
    assert report.accepted == 8
    assert all(found == job for found, _ in left)
    attempt = table(Attempt)
    with sqlite_store.read() as connection:
        rows = connection.execute(sa.select(attempt.c.request_digest, attempt.c.at)).all()
    assert len(set(rows)) == len(rows)


def test_a_journal_of_another_database_stays_where_it_is(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    left = new_journal(work_folder(sqlite_store.location), "ab12")
    answer = Answered("request", Ended.FAILED, "no answer", ())
    left.write_text(write_line(answer.to_json()), encoding="utf-8")
    report = run(sqlite_store, asking(provider.address, per_domain=1))
    assert (report.recovered, report.foreign) == (0, (str(left),))
    assert left.exists()


def test_two_runs_at_once_are_refused(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    with held(work_folder(sqlite_store.location)), pytest.raises(ConflictError):
        run(sqlite_store, asking(provider.address))


def test_a_judge_turns_down_what_it_says_no_to(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    texts = {f"d{n}": [words(n, 40) + (" unhelpful" if n % 2 else "")] for n in range(6)}
    groups: Groups = {n: ("train", [name], []) for n, name in enumerate(texts)}
    fill(sqlite_store, tmp_path, texts, groups)
    report = run(sqlite_store, asking(provider.address, judge="asks:no", per_domain=3))
    assert report.accepted == 3
    with sqlite_store.read() as connection:
        states = question_states(connection)
    for one in states:
        said_no = any(each.name == "answerable" for each in one.failed)
        assert said_no == ("unhelpful" in (one.sources[0].text or ""))


def test_a_comparison_needs_evidence_of_both_chunks(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    options = asking(provider.address, kinds=(QuestionKind.COMPARISON,), per_domain=2)
    run(sqlite_store, options)
    admit(sqlite_store, ground_of(sqlite_store))
    with sqlite_store.read() as connection:
        rows = connection.execute(sa.select(table(QueryVersion))).all()
    assert len(rows) == 2
    for row in rows:
        required = json.loads(row.required_evidence)
        assert len(required) == 2
        assert SINGLE_POSITIVE not in json.loads(row.slices)


def test_accepted_questions_become_synthetic_queries_in_their_sources_group(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address, per_domain=3))
    admitted = admit(sqlite_store, ground_of(sqlite_store))
    assert len(admitted.queries) == 3
    question, became, version = table(Question), table(QuestionQuery), table(QueryVersion)
    with sqlite_store.read() as connection:
        split = find_split(connection)
        places = read_membership(connection, split).queries
        rows = connection.execute(
            sa.select(question.c.group_id, became.c.query_id, version.c.origin, version.c.slices)
            .join(became, became.c.question_id == question.c.id)
            .join(version, version.c.query_id == became.c.query_id)
        ).all()
        count = connection.execute(sa.select(sa.func.count()).select_from(table(Query))).scalar()
    assert count == len(rows) == 3
    for row in rows:
        assert places[row.query_id].group_id == row.group_id
        assert row.origin == "synthetic"
        assert SINGLE_POSITIVE in json.loads(row.slices)
    assert admit(sqlite_store, ground_of(sqlite_store)).queries == []


def test_a_run_goes_on_after_its_questions_became_queries(
    sqlite_store: Store, tmp_path: Path, provider: Provider
) -> None:
    plain_project(sqlite_store, tmp_path)
    run(sqlite_store, asking(provider.address, per_domain=3))
    admit(sqlite_store, ground_of(sqlite_store))
    report = run(sqlite_store, asking(provider.address, per_domain=5))
    assert (report.domains[0].before, report.domains[0].accepted) == (3, 5)
    assert provider.count("asks", "paid_total") == provider.count("asks", "paid_distinct")
