"""`labeler review` from the command line: filters, limits, settings, in line mode."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import Grade
from labeler.queue.sitting.session import ReviewSession
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import QUERIES, HandJudge, judge, pooled, write_jsonl

ASKED = {"q1": ("returns", "en"), "q2": ("network", "pt"), "q3": ("network", "pt-BR")}


@pytest.fixture
def routed(own_folder: Path) -> Path:
    """The small project, judged without much confidence, routed: 11 items wait."""
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        rows: list[dict[str, object]] = [
            {"_id": key, "text": QUERIES[key], "domain": domain, "language": language}
            for key, (domain, language) in ASKED.items()
        ]
        path = write_jsonl(own_folder / "q.jsonl", rows)
        import_queries(store, [path], QueryOptions(update=True))
        names = [f"c{number:02d}" for number in range(1, 13)]
        judge(store, HandJudge(dict.fromkeys(names, (Grade.PARTIALLY_RELEVANT, 0.6))))
    assert run(["route", "p"]) == 0
    return own_folder


class Reviewer:
    """Runs `labeler review --plain` on some lines; gives the exit code and what was printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, text: str, *options: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(text))
        self._capsys.readouterr()
        code = run(["review", "--plain", "--reviewer", "ana", *options])
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err


@pytest.fixture
def review(
    routed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Reviewer:
    return Reviewer(monkeypatch, capsys)


def test_a_domain_and_a_language_are_taken_alone(review: Reviewer) -> None:
    code, told, _ = review("1\n" * 20, "--domain", "network", "--language", "PT-br")
    assert code == ExitCode.DONE
    assert set(re.findall(r"^Query: (.*)$", told, re.MULTILINE)) == {QUERIES["q3"]}
    assert re.search(r"nothing is left of domain network, language PT-br; \d+ items wait", told)


def test_what_matches_nothing_says_so_and_w_clears_it(review: Reviewer) -> None:
    options = ("--pool", "p", "--domain", "returns", "--language", "pt")
    _, told, _ = review("w\n1\nq\n", *options)
    asked = "pool p, domain returns, language pt"
    assert f"0 of 11 waiting items match: {asked}; w takes all items" in told
    assert told.count("Query: ") == 2
    assert "1 vote saved" in told
    _, told, _ = review("q\n", *options)
    assert told.endswith("w takes all items\n> 0 votes saved, 0 skipped, 0 taken back\n")


@pytest.mark.parametrize(
    ("option", "value", "known"),
    [("--domain", "retruns", "network, returns"), ("--language", "de", "en, pt, pt-BR")],
)
def test_what_nobody_knows_lists_what_is_known(
    review: Reviewer, option: str, value: str, known: str
) -> None:
    code, _, errors = review("1\n", option, value)
    assert code == ExitCode.ERROR
    assert f"no query is of the {option[2:]} '{value}'" in errors
    assert f"known: {known}" in errors


def test_minutes_end_the_sitting_with_the_item_that_is_shown(
    review: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(0, 10_000, 10))
    sitting = partial(ReviewSession, monotonic=lambda: float(next(now)))
    monkeypatch.setattr("labeler.queue.sitting.session.ReviewSession", sitting)
    code, told, _ = review("1\n" * 20, "--minutes", "1")
    assert code == ExitCode.DONE
    votes = told.count("not_relevant: saved")
    assert 1 < votes < 11
    assert told.rstrip().splitlines()[-1].startswith(f"{votes} votes saved, 0 skipped")
    assert re.search(r"; [0-9.]+ s an item$", told.rstrip())
    assert told.rstrip().splitlines()[-1].count("relevant") == 0


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_minutes_are_above_zero(review: Reviewer, minutes: str) -> None:
    code, _, errors = review("1\n", f"--minutes={minutes}")
    assert code == ExitCode.USAGE
    assert "--minutes is a number above 0" in errors


def test_settings_decide_whether_judges_are_shown(review: Reviewer, routed: Path) -> None:
    _, told, _ = review("1\nq\nv\n")
    assert "udges said" not in told
    (routed / "labeler.toml").write_text('[review]\nreveal = "at_once"\nrepeats = 0\n')
    _, told, _ = review("1\n\nq\n")
    assert "You said not relevant. Judges said:\n  A partially relevant" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[review]\nreveal = "always"', "labeler.toml, review.reveal"),
        ("[review]\nrepeats = 2", "labeler.toml, review.repeats"),
    ],
)
def test_bad_settings_are_told_before_anything_is_shown(
    review: Reviewer, routed: Path, text: str, told: str
) -> None:
    (routed / "labeler.toml").write_text(text)
    code, printed, errors = review("1\n")
    assert (code, printed) == (ExitCode.USAGE, "")
    assert told in errors


def test_the_overlap_of_the_settings_is_what_routing_wants(
    routed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (routed / "labeler.toml").write_text("[review.overlap]\nlow_confidence = 2\n")
    assert run(["route", "p"]) == 0
    capsys.readouterr()
    assert run(["queue"]) == 0
    assert re.search(r"^waiting\s+22$", capsys.readouterr().out, re.MULTILINE)
    (routed / "labeler.toml").write_text("[review.overlap]\nlow_confidenc = 2\n")
    assert run(["route", "p"]) == ExitCode.USAGE
    errors = capsys.readouterr().err
    assert "labeler.toml, review.overlap.low_confidenc: no such reason" in errors


@pytest.mark.parametrize("options", [[], ["--questions"], ["--lead"]])
@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_place_its_cursor_is_told_at_once(
    routed: Path, term: str, options: list[str]
) -> None:
    told = _at_a_terminal(["review", *options], term)
    assert "a terminal that can place its cursor" in told
    assert "\x1b[?1049h" not in told, "the app has taken the screen"


def _at_a_terminal(command: list[str], term: str) -> str:
    """Run a command at a terminal of its own; give what it wrote, once it has ended."""
    pty = pytest.importorskip("pty", reason="this system has no terminals to make")
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": term}
    line = [sys.executable, "-c", "from labeler.cli.app import main; main()", *command]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as process:
        os.close(theirs)
        try:
            code = process.wait(timeout=60)
        finally:
            process.kill()
        told = os.read(ours, 100_000).decode()
        os.close(ours)
    assert code == ExitCode.USAGE
    return " ".join(told.split())
