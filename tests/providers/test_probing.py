"""What is found out about models of every kind, over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from labeler.errors import ProviderDownError, ProviderRefusedError
from labeler.providers import embedded_language_model, embedded_weights, probing
from labeler.providers.chat import AnswerMode, ChatRequest
from labeler.providers.findings import Finding, Rating
from labeler.providers.probe_question import question
from labeler.providers.probing import Probed, probe_model
from labeler.providers.profiles import Profile
from tests.fake_provider.running import Provider, running_provider

KEY = "sk-very-secret-0123456789"
SCHEMA, TOOLS, TEXT = AnswerMode.JSON_SCHEMA, AnswerMode.TOOLS, AnswerMode.TEXT


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    """One server for the tests of this file."""
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The server without what earlier tests left."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.reset()
    running.configure(max_model_len=None)
    return running


def probe(provider: Provider, name: str, *, timeout: float = 10.0) -> Probed:
    return probe_model(
        f"openai/{name}", provider.address, timeout=timeout, clock=lambda: datetime.now(UTC)
    )


def finding(probed: Probed, check: str) -> Finding:
    (found,) = [one for one in probed.findings if one.check == check]
    return found


def profile(probed: Probed) -> Profile:
    assert probed.profile is not None
    return probed.profile


def test_a_model_that_does_everything_takes_six_calls(provider: Provider) -> None:
    probed = probe(provider, "plain")
    assert probed.profile == Profile(SCHEMA, logprobs=True, temperature=True, origin="probed")
    assert {one.rating for one in probed.findings} <= {Rating.OK, Rating.NOTE}
    assert provider.count("plain", "requests") == probed.spent.calls == 6
    assert probed.spent.prompt_tokens > probed.spent.completion_tokens > 0
    assert (probed.spent.cost, probed.spent.unpriced) == (0.0, 6)
    assert [request["body"].get("temperature") for request in provider.requests("plain")] == [
        *(None, 0.0, 0.0, 0.0, 0.0, 0.0)
    ]


@pytest.mark.parametrize(
    ("name", "mode", "logprobs", "temperature"),
    [
        ("no-logprobs", SCHEMA, False, True),
        ("fake-logprobs", SCHEMA, False, True),
        ("refuses-logprobs", SCHEMA, False, True),
        ("refuses-temperature", SCHEMA, True, False),
        ("refuses:response_format", TOOLS, False, True),
        ("refuses:tools", SCHEMA, True, True),
        ("fenced", TEXT, False, True),
        ("words", TEXT, False, True),
        # The object fits nothing that was asked for, though it can be read.
        ("extra-fields", TEXT, False, True),
        ("wrong-case", TEXT, False, True),
        # litellm takes thoughts out of the text, so that what is left has its shape.
        ("think", SCHEMA, False, True),
    ],
)
def test_the_profile_is_what_the_model_does(
    provider: Provider, name: str, mode: AnswerMode, logprobs: bool, temperature: bool
) -> None:
    probed = probe(provider, name)
    expected = Profile(mode, logprobs=logprobs, temperature=temperature, origin="probed")
    assert probed.profile == expected
    assert finding(probed, "mode").found == f"{mode.value} is used"
    assert provider.count(name, "requests") == probed.spent.calls == 6


@pytest.mark.parametrize(
    ("name", "rating", "said"),
    [
        ("plain", Rating.OK, "real: level "),
        ("no-logprobs", Rating.NOTE, "none came"),
        ("fake-logprobs", Rating.WARN, "not real: every token has the same, 0"),
        ("refuses-logprobs", Rating.NOTE, "not taken"),
        ("fenced", Rating.NOTE, "don't tell two levels apart"),
    ],
)
def test_log_probabilities_are_looked_at(
    provider: Provider, name: str, rating: Rating, said: str
) -> None:
    found = finding(probe(provider, name), "log-probabilities")
    assert found.rating is rating
    assert said in found.found


def test_a_schema_that_is_not_heeded_is_found_out(provider: Provider) -> None:
    # As the prompt asks for it, and as it would look without any schema.
    provider.configure(texts={"prompted": '{"reason": "It says how.", "level": "2"}'})
    probed = probe(provider, "says:prompted")
    assert profile(probed).mode is TEXT
    assert finding(probed, "json-schema").found.startswith("not held")
    assert finding(probed, "text").found == "the answer is a bare object"


def test_what_is_turned_away_is_named(provider: Provider) -> None:
    found = finding(probe(provider, "refuses-temperature"), "temperature 0")
    assert found.rating is Rating.WARN
    assert found.found.startswith("not taken: unsupported_parameter (HTTP 400): Unsupported value")
    found = finding(probe(provider, "refuses:response_format"), "json-schema")
    assert "'response_format' is not supported" in found.found


@pytest.mark.parametrize(
    ("scenario", "form"),
    [
        ("refusal", "field"),
        ("refusal-prose", "prose"),
        ("content-filter", "filter"),
        ("content-filter-400", "status"),
        ("plain", None),
    ],
)
def test_the_form_of_a_refusal(provider: Provider, scenario: str, form: str | None) -> None:
    probed = probe(provider, f"squeamish:{scenario}")
    assert profile(probed).refusal == form
    assert finding(probed, "refusal").rating is Rating.OK


def test_a_refusal_in_words_that_nobody_knows_is_told(provider: Provider) -> None:
    provider.configure(texts={"no": "That is nothing for me, dear user, ask somebody else please."})
    probed = probe(provider, "squeamish:says:no")
    assert profile(probed).refusal == "prose"
    assert finding(probed, "refusal").rating is Rating.WARN


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("refusal", "refused, a harmless question (field)"),
        ("refusal-prose", "refused, a harmless question (prose)"),
        ("content-filter", "refused, a harmless question (filter)"),
        ("content-filter-400", "refused, a harmless question (status)"),
        ("empty-choices", "no choices"),
        ("bad-label", "no answer that can be used"),
        ("unprocessable", "not taken: bad_request (HTTP 422)"),
    ],
)
def test_a_model_without_an_answer_has_no_profile(provider: Provider, name: str, said: str) -> None:
    probed = probe(provider, name)
    assert probed.profile is None
    assert finding(probed, "mode").rating is Rating.BAD
    assert [said in finding(probed, mode).found for mode in AnswerMode] == [True] * 3
    # Whether it takes a temperature is only asked where something came.
    calls = 3 if "not taken" in said or "status" in said else 4
    assert provider.count(name, "requests") == probed.spent.calls == calls


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unauthorised", "unauthorised"),
        ("quota", "quota"),
        ("missing", "no_such_model"),
        ("forbidden", "forbidden"),
        ("payment", "payment_required"),
        ("refuses:max_tokens", "max_tokens"),
    ],
)
def test_a_provider_that_takes_no_request_is_asked_once(
    provider: Provider, name: str, words: str
) -> None:
    with pytest.raises(ProviderRefusedError, match=words) as caught:
        probe(provider, name)
    assert provider.count(name, "requests") == 1
    assert caught.value.hint is not None
    assert "labeler doctor" not in caught.value.hint
    assert KEY[:7] not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "words"), [("openai/gpt-4o-mini", "unauthorised"), ("nobody/m", "no_such_model")]
)
def test_without_a_key_or_a_provider_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, model: str, words: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ProviderRefusedError, match=words):
        probe_model(model, None, timeout=5, clock=lambda: datetime.now(UTC))


@pytest.mark.parametrize(("name", "requests"), [("status-500", 3), ("drop", 3), ("hang", 3)])
def test_a_provider_that_is_down_is_given_up(provider: Provider, name: str, requests: int) -> None:
    with pytest.raises(ProviderDownError, match="doesn't answer"):
        probe(provider, name, timeout=0.3)
    assert provider.count(name, "requests") == requests


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with socket.socket() as reserved:  # bound, and nobody listens
        reserved.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        with pytest.raises(ProviderDownError):
            probe_model("openai/x", address, timeout=2, clock=lambda: datetime.now(UTC))


def test_failures_that_pass_change_nothing(provider: Provider) -> None:
    probed = probe(provider, "flaky:1:429")
    assert profile(probed) == profile(probe(provider, "plain"))
    assert probed.spent.calls == provider.count("flaky:1:429", "requests") == 12


def test_a_model_that_thinks_long_gets_more_room(provider: Provider) -> None:
    probed = probe(provider, "truncated")
    assert probed.profile is None
    assert finding(probed, "length of an answer").rating is Rating.BAD
    limits = [request["body"]["max_tokens"] for request in provider.requests("truncated")]
    assert limits == [800] * 4 + [4000] * 3
    long = '{"reason": "' + "a long thought " * 400 + '", "level": "1", "language": "en"}'
    provider.configure(texts={"long": long})  # 1,500 tokens
    probed = probe(provider, "says:long")
    assert profile(probed).mode is SCHEMA
    assert "--max-output-tokens 4000" in str(finding(probed, "length of an answer").hint)


def test_the_context_length_is_the_servers_own_word(provider: Provider) -> None:
    assert profile(probe(provider, "window:8192")).context_length is None
    provider.configure(max_model_len=32_768)
    probed = probe(provider, "plain")
    assert profile(probed).context_length == 32_768
    assert finding(probed, "context length").found == (
        "32,768 tokens (max_model_len in the server's list of models)"
    )


def test_a_context_that_is_too_short_is_read_from_the_error(provider: Provider) -> None:
    probed = probe(provider, "window:50")
    assert probed.profile is None
    assert finding(probed, "context length").found == "50 tokens (what the provider said)"


def test_no_key_gets_into_what_is_found(provider: Provider) -> None:
    for name in ("echo-key", "unauthorised"):
        with pytest.raises((ProviderDownError, ProviderRefusedError)) as caught:
            probe(provider, name)
        assert KEY not in f"{caught.value} {caught.value.hint}"
    assert list(provider.authorizations()) == [f"Bearer {KEY}"]


def test_the_embedded_model_is_probed_like_any_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for package in ("xllamacpp", *(name for name, _ in embedded_weights._PARTS)):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra 'language-model')")
    monkeypatch.setattr(embedded_weights, "_cache_folder", lambda: tmp_path)

    def hurried(model: str, endpoint: str | None, mode: AnswerMode, *rest: Any) -> ChatRequest:
        request = question(model, endpoint, mode, *rest)
        # Where no grammar holds it, it rambles to the end of what it may have.
        return replace(request, parameters={"max_tokens": 8}) if mode is TEXT else request

    monkeypatch.setattr(probing, "question", hurried)
    embedded_language_model.register()
    (name,) = embedded_language_model.MODEL_NAMES
    probed = probe_model(name, None, timeout=600, clock=lambda: datetime.now(UTC))
    # Its grammar holds it to a schema, and it has no tools.
    assert profile(probed).mode is SCHEMA
    assert profile(probed).logprobs
    assert profile(probed).temperature
    assert profile(probed).context_length == embedded_language_model.context_length()
    assert "does not support parameters" in finding(probed, "tools").found
    assert (probed.spent.cost, probed.spent.unpriced) == (0.0, 0)
