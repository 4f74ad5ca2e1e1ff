"""Keys are taken out of texts, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.redaction import redacted, secrets_in, without

SHOWN = "[key removed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdef123456", f"{SHOWN}"),
        ("Incorrect API key provided: sk-tes************tail. You", f"Incorrect {SHOWN} You"),
        ("no sk-proj-abcDEF_123-xyz here", f"no {SHOWN} here"),
        ("sk-ant-api03-abcdef", SHOWN),
        ("gsk_abcdef123 and xai-abcdef1", f"{SHOWN} and {SHOWN}"),
        ("AIzaSyA-abcdef_123", SHOWN),
        ("AKIAABCDEFGH1234", SHOWN),
        ("hf_abcdefghij", SHOWN),
        ("{'api_key': 'abcd1234'}", f"{{'{SHOWN}'}}"),
        ("x-api-key: abcd1234, next", f"{SHOWN}, next"),
        ("https://user:secret@host/v1", f"https{SHOWN}host/v1"),
        ("Basic dXNlcjpzZWNyZXQ=", SHOWN),
    ],
)
def test_what_has_the_form_of_a_key(text: str, expected: str) -> None:
    assert redacted(text, {}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the passage tells of a key to the city",
        "risk-averse task-oriented",
        "the api and the password are explained elsewhere",
        "http://127.0.0.1:8080/v1/chat",
        "a bearer of bad news",
        "basic requirements, a basic understanding, basic principles",
        "The bearer presents documents",
        "key-value stores, api-gateway pages, a key-performance table",
        '{"level": "2", "reason": "basic training is described", "confidence": 0.9}',
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert redacted(text, {}) == text


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("OPENAI_API_KEY", True),
        ("HF_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("DB_PASSWORD", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", True),
        ("PROXY_AUTH", True),
        ("AUTHORIZATION", True),
        ("my_api_key", True),
        ("GIT_AUTHOR_NAME", False),
        ("KEYBOARD", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("MONKEY", False),
        ("LANG", False),
        ("HOME", False),
    ],
)
def test_names_of_variables_that_hold_keys(name: str, is_secret: bool) -> None:
    found = redacted("it said swordfish!", {name: "swordfish"})
    assert found == ("it said [key removed]!" if is_secret else "it said swordfish!")


def test_the_processes_own_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_API_KEY", "swordfish-1234")
    assert redacted("got swordfish-1234") == f"got {SHOWN}"


def test_short_values_are_no_keys() -> None:
    assert redacted("yes, true and none", {"A_KEY": "true", "B_TOKEN": "none"}) == (
        "yes, true and none"
    )


@pytest.mark.parametrize("names", [("A_KEY", "B_KEY"), ("B_KEY", "A_KEY")])
def test_a_key_that_begins_another_leaves_nothing_of_it(names: tuple[str, str]) -> None:
    short, long = names
    environment = dict.fromkeys(names, "")
    environment |= {short: "swordfish", long: "swordfish+whale"}
    environment = {name: environment[name] for name in ("A_KEY", "B_KEY")}
    assert redacted("<swordfish+whale> <swordfish>", environment) == f"<{SHOWN}> <{SHOWN}>"


KEYS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=8, max_size=40)


@given(KEYS, st.text(max_size=30), st.text(max_size=30))
def test_no_key_of_the_environment_survives(key: str, before: str, after: str) -> None:
    assert key not in redacted(before + key + after, {"SOME_API_KEY": key})


PARTS = st.lists(
    st.sampled_from(
        ["Authorization: ", "Bearer ", "api key provided: ", "password=", "sk-abcdef12", "x", " "]
    ),
    max_size=6,
).map("".join)


@given(st.one_of(st.text(max_size=80), PARTS))
def test_what_was_redacted_twice_stays_as_it_is(text: str) -> None:
    twice = redacted(redacted(text, {}), {})
    assert redacted(twice, {}) == twice


@given(st.text(max_size=80))
def test_a_text_that_holds_no_known_key_stays_as_it_is(text: str) -> None:
    secrets = secrets_in({"SOME_API_KEY": "swordfish", "LANG": "long enough"})
    assert secrets == ("swordfish",)
    assert without(text, secrets) == text
    assert without(f"{text}swordfish sk-abcdefghij", secrets) == f"{text}{SHOWN} sk-abcdefghij"
