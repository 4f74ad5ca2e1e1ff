"""Folders of packs and journals, and what a run left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labeler.errors import ConflictError, StoreError
from labeler.providers.chat import Ended
from labeler.store.location import Location
from labeler.synthesis.journals import answers_in, held, left_journals, new_journal, work_folder
from labeler.synthesis.orders import Answered, write_line


def test_the_folder_lies_beside_the_database_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = work_folder(Location(str(tmp_path / "p.db")))
    assert folder == tmp_path / "p.db.generate"
    assert folder.stat().st_mode & 0o077 == 0
    assert work_folder(Location(str(tmp_path / "p.db"))) == folder


def test_two_databases_on_a_server_have_two_folders_that_name_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    one, two = (
        work_folder(Location(f"postgresql://user:secret@host/{name}")) for name in ("one", "two")
    )
    assert one != two
    assert one.is_dir()
    assert tmp_path in one.parents
    assert "secret" not in str(one)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "p.db.generate").write_text("a file")
    with pytest.raises(StoreError, match="can't be made"):
        work_folder(Location(str(tmp_path / "p.db")))


def test_journals_are_found_with_their_jobs(tmp_path: Path) -> None:
    names = [new_journal(tmp_path, job) for job in ("7a", "7a", "12")]
    assert len(set(names)) == 3
    for path in names:
        path.touch()
    for other in ("journal.jsonl", "pack-1-2.jsonl", "journal-7-1.txt"):
        (tmp_path / other).touch()
    assert sorted(left_journals(tmp_path)) == sorted(zip(("7a", "7a", "12"), names, strict=True))


def answered(request: str) -> Answered:
    """Make an answer that is kept in a journal."""
    return Answered(request, Ended.FAILED, f"no answer at {datetime.now(UTC):%Y}", ())


def test_answers_are_read_in_order_and_other_lines_passed_over(tmp_path: Path) -> None:
    path = new_journal(tmp_path, "1")
    wanted = [answered("a"), answered("b\u2028c")]
    lines = [write_line({"key": 1} | one.to_json()) for one in wanted]
    path.write_text(lines[0] + write_line({"expose": 3}) + "\n" + lines[1], encoding="utf-8")
    assert answers_in(path) == wanted


@pytest.mark.parametrize("lost", [1, 2, 20, 60])
def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path, lost: int) -> None:
    path = new_journal(tmp_path, "1")
    whole, cut = (write_line(answered(name).to_json()) for name in "ab")
    path.write_text(whole + cut[: -1 - lost], encoding="utf-8")
    assert answers_in(path) == [answered("a")]


def test_one_run_holds_a_folder_until_it_ends(tmp_path: Path) -> None:
    with held(tmp_path) as lock:
        assert lock is not None
        with pytest.raises(ConflictError, match="already"), held(tmp_path):
            pass
    with held(tmp_path) as again:
        assert again is not None


def test_a_folder_is_held_while_the_other_process_lives(tmp_path: Path) -> None:
    wait = "import sys; sys.stdin.read()"
    with held(tmp_path) as lock:
        assert lock is not None
        other = subprocess.Popen(
            [sys.executable, "-c", wait], stdin=subprocess.PIPE, pass_fds=[lock]
        )
    try:
        with pytest.raises(ConflictError), held(tmp_path):
            pass
    finally:
        other.communicate(b"")
    with held(tmp_path) as lock:
        assert lock is not None
        os.fstat(lock)
