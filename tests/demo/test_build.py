from __future__ import annotations

import json
from collections import Counter
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from labeler.assessment.rubric import read_rubric
from labeler.demo.build import write_demo
from labeler.demo.project import DemoProject, DemoRun
from labeler.demo.reading import read_demo
from labeler.demo.retrievers import run_retrievers
from labeler.errors import ConflictError
from labeler.formats.fields import CORPUS, QUERIES, lookup, resolve
from labeler.formats.findings import Findings
from labeler.formats.records import read_records
from labeler.formats.trec import read_run
from tests.hash_embedder import HashEmbedder


@pytest.fixture(scope="module")
def demo() -> DemoProject:
    return read_demo()


@pytest.fixture(scope="module")
def runs(demo: DemoProject) -> tuple[DemoRun, ...]:
    ticks = count()
    return run_retrievers(demo, HashEmbedder(), lambda: next(ticks) ** 1.1 / 1000.0)


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_all_files_are_written_and_named(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "demo"
    paths = write_demo(folder, demo, runs)
    assert [path.relative_to(folder).as_posix() for path in paths] == [
        "corpus.jsonl",
        "queries.jsonl",
        "rubric.toml",
        "gate.toml",
        "planted/planted-lexical.run",
        "planted/planted-dense.run",
        "planted/known.qrels",
        "runs/lexical.run",
        "runs/dense.run",
        "runs/hybrid.run",
        "runs/filtered.run",
        "runs/latency.tsv",
    ]
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(paths)


def test_corpus_and_queries_are_read_back_by_the_readers(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    write_demo(tmp_path / "s", demo, runs)
    for name, table in (("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)):
        findings = Findings()
        path = tmp_path / "s" / name
        records = list(read_records(path, findings))
        fields = resolve(
            records[0].values, table, {}, path=name, findings=findings, example=records[0]
        )
        assert fields is not None
        assert not findings.faults
        assert not findings.notices
        texts = {lookup(record, fields, "id"): lookup(record, fields, "text") for record in records}
        originals = demo.chunks if table is CORPUS else demo.queries
        assert texts == {one.id: one.text for one in originals}
    assert read_rubric(tmp_path / "s" / "rubric.toml").name == "tarnwick-help"


def test_rows_hold_the_metadata(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    write_demo(tmp_path / "s", demo, runs)
    chunks = {row["_id"]: row for row in _rows(tmp_path / "s" / "corpus.jsonl")}
    row = chunks["returns-eu-2026#refund"]
    assert row["document"] == "returns-eu-2026"
    assert row["evidence_ids"] == ["refund-time-eu-2026", "refund-way"]
    assert (row["domain"], row["product"], row["region"]) == ("returns", None, "EU")
    assert (row["effective_date"], row["supersedes"]) == ("2026-01-01", "returns-eu-2025")
    queries = {row["_id"]: row for row in _rows(tmp_path / "s" / "queries.jsonl")}
    row = queries["ret-09"]
    assert row["conditions"] == {"product": "perch-indoor", "region": "US", "date": "2025-12-10"}
    assert row["template"] == "holiday-return"
    assert row["origin"] == "manual"
    assert len(chunks) == len(demo.chunks)
    assert len(queries) == len(demo.queries)


def test_runs_are_read_back_with_their_tags(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    write_demo(tmp_path / "s", demo, runs)
    for run in runs:
        path = tmp_path / "s" / "runs" / f"{run.retriever}.run"
        findings = Findings()
        columns = read_run(path, findings)
        assert columns is not None
        assert not findings.faults
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        assert {len(line) for line in lines} == {6}
        assert {line[5] for line in lines} == {run.retriever}
        expected = [
            (query_id, "Q0", chunk_id, str(rank), repr(score))
            for query_id, hits in run.hits.items()
            for rank, (chunk_id, score) in enumerate(hits, start=1)
        ]
        assert [tuple(line[:5]) for line in lines] == expected


def test_latencies_stand_in_a_table(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    write_demo(tmp_path / "s", demo, runs)
    lines = (tmp_path / "s" / "runs" / "latency.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == ["query_id", "system", "latency_ms"]
    rows = [line.split("\t") for line in lines[1:]]
    assert Counter(row[1] for row in rows) == {run.retriever: len(demo.queries) for run in runs}
    written = {(row[0], row[1]): float(row[2]) for row in rows}
    for run in runs:
        for query_id, latency in run.latency_ms.items():
            assert np.isclose(written[query_id, run.retriever], latency, atol=0.0005)


def test_writing_again_gives_the_same_bytes(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    first = write_demo(tmp_path / "s", demo, runs)
    before = [path.read_bytes() for path in first]
    assert write_demo(tmp_path / "s", demo, runs) == first
    assert [path.read_bytes() for path in first] == before
    fresh = run_retrievers(read_demo(), HashEmbedder(), lambda: 0.0)
    second = write_demo(tmp_path / "t", read_demo(), fresh)
    for one, other in zip(first, second, strict=True):
        if one.name != "latency.tsv":
            assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["notes.txt", "runs/other.run", "labeler.db", "corpus.jsonl"])
def test_a_folder_with_other_files_is_left_alone(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path, name: str
) -> None:
    path = tmp_path / "s" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConflictError, match=name):
        write_demo(tmp_path / "s", demo, runs)
    assert [one for one in (tmp_path / "s").rglob("*") if one.is_file()] == [path]
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_file_in_the_place_of_the_folder_is_left_alone(
    demo: DemoProject, runs: tuple[DemoRun, ...], tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("mine", encoding="utf-8")
    with pytest.raises(ConflictError, match="not a folder"):
        write_demo(tmp_path / "s", demo, runs)
