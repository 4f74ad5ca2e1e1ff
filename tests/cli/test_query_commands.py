"""Queries and missing evidence from the command line: line mode, report, correction."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.app import run
from labeler.queue.route import route_pool
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import pooled


@pytest.fixture
def project(own_folder: Path) -> Path:
    with open_store(Location("queue.db"), create=True) as store:
        pooled(store, own_folder)
        route_pool(store, "p", UNCALIBRATED)
    return own_folder


class Shell:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: str, typed: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        self._capsys.readouterr()
        code = run(list(words))
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err

    def review(self, name: str, typed: str) -> str:
        code, printed, _ = self("review", "--plain", "--as", name, typed=typed)
        assert code == 0
        return printed


@pytest.fixture
def shell(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    return Shell(monkeypatch, capsys)


def test_a_passage_is_found_and_handed_on_line_by_line(shell: Shell) -> None:
    printed = shell.review("ana", "y 1\nm zeppelin\nm about fact\ny 99\nq\n")
    assert "nothing in the snapshot holds these words" in printed
    assert "(already in the queue or judged) Document" in printed
    assert "there are 11 of them" in printed
    listed = [line for line in printed.splitlines() if line[:3].strip().isdigit()]
    number = next(line.split()[0] for line in listed if "already" not in line)
    printed = shell.review("ana", f"m about fact\ny {number}\nq\n")
    assert "handed on: somebody else judges that passage, blind" in printed
    code, counted, _ = shell("queue")
    assert code == 0
    assert "person_found" in counted
    assert shell.review("ana", "1\n" * 20).count(": saved") == 11
    assert shell.review("bo", "1\n" * 20).count(": saved") == 1


def test_queries_are_marked_and_corrected_from_what_is_proposed(shell: Shell) -> None:
    assert shell("report", "query-issues")[1].startswith("nobody marked")
    printed = shell.review(
        "ana",
        "e it doesn't say which router\nn and 'this' too\ne date=July\ne 'x=\n"
        "e domain=billing region=EU 'as it says'\nq\n",
    )
    assert "the query is marked as unclear" in printed
    assert "not taken: the condition date is YYYY-MM-DD, not 'July'" in printed
    assert "not taken: No closing quotation" in printed
    assert "proposed: the lead decides" in printed
    shell.review("bo", "4 query unclear\nq\n")
    code, printed, _ = shell("report", "query-issues", "--pool", "p")
    assert code == 0
    assert "it doesn't say which router" in printed
    assert "and 'this' too" in printed
    assert "domain - -> billing, region - -> EU (as it says); ana, open" in printed
    listed = json.loads(shell("report", "query-issues", "--json")[1])["queries"]
    proposed = next(one for one in listed if one["proposals"])
    assert proposed["proposals"][0]["state"] == "open"
    query = proposed["query"]

    code, printed, told = shell(
        "correct", "query", query, "--proposal", "1", "--reason", "so", "--dry-run"
    )
    assert (code, "nothing was changed" in told) == (0, True)
    code, printed, _ = shell(
        "correct", "query", query, "--proposal", "1", "--reason", "so", "--json"
    )
    answer = json.loads(printed)
    assert (code, answer["version"], len(answer["differences"])) == (0, 2, 2)
    assert "ana, applied" in shell("report", "query-issues")[1]
    assert shell("correct", "query", query, "--proposal", "1", "--reason", "so")[0] == 1


def test_conditions_are_given_by_name_and_value(shell: Shell) -> None:
    corrected = shell(
        *("correct", "query", "q1", "--condition", "region=EU", "--condition", "audience=staff"),
        *("--domain", "billing", "--reason", "so it is"),
    )
    assert corrected[0] == 0
    assert "region" in corrected[1]
    assert shell("correct", "query", "q1", "--condition", "region=", "--reason", "no")[0] == 0
    code, _, told = shell("correct", "query", "q1", "--condition", "region", "--reason", "no")
    assert (code, "NAME=VALUE" in told) == (2, True)
    code, _, told = shell("correct", "query", "q1", "--decline", "--reason", "no")
    assert (code, "--decline goes with --proposal" in told) == (2, True)


def test_a_proposal_is_declined(shell: Shell) -> None:
    shell.review("ana", "e domain=billing\nq\n")
    listed = json.loads(shell("report", "query-issues", "--json")[1])["queries"]
    decline = ["correct", "query", listed[0]["query"], "--proposal", "1", "--decline"]
    code, _, told = shell(*decline, "--reason", "no")
    assert (code, told) == (0, "proposal 1 is declined; the query stays as it is\n")
    assert "ana, declined" in shell("report", "query-issues")[1]
