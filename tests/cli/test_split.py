from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.splits.drafts import plan_split
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.splits.planted import seeded, sentence

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(own_folder: Path, capsys: Captured) -> Path:
    """A project of 60 documents, 30 queries, and labels that tie some of them."""
    random = seeded(21)
    texts = {f"d{at:02}": sentence(random) for at in range(60)}
    texts["d01"] = " ".join([*texts["d00"].split()[:40], *sentence(random, 20).split()])
    texts["d02"] = " ".join([*texts["d00"].split()[34:], *sentence(random, 34).split()])
    rows = [
        {"_id": f"{name}#0", "text": text, "document": name, "domain": "x", "evidence_ids": [name]}
        for name, text in texts.items()
    ]
    queries = [
        {"_id": f"q{at:02}", "text": sentence(random, 9), "source_document": f"d{at:02}"}
        for at in range(30)
    ]
    _write("corpus.jsonl", rows)
    _write("queries.jsonl", queries)
    labels = [f"q{at:02} 0 d{at:02}#0 1\n" for at in range(30)]
    labels += [f"q{at:02} 0 d59#0 1\n" for at in range(30)]
    Path("labels.txt").write_text("".join(labels), encoding="utf-8")
    assert run(["import", "corpus", "corpus.jsonl", "--snapshot", "s1"]) == 0
    assert run(["import", "queries", "queries.jsonl"]) == 0
    assert run(["import", "labels", "labels.txt", "--assessor", "mo", "--scale", "binary"]) == 0
    capsys.readouterr()
    return own_folder


