"""Whole runs: what is asked, what is stored, and that nothing is asked twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.corrections import Correction, correct
from labeler.cli.app import run as command
from labeler.errors import (
    BudgetReachedError,
    DatabaseBusyError,
    InterruptedRunError,
    ProviderDownError,
    ProviderRefusedError,
    UsageError,
)
from labeler.judges.llm import run as engine
from labeler.judges.llm import store as storing
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import demands, pool_to_judge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.run import RunOptions, judge_items
from labeler.judges.llm.session import JudgeLimits
from labeler.labels import Outcome
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import AnswerMode, ChatRequest, Reply
from labeler.records.judgments import CorrectionTarget
from labeler.records.ledger import Attempt, Job
from labeler.records.project import Revision
from labeler.store.database import Store
from tests.judges.llm.running import Bench, Templates, fill, make_pool, plain_texts
from tests.providers.asking import Asking, asking

ITEMS = 11


@pytest.fixture(scope="module")
def started() -> Iterator[Asking]:
    with asking() as running:
        yield running


@pytest.fixture
def ask(started: Asking, monkeypatch: pytest.MonkeyPatch) -> Asking:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    started.provider.reset()
    return started


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Projects that are made once and copied for each test."""
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def empty(ask: Asking, templates: Templates, tmp_path: Path) -> Iterator[Bench]:
    """A project without anything in it."""
    with templates.copy(tmp_path, {}) as store:
        yield Bench(store, ask)


@pytest.fixture
def bench(ask: Asking, templates: Templates, tmp_path: Path) -> Iterator[Bench]:
    """Two queries with 11 items whose texts all differ."""
    with templates.copy(tmp_path, plain_texts(ITEMS, queries=2)) as store:
        yield Bench(store, ask)


# -- a run and the one after it


def test_every_item_is_judged_once_and_asked_about_once(bench: Bench) -> None:
    report = bench.run(bench.judge("plain"))
    assert report.stop is None
    assert (report.items, report.known, report.answered, report.requests) == (ITEMS, 0, ITEMS, 11)
    assert bench.outcomes() == {"judged": ITEMS}
    assert len({(one.query, one.evidence) for one in bench.judgments()}) == ITEMS
    assert len({one.response_id for one in bench.judgments()} - {None}) == ITEMS
    assert bench.ask.count("plain") == ITEMS
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)]


def test_a_second_run_asks_nothing_and_writes_nothing(bench: Bench) -> None:
    judge = bench.judge("plain")
    bench.run(judge)
    before = (bench.judgments(), bench.rows(Revision, "id"), bench.rows(Job, "updated_at"))
    report = bench.run(judge)
    assert (report.items, report.known, report.answered, report.requests) == (ITEMS, ITEMS, 0, 0)
    assert bench.ask.count("plain") == ITEMS
    assert (bench.judgments(), bench.rows(Revision, "id"), bench.rows(Job, "updated_at")) == before


def test_a_run_and_the_one_after_it_on_each_database(
    ask: Asking, store: Store, tmp_path: Path
) -> None:
    bench = Bench(store, ask)
    fill(store, tmp_path, {"q": ["same", "same", "[[scenario=flaky:3:500]]", "other"]})
    make_pool(store)
    judge = bench.judge("marked")
    bench.run(judge, in_flight=1, stop_when=lambda now: now.outcomes["judged"] >= 1)
    report = bench.run(judge)
    assert (report.known, report.lost) == (1, {"failed": 1})
    report = bench.run(judge, retry=[Outcome.FAILED])
    assert (report.known, report.outcomes) == (3, {"judged": 1})
    assert bench.jobs() == [("done", 4, 4, 0)]
    assert ask.count("marked", "paid_total") == 3
    assert None not in {one.response_id for one in bench.judgments() if one.outcome == "judged"}


