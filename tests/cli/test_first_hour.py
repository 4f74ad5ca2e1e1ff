"""What a newcomer types in the first hour, in the order in which it goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import HandJudge, fill, judge, passages, pooled, write_jsonl, write_run


def project(folder: Path) -> Path:
    """Make the small project in the working folder, pooled and judged."""
    with open_store(Location(str(folder / "queue.db")), create=True) as store:
        pooled(store, folder)
        judge(store, HandJudge())
    return folder


def test_routing_prints_one_json_object(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(own_folder)
    assert run(["route", "p", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["accepted"] == {"not_relevant": 11}
    assert told["reasons"] == {}


def test_runs_before_the_corpus_do_not_stand_in_the_way_later(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    early = write_run(own_folder / "early.run", "early", {"q1": ["c01", "c03"]})
    assert run(["import", "runs", str(early)]) == 0
    assert "ids-only" in capsys.readouterr().err
    corpus = write_jsonl(own_folder / "corpus.jsonl", passages())
    assert run(["import", "corpus", str(corpus), "--snapshot", "real"]) == 0
    assert run(["pool", "create", "p", "--depth", "2"]) == ExitCode.ERROR
    assert "no runs over the snapshot 'real'" in capsys.readouterr().err
    assert run(["import", "runs", str(early), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["snapshot"] == "real"
    assert run(["pool", "create", "p", "--depth", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_text"] == 0


def test_a_pool_never_guesses_among_snapshots(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(own_folder)
    other = write_jsonl(own_folder / "other.jsonl", [{"_id": "x", "text": "another corpus"}])
    assert run(["import", "corpus", str(other)]) == 0
    for command in (["pool", "create", "p2", "--depth", "2"], ["pool", "plan"]):
        assert run(command) == ExitCode.USAGE
        assert "several snapshots: 2026-07, other" in capsys.readouterr().err
    assert run(["pool", "create", "p2", "--depth", "2", "--snapshot", "2026-07"]) == 0


def test_a_correction_takes_its_level_from_the_scale_of_the_label(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        fill(store, own_folder)
    (own_folder / "q.qrels").write_text("q1 0 c03 0\nq1 0 c04 3\n")
    assert run(["import", "labels", "q.qrels", "--scale", "trec-0-3"]) == 0
    reason = ["--reason", "misread"]
    assert run(["correct", "judgment", "q1", "c03", "--level", "related", *reason]) == 0
    assert "related is in force" in capsys.readouterr().err
    assert run(["export", "qrels", "out.qrels"]) == 0
    assert Path("out.qrels").read_text() == "q1 0 c03 1\nq1 0 c04 3\n"
    assert run(["export", "qrels", "before.qrels", "--as-of", "5"]) == 0
    assert run(["db", "log", "--json"]) == 0


def test_labels_that_arrive_leave_the_queue(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(own_folder)
    assert run(["route", "p"]) == 0
    (own_folder / "q.qrels").write_text("q1 0 c03 0\nq1 0 c04 2\n")
    assert run(["import", "labels", "q.qrels"]) == 0
    capsys.readouterr()
    assert run(["queue", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wanted_votes"] == {"waiting": 9}
    assert told["by_status"] == {"open": 9, "settled": 2}


def test_a_judges_labels_are_told_in_an_export(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(own_folder)
    assert run(["route", "p"]) == 0
    assert run(["export", "qrels", "out.qrels", "--pool", "p"]) == 0
    assert "11 labels are a judge's" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\nb"])
def test_a_pool_has_a_name_that_can_be_typed(own_folder: Path, name: str) -> None:
    project(own_folder)
    assert run(["pool", "create", name, "--depth", "2"]) == ExitCode.USAGE


def test_an_interrupted_command_says_that_what_was_saved_is_kept(
    own_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    project(own_folder)
    monkeypatch.setattr("labeler.queue.route.route_pool", interrupted)
    assert run(["route", "p"]) == ExitCode.INTERRUPTED
    assert "what was saved is kept" in capsys.readouterr().err
