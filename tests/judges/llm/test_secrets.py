"""No key reaches a disk, a screen or a log, however badly a run goes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.fake_provider.running import Provider, running_provider
from tests.judges.llm.running import Templates
from tests.nursery import Ended, Nursery

KEYS = {
    "OPENAI_API_KEY": "sk-proj-Abc123Def456Ghi789Jkl012Mno345",
    # A key without a form that anybody would know it by.
    "ANTHROPIC_API_KEY": "correct horse battery staple 42",
    "HTTP_AUTH_TOKEN": "dG9wIHNlY3JldCBvZiB0aGUgaG91c2U=",
}
TEXTS = {
    "refusal": "I'm sorry, but I can't help with that: {key}",
    "answer": '{{"quote": "{key}", "reason": "the key is {key}", "level": "2"}}',
    "prose": "Your key {key} is wrong.",
    "cut": '{{"reason": "{key}',
    "label": '{{"reason": "x", "level": "{key}"}}',
}
SCENARIOS = [
    *("echo-key", "status-500", "drop", "hang", "unprocessable", "too-long", "raw-surrogate"),
    *("content-filter-400", "refusal", "bad-label", "truncated", "empty-choices"),
    *(f"says:{name}:{number}" for name in TEXTS for number in range(len(KEYS))),
]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    texts = {
        f"{name}:{number}": text.format(key=key)
        for name, text in TEXTS.items()
        for number, key in enumerate(KEYS.values())
    }
    with running_provider(texts=texts) as running:
        yield running


@dataclass(frozen=True)
class Left:
    """What a process printed, and what files there are after it."""

    printed: Ended
    written: Mapping[str, bytes]


@pytest.fixture(scope="module")
def left(nursery: Nursery, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """Run everything that can go wrong in one process, with keys in its environment."""
    folder = tmp_path_factory.mktemp("secrets")
    work, temp = folder / "work", folder / "tmp"
    for one in (work, temp):
        one.mkdir()
    templates = Templates(folder)
    texts = {"q": [f"passage {number} [[scenario={s}]]" for number, s in enumerate(SCENARIOS)]}
    with templates.copy(work, texts):
        pass
    common = ["--endpoint", provider.address, "--timeout", "2", "--attempts", "1"]

    def judge(model: str, *more: str) -> list[str]:
        return ["judge", "run", "p", "--judge", f"openai/{model}", *common, *more]

    commands = [
        judge("marked"),
        judge("marked", "--mode", "tools", "--json"),
        judge("unauthorised"),
        judge("echo-key"),
        judge("quota", "--price", "1,1", "--max-cost", "1"),
        judge("forbidden"),
        judge("plain", "--dry-run"),
        judge("plain"),
    ]
    nursery.start(
        commands,
        folder=work,
        environment={**KEYS, "TMPDIR": str(temp)},
        bug=f"no table for {KEYS['ANTHROPIC_API_KEY']}",
    )
    ended = nursery.wait()
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return Left(ended, found)


def exits(text: str) -> Sequence[str]:
    return [line.removeprefix("exit ") for line in text.splitlines() if line.startswith("exit ")]


def test_the_runs_went_as_badly_as_they_were_meant_to(left: Left) -> None:
    # Some failed; refused; down; refused; refused; counted; a bug.
    assert exits(left.printed.out) == ["3", "3", "4", "1", "4", "4", "0"]
    assert left.printed.code == 1
    assert "unauthorised (HTTP 401)" in left.printed.err
    assert "this is a bug in Labeler (RuntimeError" in left.printed.err
    assert any(name.startswith("tmp/labeler-bug-") for name in left.written)
    database = left.written["work/queue.db"]
    for said in (b"server_error (HTTP 500)", b"[key removed]", b"Incorrect", b"Your key"):
        assert said in database, said


@pytest.mark.parametrize("name", KEYS)
def test_no_key_is_anywhere(left: Left, name: str) -> None:
    key = KEYS[name]
    # Parts too: a message that was cut in the middle may hold an end of it.
    parts = {key, key[: len(key) // 2], key[len(key) // 2 :]}
    printed = {"stdout": left.printed.out.encode(), "stderr": left.printed.err.encode()}
    places = {**printed, **left.written}
    for place, content in places.items():
        for part in parts:
            assert part.encode() not in content, place


def test_only_the_header_holds_the_key(provider: Provider, left: Left) -> None:
    assert list(provider.authorizations()) == [f"Bearer {KEYS['OPENAI_API_KEY']}"]
    for request in provider.requests():
        held = {name: value for name, value in request["headers"].items() if "sk-proj" in value}
        assert list(held) == ["authorization"]
        assert not any(key in json.dumps(request["body"]) for key in KEYS.values())