def _write(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _told(capsys: Captured, *words: str, code: int = 0) -> dict[str, Any]:
    assert run([*words, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


_PLAIN = "--no-embeddings"


def test_from_a_plan_to_a_check(project: Path, capsys: Captured) -> None:
    assert run(["split", "check"]) == ExitCode.ERROR
    assert "labeler split freeze" in capsys.readouterr().err
    assert run(["split", "plan", _PLAIN]) == 0
    told = capsys.readouterr()
    assert ["near_document", "1", "1", "0"] in [line.split() for line in told.out.splitlines()]
    assert "1 edge waits for a person and doesn't link" in told.err
    (waiting,) = _told(capsys, "split", "edges")["edges"]
    assert (waiting["left"], waiting["right"]) == ("document:d00", "document:d02")
    assert run(["split", "settle", "d00", "d02", "--link"]) == ExitCode.USAGE
    assert run(["split", "settle", "d00", "d02", "--link", "--why", "one report"]) == 0
    capsys.readouterr()
    frozen = _told(capsys, "split", "freeze", "main", _PLAIN)
    assert frozen["is_new"]
    assert not _told(capsys, "split", "freeze", "main", _PLAIN)["is_new"]
    explained = _told(capsys, "split", "explain", "q01", "q02")
    assert [edge["cause"] for edge in explained["chain"]] == [
        *("source_document", "near_document", "near_document", "source_document")
    ]
    assert len({place["group"] for place in explained["places"]}) == 1
    checked = _told(capsys, "split", "check", _PLAIN)
    assert checked["schema"] == "labeler-split-check-1"
    assert checked["holds"]
    assert checked["root_digest"] == frozen["root_digest"]
    assert all(rule["holds"] and not rule["findings"] for rule in checked["rules"])
    assert run(["split", "explain", "q01", "d59"]) == 0
    assert "no chain of links" in capsys.readouterr().out
    assert run(["split", "show"]) == 0
    assert frozen["root_digest"] in capsys.readouterr().out


def test_what_crosses_ends_with_code_8_and_shows_no_text(project: Path, capsys: Captured) -> None:
    assert run(["split", "freeze", "main", _PLAIN]) == 0
    capsys.readouterr()
    parts = {
        f"d{at:02}": _told(capsys, "split", "explain", f"d{at:02}", "d00")["places"][0]["part"]
        for at in range(3, 60)
    }
    sealed = next(name for name, part in parts.items() if part == "test")
    shown = next(name for name, part in parts.items() if part == "train")
    assert run(["split", "settle", sealed, shown, "--link", "--why", "one event"]) == 0
    assert run(["split", "check", _PLAIN]) == ExitCode.LEAKAGE
    told = capsys.readouterr()
    assert "no_link_across            no" in told.out
    assert f"document:{sealed} (test)" in told.err
    words = {
        word
        for line in Path("corpus.jsonl").read_text().splitlines()
        for word in json.loads(line)["text"].split()
        if word.startswith("w")
    }
    assert not words & set((told.out + told.err).split())


def test_a_group_that_is_too_large_is_shown_with_its_bridges(
    project: Path, capsys: Captured
) -> None:
    for at in range(10, 15):
        ends = [f"d{at}", f"d{at + 1}"]
        assert run(["split", "settle", *ends, "--link", "--why", "a manual"]) == 0
    assert run(["split", "freeze", "main", _PLAIN]) == ExitCode.ERROR
    told = capsys.readouterr().err
    assert "too large: a group of 6 documents, 3.0 allowed" in told
    assert "document:d12 - document:d13" in told
    assert "labeler split settle" in told


def test_relevance_across_parts_is_reported_as_leakage(project: Path, capsys: Captured) -> None:
    assert run(["report", "leakage"]) == ExitCode.ERROR
    assert run(["split", "freeze", "main", _PLAIN]) == 0
    capsys.readouterr()
    told = _told(capsys, "report", "leakage", code=ExitCode.LEAKAGE)
    (shared,) = told["shared_relevant_evidence"]
    assert shared["evidence"] == "d59"
    assert sum(map(len, shared["queries"].values())) == 30
    assert set(shared["queries"]) == {"train", "dev", "test"}
    own = _told(capsys, "split", "explain", "d59", "d00")["places"][0]["part"]
    sealed = told["parts"]["test"]["queries"]
    expected = 30 - sealed if own == "test" else sealed
    assert {one["evidence"] for one in told["relevant_in_another_part"]} == {"d59"}
    assert len(told["relevant_in_another_part"]) == expected
    assert told["relevant_pairs"] == 60
    assert told["topic_leakage"] == "measured"
    assert run(["report", "leakage"]) == ExitCode.LEAKAGE
    assert "FOUND" in capsys.readouterr().out


def test_exports_and_reports_of_sealed_labels_are_recorded(project: Path, capsys: Captured) -> None:
    assert run(["export", "qrels", "before.txt"]) == 0
    assert run(["split", "freeze", "main", _PLAIN]) == 0
    assert run(["split", "openings"]) == 0
    assert "nobody has looked" in capsys.readouterr().out
    assert run(["export", "qrels", "qrels.txt"]) == 0
    assert "opening 1 of the split 'main'" in capsys.readouterr().err
    sealed = _told(capsys, "export", "jsonl", "labels.jsonl")["sealed"]
    assert [one["through"] for one in sealed[0]["opened_before"]] == ["export qrels"]
    assert run(["export", "testset", "testset.json"]) == 0
    assert "not the first look: these queries were opened 2 times" in capsys.readouterr().err
    listed = _told(capsys, "split", "openings")["openings"]
    assert [one["through"] for one in listed] == ["export qrels", "export jsonl", "export testset"]
    assert all(one["queries"] for one in listed)


def test_tuning_makes_development_data(project: Path, capsys: Captured) -> None:
    assert run(["split", "freeze", "main", _PLAIN]) == 0
    capsys.readouterr()
    parts = {
        f"q{at:02}": _told(capsys, "split", "explain", f"q{at:02}", "d00")["places"][0]["part"]
        for at in range(30)
    }
    sealed = next(name for name, part in parts.items() if part == "test")
    shown = next(name for name, part in parts.items() if part == "train")
    assert run(["split", "develop", shown, "--why", "prompts"]) == 0
    assert "none of them is sealed" in capsys.readouterr().out
    assert run(["split", "develop", "nobody", "--why", "prompts"]) == ExitCode.ERROR
    assert run(["split", "develop", sealed, "--why", "prompts"]) == 0
    assert "development data" in capsys.readouterr().out
    assert _told(capsys, "split", "show")["development queries"] == 1
    assert _told(capsys, "report", "leakage", code=8)["development_queries"] == 1


def test_later_documents_come_by_extending(project: Path, capsys: Captured) -> None:
    assert run(["split", "freeze", "main", _PLAIN]) == 0
    rows = [json.loads(line) for line in Path("corpus.jsonl").read_text().splitlines()]
    text = sentence(seeded(22))
    _write("later.jsonl", [*rows, {"_id": "new#0", "text": text, "document": "new"}])
    assert run(["import", "corpus", "later.jsonl", "--snapshot", "s2"]) == 0
    capsys.readouterr()
    told = _told(capsys, "split", "extend", "--snapshot", "s2", _PLAIN)
    assert (told["groups made"], told["quarantined"], told["crossing"]) == (1, {}, [])
    assert _told(capsys, "split", "check", _PLAIN)["snapshot"] == "s2"


def test_an_edge_across_waits_until_a_person_settles_it(project: Path, capsys: Captured) -> None:
    with open_store(Location("queue.db")) as store:
        for seed in map(str, range(50)):
            groups = plan_split(store, seed=seed).groups
            part = {node: one.part for one in groups for node in one.members}
            if part["document:d00"] != part["document:d02"]:
                break
    assert run(["split", "freeze", "main", "--seed", seed, _PLAIN]) == 0
    capsys.readouterr()
    assert _told(capsys, "report", "leakage", code=8)["edges_waiting_across"] == 1
    assert _told(capsys, "split", "edges")["total"] == 1
    assert run(["split", "settle", "d00", "d02", "--ignore", "--why", "two reports"]) == 0
    capsys.readouterr()
    assert _told(capsys, "report", "leakage", code=8)["edges_waiting_across"] == 0
    assert _told(capsys, "split", "edges")["total"] == 0
    (told,) = _told(capsys, "split", "explain", "d00", "d02")["between"]
    assert told["action"] == "review"
