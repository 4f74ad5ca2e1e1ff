"""Whatever fails and whenever a run stops: each request ends closed or accounted for, paid once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeler.errors import InterruptedRunError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.report import LlmReport
from labeler.labels import Outcome
from labeler.providers.chat import AnswerMode
from labeler.records.ledger import Attempt, Response
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.judges.llm.running import Bench, Templates
from tests.providers.asking import Asking, asking

CLOSED = {"judged", "abstained"}
NEVER = ("bad-label", "refusal", "truncated")
MODEL = "marked"
EXAMPLES = int(os.environ.get("LABELER_SCHEDULES", "8"))
"""How many schedules are tried."""


@pytest.fixture(scope="module")
def started() -> Iterator[Asking]:
    with asking() as running:
        yield running


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("templates"))


@dataclass(frozen=True)
class Step:
    """One start of the program: where it is stopped, what it retries, how persistent it is."""

    stop_after: int | None
    retry: bool
    attempts: int
    in_flight: int


STEPS = st.lists(
    st.builds(
        Step,
        stop_after=st.one_of(st.none(), st.integers(1, 12)),
        retry=st.booleans(),
        attempts=st.integers(1, 3),
        in_flight=st.sampled_from([1, 4, 16]),
    ),
    max_size=4,
)
SCENARIOS = st.lists(
    st.one_of(
        st.builds("mixed:{}:{}".format, st.integers(0, 10**6), st.integers(10, 70)),
        st.sampled_from(["bad-label-once", "plain", *NEVER]),
    ),
    min_size=1,
    max_size=9,
)


class Schedule:
    """A project that is judged in several starts, and what has to hold after each."""

    def __init__(self, ask: Asking, path: Path, judge: LlmJudge, items: int) -> None:
        self.ask = ask
        self.path = path
        self.judge = judge
        self.items = items

    def start(self, step: Step) -> LlmReport:
        """Open the project anew, judge, and look at what was left."""
        with open_store(Location(str(self.path))) as store:
            bench = Bench(store, self.ask)
            report = bench.run(
                self.judge,
                client=self.ask.client(attempts=step.attempts),
                retry=[Outcome.FAILED] if step.retry else [],
                in_flight=step.in_flight,
                stop_when=lambda now: now.answered >= (step.stop_after or 10**9),
            )
            assert report.stop is None or isinstance(report.stop, InterruptedRunError)
            self._check_ledger(bench)
            self._check_judgments(bench)
        return report

    def _check_ledger(self, bench: Bench) -> None:
        counts = self.ask.provider.counts().get(MODEL, {})
        outcomes = Counter(outcome for (outcome,) in bench.rows(Attempt, "outcome"))
        # Every request is an attempt, every answer that was paid a response.
        assert outcomes.total() == counts.get("requests", 0)
        assert len(bench.rows(Response, "id")) == counts.get("paid_total", 0)
        assert counts.get("early", 0) == 0
        # What was paid beyond the answers that are used could not be used.
        unusable = sum(
            outcome != "answered" for outcome, has_response in self._attempts(bench) if has_response
        )
        assert counts.get("paid_total", 0) == outcomes["answered"] + unusable

    @staticmethod
    def _attempts(bench: Bench) -> list[tuple[str, bool]]:
        answered = {attempt for (attempt,) in bench.rows(Response, "attempt_id")}
        return [(outcome, key in answered) for key, outcome in bench.rows(Attempt, "id", "outcome")]

    def _check_judgments(self, bench: Bench) -> None:
        judgments = bench.judgments()
        keys = Counter((one.query, one.evidence, one.sample) for one in judgments)
        assert set(keys.values()) <= {1}
        closed = [one for one in judgments if one.outcome in CLOSED]
        per_item = Counter((one.query, one.evidence) for one in closed)
        assert all(count <= self.judge.samples for count in per_item.values())
        # No usable answer was asked for that no judgment rests on, none is used in vain.
        usable = {
            response
            for response, attempt in bench.rows(Response, "id", "attempt_id")
            if dict(bench.rows(Attempt, "id", "outcome"))[attempt] == "answered"
        }
        assert {one.response_id for one in closed} == usable
        # Two items share an answer only where they share the request.
        for response in usable:
            digests = {one.request_digest for one in closed if one.response_id == response}
            assert len(digests) == 1

    def standing(self) -> tuple[dict[tuple[str, str], int], set[tuple[str, str]]]:
        """Give how often each item is closed, and which items were lost at least once."""
        with open_store(Location(str(self.path))) as store:
            judgments = Bench(store, self.ask).judgments()
        closed = Counter((one.query, one.evidence) for one in judgments if one.outcome in CLOSED)
        lost = {(one.query, one.evidence) for one in judgments if one.outcome not in CLOSED}
        return dict(closed), lost


@given(SCENARIOS, st.sampled_from([1, 1, 3]), st.sampled_from(AnswerMode), STEPS)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_each_request_ends_closed_or_accounted_for(
    started: Asking,
    templates: Templates,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    scenarios: list[str],
    samples: int,
    mode: AnswerMode,
    steps: list[Step],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    started.provider.reset()
    # Some texts stand twice: those items share their requests.
    texts = [f"{name} [[scenario={name}]]" for name in scenarios]
    texts += texts[: len(texts) // 2]
    with templates.copy(tmp_path, {"q": texts}) as store:
        judge = Bench(store, started).judge(MODEL, samples=samples, mode=mode)
    schedule = Schedule(started, tmp_path / "queue.db", judge, len(texts))
    for step in steps:
        schedule.start(step)
    last = Step(None, retry=False, attempts=2, in_flight=8)
    report = schedule.start(last)
    assert report.stop is None
    closed, lost = schedule.standing()
    assert len(set(closed) | lost) == len(texts)
    # Nothing is left to be asked, so a further start asks nothing.
    asked = started.count(MODEL)
    assert schedule.start(last).requests == 0
    assert started.count(MODEL) == asked
    # What passes is closed by and by; what never does stays lost.
    wanted = {
        ("q", f"q-{number:03d}"): samples
        for number, text in enumerate(texts)
        if not any(f"={name}]" in text for name in NEVER)
    }
    for _ in range(8):
        closed, lost = schedule.standing()
        if closed == wanted:
            break
        schedule.start(Step(None, retry=True, attempts=5, in_flight=8))
    assert closed == wanted
    assert len(set(closed) | lost) == len(texts)