def test_a_panel_is_asked_by_one_command(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["judge", "run", "p", "--endpoint", bench.ask.provider.address, "--json"]
    words += ["--db", str(tmp_path / "queue.db"), "--judge", "openai/plain"]
    panel = ["--judge", "openai/noisy:1", "--judge", "openai/noisy:2"]
    # Each judge has an event loop of its own, and connections that don't outlive it.
    assert command([*words, *panel]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [judge["answers"] for judge in told["judges"]] == [ITEMS] * 3
    assert len(bench.judgments()) == 3 * ITEMS
    assert command([*words, *panel]) == 0
    assert [bench.ask.count(name) for name in ("plain", "noisy:1", "noisy:2")] == [ITEMS] * 3
    capsys.readouterr()
    assert command([*words, "--price", "1,1", "--max-cost", "0", "--temperature", "0.5"]) == 5
    assert json.loads(capsys.readouterr().out)["judges"][0]["answers"] == 0
    for wrong in (["--max-cost", "nan", "--price", "1,1"], ["--rpm", "0"], ["--timeout", "inf"]):
        assert command([*words, *wrong]) == 2


@pytest.mark.parametrize("after", [1, 3, 7])
def test_a_run_that_was_stopped_goes_on(bench: Bench, after: int) -> None:
    judge = bench.judge("plain")
    report = bench.run(judge, in_flight=1, stop_when=lambda now: now.answered >= after)
    assert isinstance(report.stop, InterruptedRunError)
    assert len(bench.judgments()) == after
    assert bench.ask.count("plain") == after
    assert bench.jobs() == [("stopped", ITEMS, after, 0)]
    report = bench.run(judge)
    assert report.stop is None
    assert report.known == after
    assert bench.ask.count("plain") == ITEMS
    assert bench.outcomes() == {"judged": ITEMS}
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)]


@pytest.mark.parametrize("part", ["model", "prompt", "parameter", "mode", "cut"])
def test_what_decides_the_answers_makes_another_judge(bench: Bench, part: str) -> None:
    bench.run(bench.judge("plain"))
    other = {
        "model": bench.judge("noisy:1"),
        "prompt": bench.judge("plain", prompt="second-opinion"),
        "parameter": bench.judge("plain", temperature=0.0),
        "mode": bench.judge("plain", mode=AnswerMode.TOOLS),
        "cut": bench.judge("plain", characters=12),
    }[part]
    report = bench.run(other)
    assert (report.answered, report.known) == (ITEMS, 0)
    assert report.requests == ITEMS
    assert len(bench.judgments(other)) == ITEMS


def test_what_changes_no_request_asks_nothing_anew(bench: Bench) -> None:
    bench.run(bench.judge("plain"))
    # Another judge by its settings, but each passage is shown whole as before.
    other = bench.judge("plain", characters=500)
    report = bench.run(other)
    assert (report.answered, report.reused, report.requests) == (ITEMS, ITEMS, 0)
    assert bench.ask.count("plain") == ITEMS
    first, second = bench.judgments()[:ITEMS], bench.judgments(other)
    assert {one.response_id for one in first} == {one.response_id for one in second}


# -- how an item can end

MARKED = {
    "plain": "judged",
    "abstains": "abstained",
    "refusal": "refused",
    "content-filter": "refused",
    "content-filter-400": "refused",
    "truncated": "truncated",
    "empty-choices": "failed",
    "too-long": "failed",
    "bad-label": "failed",
    "bad-label-once": "judged",
    "status-500": "failed",
    "drop": "failed",
    "flaky:1:503": "judged",
}


@pytest.fixture
def marked(ask: Asking, templates: Templates, tmp_path: Path) -> Iterator[Bench]:
    """A pool in which each item makes the provider do something else."""
    texts = [f"passage {name} [[scenario={name}]]" for name in MARKED]
    with templates.copy(tmp_path, {"q": texts}) as store:
        yield Bench(store, ask)


