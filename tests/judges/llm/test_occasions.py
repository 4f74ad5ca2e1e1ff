"""A sentinel set judged again by the same judge: asked anew, once each time, and no label moves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labeler.assessment.samples import latest_answers
from labeler.cli.app import run as command
from labeler.errors import NotFoundError, UsageError
from labeler.judges.llm.judge import LlmJudge
from labeler.labels import Outcome
from labeler.records.judgments import Judgment
from labeler.reports.drift import DriftReport, read_drift
from tests.judges.llm.running import Bench, Templates, plain_texts
from tests.providers.asking import Asking, asking

ITEMS = 11


@pytest.fixture(scope="module")
def started() -> Iterator[Asking]:
    with asking() as running:
        yield running


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def bench(
    started: Asking, templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    started.provider.reset()
    with templates.copy(tmp_path, plain_texts(ITEMS, queries=3)) as store:
        yield Bench(store, started)


def again(judge: LlmJudge, occasion: int) -> LlmJudge:
    return replace(judge, occasion=occasion, _renderers={})


def labels(bench: Bench) -> dict[int, Any]:
    with bench.store.read() as connection:
        return latest_answers(connection, 1)


def drift(bench: Bench, judge: LlmJudge, *occasions: int) -> DriftReport:
    asked = (occasions[0], occasions[1]) if occasions else None
    with bench.store.read() as connection:
        return read_drift(connection, judge.name, occasions=asked, pool="p")


def test_each_occasion_asks_about_each_item_anew_and_once(bench: Bench) -> None:
    judge = bench.judge("wavering:1")
    bench.run(judge)
    before = labels(bench)
    second = again(judge, 2)
    assert second.digest == judge.digest
    assert bench.run(second).requests == ITEMS
    assert bench.run(second).known == ITEMS
    assert bench.run(again(judge, 3)).requests == ITEMS
    assert bench.ask.count("wavering:1") == 3 * ITEMS
    rows = Counter(bench.rows(Judgment, "occasion", "sample"))
    assert rows == {("first", 0): ITEMS, ("sentinel", 2): ITEMS, ("sentinel", 3): ITEMS}
    assert len({one.response_id for one in bench.judgments()}) == 3 * ITEMS
    assert labels(bench) == before
    assert bench.jobs() == [("done", ITEMS, ITEMS, 0)] * 3
    # The first occasion knows its own answers only, and its samples are asked anew, too.
    assert bench.run(judge).known == ITEMS
    assert bench.run(replace(judge, samples=2, _renderers={})).requests == ITEMS


def test_an_occasion_that_was_stopped_goes_on_and_pays_for_no_answer_twice(bench: Bench) -> None:
    judge = bench.judge("wavering:1")
    bench.run(judge)
    bench.run(again(judge, 2), in_flight=2, stop_when=lambda now: now.answered >= 4)
    stored = len(bench.judgments()) - ITEMS
    assert 4 <= stored < ITEMS
    bench.run(again(judge, 2))
    assert bench.ask.count("wavering:1") == 2 * ITEMS
    assert len(bench.judgments()) == 2 * ITEMS


def test_what_failed_is_no_answer_of_an_occasion_and_is_asked_again(bench: Bench) -> None:
    # The first two requests about each item fail: that of the first occasion, and one more.
    judge = bench.judge("flaky:2:500")
    bench.run(judge, client=bench.ask.client(attempts=1))
    second = again(judge, 2)
    lost = bench.run(second, client=bench.ask.client(attempts=1))
    assert (lost.lost, bench.outcomes()) == ({"failed": ITEMS}, {"failed": ITEMS})
    bench.run(second, client=bench.ask.client(attempts=1))
    assert bench.outcomes() == {"failed": ITEMS, "judged": ITEMS}
    assert set(bench.rows(Judgment, "occasion", "outcome")) == {
        ("first", Outcome.FAILED),
        ("sentinel", Outcome.JUDGED),
    }


def test_drift_compares_the_first_occasion_with_the_latest_or_any_two(bench: Bench) -> None:
    judge = bench.judge("wavering:1")
    bench.run(judge)
    with pytest.raises(NotFoundError, match="one occasion only") as caught:
        drift(bench, judge)
    assert "--occasion 2" in (caught.value.hint or "")
    bench.run(again(judge, 2))
    bench.run(again(judge, 3))
    found = drift(bench, judge)
    assert (found.labelled, found.queries) == (ITEMS, 3)
    assert "occasion 1 of 2" in found.first
    assert "occasion 3 of 2" in found.second
    assert found.kappa.value != 1.0
    steady = bench.judge("plain")
    bench.run(steady)
    bench.run(again(steady, 2))
    same = drift(bench, steady)
    assert (same.relevance.raised, same.relevance.lowered) == (0, 0)
    assert drift(bench, judge, 2, 3).second == found.second
    for wrong in ((1, 1), (1, 4)):
        with pytest.raises(NotFoundError, match="no two occasions"):
            drift(bench, judge, *wrong)
    with bench.store.read() as connection, pytest.raises(UsageError):
        read_drift(connection, judge.name, steady.name, occasions=(1, 2))


def test_the_commands_judge_again_and_tell_the_drift(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELER_DB", bench.store.location.address)
    words = ["judge", "run", "p", "--judge", "openai/wavering:1"]
    words += ["--endpoint", bench.ask.provider.address]
    for occasion in ("1", "2"):
        assert command([*words, "--occasion", occasion]) == 0
    drifted = ["report", "drift", "openai/wavering:1+direct", "--pool", "p"]
    capsys.readouterr()
    assert command([*drifted, "--html", "drift.html", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["labelled"] == ITEMS
    assert content["changed"] == []
    assert Path("drift.html").read_text(encoding="utf-8").count("<svg") == 2
    assert command([*drifted, "--occasions", "1", "2"]) == 0
    for more in (["--samples", "2"], ["--batch"], ["--retry", "failed"]):
        assert command([*words, "--occasion", "2", *more]) == 2
    assert command([*words, "--occasion", "0"]) == 2
    assert command(["judge", "run", "p", "--occasion", "2"]) == 2
