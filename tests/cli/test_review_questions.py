"""`labeler review --questions`, line by line and as a command."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.cli.review_questions import AskedQuestions, OpenQuestionDesk, question_lines
from labeler.errors import ExitCode
from labeler.queue.questions.orders import REJECT_REASONS
from labeler.settings import ReviewSettings
from labeler.store.database import Store
from tests.generated import LEAVE, Made, add_questions
from tests.tui.deciding import question_events


@pytest.fixture
def database(sqlite_store: Store, own_folder: Path, tmp_path: Path) -> Path:
    add_questions(sqlite_store, own_folder, LEAVE)
    return tmp_path / "queue.db"


def answered(database: Path, *lines: str, limit: int | None = None) -> str:
    """Give lines to a sitting; give what it wrote."""
    asked = AskedQuestions("ana", None, None, limit, None, str(database), ReviewSettings())
    desk, target = OpenQuestionDesk(asked), io.StringIO()
    try:
        question_lines(desk, asked, io.StringIO("".join(f"{line}\n" for line in lines)), target)
    finally:
        desk.close()
    return target.getvalue()


def test_lines_are_stored_as_what_they_say(sqlite_store: Store, database: Path) -> None:
    told = answered(database, "a", "r 2", "r it asks two things", "e In other words?", "a")
    assert question_events(sqlite_store) == [
        ("accept", None, None),
        ("reject", None, REJECT_REASONS[1]),
        ("reject", None, "it asks two things"),
        ("edit", "In other words?", None),
    ]
    assert "no question waits for you" in told
    assert told.splitlines()[-1] == "4 questions decided, 0 skipped"


def test_undo_skip_and_help(sqlite_store: Store, database: Path) -> None:
    told = answered(database, "s", "x", "a", "u", "q")
    assert [kind for kind, _, _ in question_events(sqlite_store)] == ["skip", "accept", "undo"]
    assert "r 1  the passage doesn't answer it" in told
    assert told.splitlines()[-1] == "0 questions decided, 1 skipped"


def test_the_evidence_stands_below_its_passage(database: Path) -> None:
    told = " ".join(answered(database, *["s"] * 4).split())
    assert "Evidence: Who falls ill gets those days back" in told
    assert "kind: conditional, domain: hr, audience: contractors, region: DE" in told
    assert "secret-generator" not in told


def test_a_limit_ends_the_sitting(sqlite_store: Store, database: Path) -> None:
    answered(database, "s", "a", "a", "a", limit=1)
    assert [kind for kind, _, _ in question_events(sqlite_store)] == ["skip", "accept"]


def test_an_edit_without_a_change_is_not_saved(sqlite_store: Store, database: Path) -> None:
    shown = " ".join(answered(database, "q").split())
    [text] = [made.text for made in LEAVE if made.text in shown]
    assert "the wording is the same" in answered(database, f"e {text}", "q")
    assert question_events(sqlite_store) == []


def test_text_from_outside_reaches_the_terminal_as_glyphs(
    sqlite_store: Store, own_folder: Path, tmp_path: Path
) -> None:
    text = "red \x1b[31mtext\x1b[0m \x07 \u202eevil"
    add_questions(sqlite_store, own_folder, [Made(text, [f"{text} [[{text}]]"], answer=text)])
    told = answered(tmp_path / "queue.db", "q")
    assert not set("\x1b\x07\u202e") & set(told)
    assert "␛[31mtext" in told


def test_the_command_reads_lines(
    database: Path, sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nq\n"))
    assert run(["review", "--questions", "--plain", "--as", "ben", "--db", str(database)]) == 0
    assert [kind for kind, _, _ in question_events(sqlite_store)] == ["accept"]


@pytest.mark.parametrize("option", [["--lead"], ["--pool", "p"], ["--skipped"], ["--force"]])
def test_options_of_passages_do_not_go_with_questions(
    database: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["review", "--questions", "--plain", *option, "--db", str(database)])
    assert code == ExitCode.USAGE
    assert "--questions goes with --domain" in capsys.readouterr().err


def test_without_a_terminal_it_names_the_plain_form(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", "--questions", "--db", str(database)]) == ExitCode.USAGE
    assert "labeler review --questions --plain" in capsys.readouterr().err