def test_every_item_ends_as_it_was_answered(marked: Bench) -> None:
    report = marked.run(marked.judge("marked"))
    expected = Counter(MARKED.values())
    closed = expected["judged"] + expected["abstained"]
    assert report.stop is None
    assert marked.outcomes() == expected == report.outcomes
    assert report.lost == {name: expected[name] for name in ("refused", "truncated", "failed")}
    stored = sorted(marked.judgments(), key=lambda one: one.evidence)
    by_name = dict(zip(MARKED, stored, strict=True))
    for name, outcome in MARKED.items():
        assert by_name[name].outcome == outcome, name
        assert (by_name[name].response_id is not None) == (outcome in {"judged", "abstained"})
    assert report.failures == {
        "refused": 1,
        "content_filter": 2,
        "truncated": 1,
        "empty_response": 1,
        "context_overflow": 1,
        "the answer doesn't fit the schema": 1,
        "server_error": 2,
    }
    assert report.requests == marked.ask.count("marked") == len(marked.rows(Attempt, "id"))
    assert report.retries == 3
    assert report.reasks == 2
    assert marked.jobs() == [("done", len(MARKED), closed, len(MARKED) - closed)]


def test_what_was_lost_is_not_asked_about_by_itself(marked: Bench) -> None:
    judge = marked.judge("marked")
    first = marked.run(judge)
    asked = marked.ask.count("marked")
    again = marked.run(judge)
    assert marked.ask.count("marked") == asked
    assert again.lost == first.lost
    assert again.answered == 0


def test_retry_takes_up_just_what_it_names(marked: Bench) -> None:
    judge = marked.judge("marked")
    marked.run(judge)
    asked = marked.ask.count("marked")
    report = marked.run(judge, retry=[Outcome.REFUSED])
    assert report.answered == 3
    assert marked.ask.count("marked") == asked + 3
    report = marked.run(judge, retry=[Outcome.TRUNCATED, Outcome.REFUSED])
    assert report.answered == 4
    samples = Counter(one.evidence for one in marked.judgments() if one.outcome == "refused")
    assert set(samples.values()) == {3}


def test_what_failed_for_a_while_is_taken_up_and_closed(bench: Bench) -> None:
    judge = bench.judge("flaky:3:500")
    report = bench.run(judge)
    assert report.lost == {"failed": ITEMS}
    assert bench.jobs() == [("done", ITEMS, 0, ITEMS)]
    report = bench.run(judge, retry=[Outcome.FAILED])
    assert report.outcomes == {"judged": ITEMS}
    assert report.lost == {}
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)]
    # Two failed requests, then one more that failed and the answer.
    assert bench.ask.count("flaky:3:500") == 4 * ITEMS == len(bench.rows(Attempt, "id"))
    ends = {(one.outcome, one.sample) for one in bench.judgments()}
    assert ends == {("failed", 0), ("judged", 1)}
    report = bench.run(judge, retry=[Outcome.FAILED])
    assert (report.answered, report.requests, report.known) == (0, 0, ITEMS)


# -- samples


def test_samples_are_asked_one_by_one_and_go_on(bench: Bench) -> None:
    judge = bench.judge("wavering:1", samples=3, temperature=1.0)
    report = bench.run(judge)
    assert report.answered == 3 * ITEMS
    assert bench.ask.count("wavering:1") == 3 * ITEMS
    assert {one.sample for one in bench.judgments()} == {0, 1, 2}
    assert len({one.response_id for one in bench.judgments()}) == 3 * ITEMS
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)]
    assert bench.run(judge).requests == 0
    more = replace(judge, samples=5, _renderers={})
    assert more.digest == judge.digest
    report = bench.run(more)
    assert (report.answered, report.requests) == (2 * ITEMS, 2 * ITEMS)
    fewer = replace(judge, samples=2, _renderers={})
    assert bench.run(fewer).known == ITEMS


def test_samples_that_were_stopped_go_on(bench: Bench) -> None:
    judge = bench.judge("wavering:1", samples=3, temperature=1.0)
    bench.run(judge, in_flight=3, stop_when=lambda now: now.answered >= 8)
    stored = len(bench.judgments())
    assert 8 <= stored <= 11
    bench.run(judge)
    assert bench.ask.count("wavering:1") == 3 * ITEMS
    assert Counter(one.evidence + one.query for one in bench.judgments()) == dict.fromkeys(
        (one.evidence + one.query for one in bench.judgments()), 3
    )


def test_a_sample_that_fails_says_nothing_about_the_next(bench: Bench) -> None:
    # The first three requests about each item fail, two of them for its first sample.
    judge = bench.judge("flaky:3:500", samples=3, temperature=1.0)
    report = bench.run(judge)
    assert report.outcomes == {"failed": ITEMS, "judged": 2 * ITEMS}
    assert bench.ask.count("flaky:3:500") == 5 * ITEMS
    assert report.lost == {}


# -- windows


def test_each_window_is_asked_about_and_the_best_counts(empty: Bench, tmp_path: Path) -> None:
    text = "".join(["nothing here. " * 30, "[[level=2]] it is here. ", "nothing here. " * 30])
    fill(empty.store, tmp_path, {"q": [text, "[[level=0]] short"]})
    make_pool(empty.store)
    judge = empty.judge("plain", characters=300, longer="windows")
    windows = judge.passages.shown(text)
    assert len(windows) >= 3
    report = empty.run(judge)
    assert report.requests == len(windows) + 1
    assert report.outcomes == {"judged": 2}
    assert report.grades == {"fully_relevant": 1, "not_relevant": 1}
    assert empty.run(judge).requests == 0


def test_a_window_that_failed_is_asked_about_alone(empty: Bench, tmp_path: Path) -> None:
    text = "[[level=0]] " + "a " * 140 + "[[scenario=flaky:3:500]] " + "b " * 50
    fill(empty.store, tmp_path, {"q": [text]})
    make_pool(empty.store)
    judge = empty.judge("marked", characters=300, longer="windows")
    windows = judge.passages.shown(text)
    failing = sum("scenario=" in window for window in windows)
    assert (len(windows), failing) == (2, 1)
    assert empty.run(judge).outcomes == {"failed": 1}
    assert empty.ask.count("marked") == 1 + 2
    report = empty.run(judge, retry=[Outcome.FAILED])
    assert report.outcomes == {"judged": 1}
    assert empty.ask.count("marked") == 1 + 2 + 2
    assert empty.ask.count("marked", "paid_total") == 2


# -- the same request by several items


def test_the_same_request_is_made_once(empty: Bench, tmp_path: Path) -> None:
    fill(empty.store, tmp_path, {"q": ["the same text"] * 6 + ["another"]})
    make_pool(empty.store)
    report = empty.run(empty.judge("plain"))
    assert empty.ask.count("plain") == 2
    assert (report.answered, report.reused) == (7, 5)
    assert len(empty.judgments()) == 7
    assert len({one.response_id for one in empty.judgments()} - {None}) == 2
    assert all(one.response_id is not None for one in empty.judgments())


def test_samples_of_the_same_request_are_made_once_each(empty: Bench, tmp_path: Path) -> None:
    fill(empty.store, tmp_path, {"q": ["the same text"] * 4})
    make_pool(empty.store)
    report = empty.run(empty.judge("wavering:1", samples=3, temperature=1.0))
    assert empty.ask.count("wavering:1") == 3
    assert report.answered == 12
    for sample in range(3):
        responses = {one.response_id for one in empty.judgments() if one.sample == sample}
        assert len(responses) == 1
        assert None not in responses


@pytest.mark.parametrize("scenario", ["refusal", "status:500", "too-long"])
def test_a_failure_of_the_same_request_is_shared(
    empty: Bench, scenario: str, tmp_path: Path
) -> None:
    fill(empty.store, tmp_path, {"q": ["the same text"] * 4})
    make_pool(empty.store)
    report = empty.run(empty.judge(scenario))
    assert empty.ask.count(scenario) <= 2
    assert sum(report.lost.values()) == 4
    assert empty.run(empty.judge(scenario)).requests == 0


def test_an_answer_is_stored_no_later_than_what_rests_on_it(
    empty: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One passage is the first window of another, whose second window takes long.
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_COMMITS", 0.05)
    first = "a " * 148
    long = first + "[[scenario=slow:1]] " + "b " * 100
    judge = empty.judge("marked", characters=300, longer="windows")
    window = judge.passages.shown(long)[0]
    fill(empty.store, tmp_path, {"q": [long, window]})
    make_pool(empty.store)
    seen: list[list[tuple[str, int | None]]] = []

    async def watch() -> None:
        while not seen or not seen[-1]:
            await asyncio.sleep(0.02)
            seen.append([(one.evidence, one.response_id) for one in empty.judgments()])

    async def work() -> None:
        with empty.store.read() as connection:
            pool = pool_to_judge(connection, "p")
        watching = asyncio.create_task(watch())
        ask = empty.ask.client().ask
        await judge_items(empty.store, pool, judge, ask, RunOptions(in_flight=8))
        await watching

    empty.ask.run(work())
    [(evidence, response)] = seen[-1]
    assert evidence == "q-001"
    assert response is not None
    assert empty.ask.count("marked") == 2


# -- several pools


def test_pools_share_what_was_asked(bench: Bench) -> None:
    judge = bench.judge("plain")
    make_pool(bench.store, "shallow", depth=1)
    report = bench.run(judge, pool="shallow")
    few = report.items
    assert 0 < few < ITEMS
    report = bench.run(judge)
    assert (report.known, report.answered) == (few, ITEMS - few)
    assert bench.ask.count("plain") == ITEMS
    assert len(bench.judgments()) == ITEMS
    make_pool(bench.store, "deep", depth=9)
    report = bench.run(judge, pool="deep")
    assert report.known == ITEMS
    assert bench.ask.count("plain") == report.items
    # The third has nothing to be done, so it is no job.
    assert [state for state, *_ in bench.jobs()] == ["done"] * 2


# -- corrections


def withdraw(bench: Bench, query: str, evidence: str) -> None:
    about = Correction(CorrectionTarget.JUDGMENT, evidence, query=query)
    correct(bench.store, about, "wrong")


def test_what_was_withdrawn_is_asked_anew(bench: Bench) -> None:
    judge = bench.judge("wavering:1")
    bench.run(judge)
    one = bench.judgments()[4]
    for count in (1, 2):
        withdraw(bench, one.query, one.evidence)
        report = bench.run(judge)
        assert (report.answered, report.requests, report.known) == (1, 1, ITEMS - 1)
        assert bench.ask.count("wavering:1") == ITEMS + count
        assert bench.run(judge).requests == 0
    found = [
        (other.sample, other.response_id)
        for other in bench.judgments()
        if (other.query, other.evidence) == (one.query, one.evidence)
    ]
    assert [sample for sample, _ in found] == [0, 1, 2]
    assert len({response for _, response in found} - {None}) == 3


def test_of_the_same_request_only_what_was_withdrawn_is_asked_anew(
    empty: Bench, tmp_path: Path
) -> None:
    fill(empty.store, tmp_path, {"q": ["the same text"] * 3})
    make_pool(empty.store)
    judge = empty.judge("plain")
    empty.run(judge)
    withdraw(empty, "q", "q-001")
    report = empty.run(judge)
    assert (report.answered, report.known) == (1, 2)
    assert empty.ask.count("plain") == 2
    withdraw(empty, "q", "q-002")
    report = empty.run(judge)
    # The answer that the first one was given the second time serves this one too.
    assert (report.answered, report.requests) == (1, 0)


# -- money

PRICE = Price(1e-4, 1e-3)


def worst_of(bench: Bench, judge: LlmJudge) -> float:
    with bench.store.read() as connection:
        pool = pool_to_judge(connection, "p")
    requests = [
        request
        for part in demands(bench.store, pool, judge)
        for demand in part
        for request in demand.question.requests
    ]
    return max(PRICE.worst(request) or 0.0 for request in requests)


@pytest.mark.parametrize(
    "model", ["plain", "bad-label", "bad-label-once", "mixed:1:40", "mixed:2:60"]
)
def test_the_limit_on_cost_is_never_passed_and_the_rest_follows(bench: Bench, model: str) -> None:
    judge = bench.judge(model, max_tokens=60)
    limit = (1.6 if model == "plain" else 4.5) * worst_of(bench, judge)
    spent = []
    for _ in range(60):
        before = bench.cost()
        purse = Purse(limit)
        client = bench.ask.client(attempts=3, purse=purse, price=PRICE)
        report = bench.run(judge, client=client)
        spent.append(bench.cost() - before)
        assert spent[-1] <= limit
        assert purse.spent <= limit
        assert report.cost == pytest.approx(spent[-1])
        # Whatever the provider answered is in the ledger with its price.
        counts = bench.ask.provider.counts()[model]
        sent = PRICE.of(counts["tokens_in"], counts["tokens_out"])
        assert bench.cost() == pytest.approx(sent)
        if report.stop is None:
            break
        assert isinstance(report.stop, BudgetReachedError)
        assert spent[-1] > 0 or "mixed" in model
    assert report.stop is None
    assert len(spent) > 1
    judged = {(one.query, one.evidence) for one in bench.judgments()}
    assert len(judged) == ITEMS
    if model == "plain":
        assert bench.ask.count(model, "paid_total") == ITEMS


def test_a_limit_that_is_too_low_sends_nothing(bench: Bench) -> None:
    client = bench.ask.client(purse=Purse(1e-6), price=PRICE)
    report = bench.run(bench.judge("plain"), client=client)
    assert isinstance(report.stop, BudgetReachedError)
    assert bench.ask.count("plain") == 0
    assert bench.judgments() == []


@pytest.mark.parametrize(
    "limits",
    [
        {"max_cost": float("nan"), "price": PRICE},
        {"max_cost": float("inf"), "price": PRICE},
        {"max_cost": -1.0, "price": PRICE},
        {"max_cost": 1.0},
        {"requests_per_minute": 0.0},
        {"requests_per_minute": -5.0},
        {"tokens_per_minute": 0.0},
        {"tokens_per_minute": float("nan")},
        {"timeout": 0.0},
        {"timeout": float("nan")},
        {"attempts": 0},
        {"max_concurrency": 0},
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        JudgeLimits(**limits)  # type: ignore[arg-type]


# -- when nothing goes on


@pytest.fixture
def many(ask: Asking, templates: Templates, tmp_path: Path) -> Iterator[Bench]:
    """A pool of 60 items."""
    with templates.copy(tmp_path, plain_texts(60, queries=3)) as store:
        yield Bench(store, ask)


@pytest.mark.parametrize("scenario", ["drop", "status:429"])
def test_a_provider_that_is_down_ends_the_run(many: Bench, scenario: str) -> None:
    judge = many.judge(scenario)
    report = many.run(judge, in_flight=4)
    assert isinstance(report.stop, ProviderDownError)
    assert "20 times in a row" in report.stop.message
    assert 20 <= report.lost["failed"] <= 24
    assert many.ask.count(scenario) <= 2 * 24
    assert many.jobs()[0][0] == "stopped"
    # What wasn't asked about is open, and the same command takes it up.
    assert 40 <= many.run(judge, in_flight=4).lost["failed"] <= 48


def test_one_answer_in_between_shows_that_it_is_not_down(empty: Bench, tmp_path: Path) -> None:
    # A query's items come in any order: 18 in a row fail at most.
    names = ["plain", *["status:500"] * 9]
    texts = {
        f"q{query}": [f"text {query} {n} [[scenario={name}]]" for n, name in enumerate(names)]
        for query in range(5)
    }
    fill(empty.store, tmp_path, texts)
    make_pool(empty.store)
    report = empty.run(empty.judge("marked"), in_flight=1)
    assert report.stop is None
    assert report.outcomes == {"failed": 45, "judged": 5}


@pytest.mark.parametrize("scenario", ["too-long", "refusal", "content-filter-400", "bad-label"])
def test_a_provider_that_answers_is_not_down(many: Bench, scenario: str) -> None:
    report = many.run(many.judge(scenario))
    assert report.stop is None
    assert sum(report.lost.values()) == 60


@pytest.mark.parametrize("scenario", ["unauthorised", "missing", "quota"])
def test_a_provider_that_refuses_ends_the_run_and_loses_nothing(many: Bench, scenario: str) -> None:
    report = many.run(many.judge(scenario), in_flight=64)
    assert isinstance(report.stop, ProviderRefusedError)
    assert many.judgments() == []
    assert report.lost == {}
    # Those that were under way when the first was refused, and what took their place until then.
    assert many.ask.count(scenario) <= 40
    assert len(many.rows(Attempt, "id")) == many.ask.count(scenario)


def test_once_stopped_no_request_begins(many: Bench) -> None:
    # 50 items are under way, but only 3 requests are; the others wait for their turn.
    client = many.ask.client(most=3)
    judge = many.judge("slow:0.2")
    report = many.run(judge, client=client, in_flight=50, stop_when=lambda now: now.answered >= 3)
    assert isinstance(report.stop, InterruptedRunError)
    assert many.ask.count("slow:0.2") <= 6
    assert len(many.judgments()) == many.ask.count("slow:0.2")


def test_a_commit_that_fails_loses_nothing(many: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_COMMITS", 0.05)
    real, calls = storing.store_answers, []

    def busy_once(*given: object, **more: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise DatabaseBusyError("another process is writing to it")
        real(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "store_answers", busy_once)
    judge = many.judge("slow:0.02")
    report = many.run(judge, in_flight=4)
    assert isinstance(report.stop, DatabaseBusyError)
    assert len(many.judgments()) == many.ask.count("slow:0.02") == report.answered
    assert 0 < len(many.judgments()) < 60
    assert many.run(judge).stop is None
    assert many.ask.count("slow:0.02") == 60


def test_two_runs_at_once_store_each_judgment_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_COMMITS", 0.05)
    judge = bench.judge("slow:0.1")
    with bench.store.read() as connection:
        pool = pool_to_judge(connection, "p")

    async def run_one() -> LlmReport:
        ask = bench.ask.client().ask
        return await judge_items(bench.store, pool, judge, ask, RunOptions(in_flight=3))

    async def work() -> list[LlmReport]:
        return list(await asyncio.gather(run_one(), run_one()))

    reports = bench.ask.run(work())
    assert [report.stop for report in reports] == [None, None]
    assert len({(one.query, one.evidence) for one in bench.judgments()}) == ITEMS
    assert len(bench.judgments()) == ITEMS
    assert len(bench.rows(Attempt, "id")) == bench.ask.count("slow:0.1")
    assert bench.run(judge).requests == 0


@pytest.mark.parametrize("in_flight", [1, 8])
def test_a_bug_ends_the_run_at_once_and_keeps_what_was_answered(
    many: Bench, in_flight: int
) -> None:
    judge = many.judge("plain")
    asked: list[ChatRequest] = []
    client = many.ask.client()

    async def ask(request: ChatRequest) -> Reply:
        asked.append(request)
        if len(asked) == 9:
            raise RuntimeError("a bug")
        return await client.ask(request)

    async def work() -> None:
        with many.store.read() as connection:
            pool = pool_to_judge(connection, "p")
        await judge_items(many.store, pool, judge, ask, RunOptions(in_flight=in_flight))

    with pytest.raises(RuntimeError, match="a bug"):
        many.ask.run(work())
    assert len(many.judgments()) == many.ask.count("plain") == len(asked) - 1 < 9 + in_flight
    assert many.jobs()[0][0] == "stopped"
    report = many.run(judge)
    assert report.stop is None
    assert many.ask.count("plain") == 60


def test_a_commit_that_meets_a_bug_ends_the_run(
    many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_COMMITS", 0.05)

    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(engine, "store_answers", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        many.run(many.judge("slow:0.05"), in_flight=2)
    assert many.ask.count("slow:0.05") < 30


def test_a_job_whose_last_word_was_lost_is_done_when_nothing_is_left(bench: Bench) -> None:
    judge = bench.judge("plain")
    bench.run(judge)
    job = Job.metadata.tables["job"]
    with bench.store.work() as connection:
        connection.execute(sa.update(job).values(state="running", done=3, failed=1))
    assert bench.run(judge).requests == 0
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)]
