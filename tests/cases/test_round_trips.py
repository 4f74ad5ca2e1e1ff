"""An export that is imported into a fresh project gives the same labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from labeler.labels import StateCode
from tests.cases.project import Project, read_jsonl

SCALES = {
    "native": ["0", "1", "2"],
    "trec-0-3": ["0", "1", "2", "3"],
    "binary": ["0", "1"],
}
MAPPED = "--map=1=fully_relevant,2=partially_relevant,3=partially_relevant,4=not_relevant,-1=not"
FOUR_LEVELS = """
name = "four-levels"
[[levels]]
code = 30
name = "perfect"
grade = "fully_relevant"
gain = 7.0
[[levels]]
code = 10
name = "off"
grade = "not_relevant"
gain = 0.0
"""


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def labelled(project: Project, codes: list[str], *options: str) -> Path:
    rows = "".join(f"q{place % 2} 0 d{place} {code}\n" for place, code in enumerate(codes))
    path = write("source.txt", rows)
    project.do("import", "labels", path, *options)
    return path


def files_of(project: Project, kind: str, *options: str) -> Mapping[str, bytes]:
    """Export in one form; give the bytes of all files that come of it."""
    name = f"{project.database}.{'txt' if kind == 'qrels' else kind}"
    project.do("export", kind, name, *options)
    return {name: Path(name).read_bytes()}


def same_after(project: Project, export: str, ending: str, *options: str) -> Project:
    file = Path(f"{export}.{ending}")
    project.do("export", export, file)
    other = project.another(f"from-{export}")
    other.do("import", "labels", file, *options)
    assert other.labels() == project.labels()
    # Importing it again, or into the project that it came from, changes nothing.
    assert other.json("import", "labels", file, *options)["revision"] is None
    return other


def codes(project: Project) -> str:
    name = f"{project.database}.codes.txt"
    project.do("export", "qrels", name)
    return Path(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("scale", list(SCALES))
def test_qrels_of_each_scale(project: Project, scale: str) -> None:
    labelled(project, SCALES[scale], "--scale", scale)
    assert codes(same_after(project, "qrels", "txt")) == codes(project)


@pytest.mark.parametrize("export", [("qrels", "txt"), ("jsonl", "jsonl")])
def test_mapped_codes(project: Project, export: tuple[str, str]) -> None:
    labelled(project, ["1", "2", "3", "4", "-1"], MAPPED)
    assert codes(same_after(project, *export)) == codes(project)


@pytest.mark.parametrize("export", [("qrels", "txt"), ("jsonl", "jsonl")])
def test_a_scale_from_a_file(project: Project, export: tuple[str, str]) -> None:
    write("four.toml", FOUR_LEVELS)
    labelled(project, ["30", "10"], "--scale", "four.toml")
    assert codes(same_after(project, *export)) == codes(project)


def test_a_word_that_a_mapping_added_keeps_its_grade(project: Project) -> None:
    rows = [{"query_id": "q", "doc_id": "d", "label": "spot on"}]
    path = write("l.jsonl", json.dumps(rows[0]))
    project.do("import", "labels", path, "--map", "spot on=fully_relevant")
    assert codes(same_after(project, "qrels", "txt")) == "q 0 d 2\n"


def test_qrels_whose_meta_file_is_gone_or_stale_are_read_without_it(project: Project) -> None:
    labelled(project, ["0", "1"], "--scale", "trec-0-3")
    project.do("export", "qrels", "out.txt")
    other = project.another("stale")
    with Path("out.txt").open("a") as file:
        file.write("q9 0 d9 0\n")
    told = other.json("import", "labels", "out.txt")
    assert "binary" in told["scale"]
    assert "trec-0-3 would fit too" in told["scale chosen"]


def raters() -> Path:
    rows = [
        ("q1", "d1", "anna", "fully", "2024-05-01T10:00:00Z"),
        ("q1", "d1", "bo", "not", "2024-05-01T10:05:00Z"),
        ("q1", "d2", "anna", "partially", "2024-05-01T10:01:00.25Z"),
        ("q1", "d2", "bo", "partially", ""),
        ("q1", "d3", "anna", "not", "2024-05-01T10:00:00Z"),
        ("q1", "d3", "anna", "fully", "2024-05-02T10:00:00+02:00"),
        ("q2", "d1", "bo", "cannot_judge", ""),
        ("q2", "d2", "bo", "cannot_judge", ""),
        ("q2", "d2", "anna", "not", ""),
    ]
    head = "query_id,doc_id,rater,label,at\n"
    return write("raters.csv", head + "".join(",".join(row) + "\n" for row in rows))


def test_several_raters_through_jsonl(project: Project) -> None:
    project.do("import", "labels", raters())
    assert project.labels() == {
        ("q1", "d1"): StateCode.UNKNOWN,
        ("q1", "d2"): StateCode.RELEVANT,
        ("q1", "d3"): StateCode.RELEVANT,
        ("q2", "d1"): StateCode.UNKNOWN,
        ("q2", "d2"): StateCode.NOT_RELEVANT,
    }
    other = same_after(project, "jsonl", "jsonl")
    first, second = files_of(project, "jsonl"), files_of(other, "jsonl")
    assert list(first.values()) == list(second.values())


def test_several_raters_through_parquet(project: Project) -> None:
    pytest.importorskip("polars")
    project.do("import", "labels", raters())
    project.do("export", "parquet", "out.parquet")
    other = project.another("from-parquet")
    other.do("import", "labels", "out.parquet")
    # One row a pair: the dispute is written as unknown, which is no label.
    known = dict(project.labels())
    assert known.pop(("q1", "d1")) is StateCode.UNKNOWN
    assert other.labels() == known


def test_parquet_keeps_the_codes_of_a_shipped_scale(project: Project) -> None:
    pytest.importorskip("polars")
    labelled(project, ["0", "1", "2", "3"], "--scale", "trec-0-3")
    assert codes(same_after(project, "parquet", "parquet")) == codes(project)


def test_labels_of_a_model_stay_those_of_a_model(project: Project) -> None:
    path = write("m.txt", "q1 0 d1 1\nq1 0 d1 1\nq1 0 d2 0\n")
    project.do("import", "labels", path, "--kind", "llm", "--assessor", "gpt")
    other = same_after(project, "jsonl", "jsonl")
    assert list(files_of(project, "jsonl").values()) == list(files_of(other, "jsonl").values())


def small(project: Project) -> None:
    corpus = [
        {"_id": "c1", "text": "one", "evidence_ids": ["e1"], "title": "T", "domain": "support"},
        {"_id": "c2", "text": "one again", "evidence_ids": ["e1"], "document": "doc"},
        {"_id": "c3", "text": "two", "evidence_ids": ["e2", "e3"], "effective_date": "2026-01-01"},
        {"_id": "c4", "text": '\ttabs, "quotes"\u2028 and ends\r\n ', "supersedes": "c1"},
        {"_id": "c5", "text": "", "position": 7},
    ]
    project.do(
        "import", "corpus", write("c.jsonl", "\n".join(map(json.dumps, corpus))), "--snapshot", "s"
    )
    queries = [{"_id": f"q{number}", "text": f"question {number}"} for number in (1, 2)]
    project.do("import", "queries", write("q.jsonl", "\n".join(map(json.dumps, queries))))
    project.do("import", "labels", write("l.txt", "q1 0 e1 2\nq1 0 e2 0\nq2 0 c4 1\n"))


def test_a_corpus_comes_back_with_the_same_digest(project: Project) -> None:
    small(project)
    project.do("export", "corpus", "out.jsonl", "--snapshot", "s")
    other = project.another("other")
    told = other.json("import", "corpus", "out.jsonl", "--snapshot", "s")
    assert (
        told["digest"] == project.json("import", "corpus", "c.jsonl", "--snapshot", "s")["digest"]
    )
    other.do("export", "corpus", "again.jsonl", "--snapshot", "s")
    assert Path("again.jsonl").read_bytes() == Path("out.jsonl").read_bytes()


def test_labels_on_evidence_come_back_over_the_same_corpus(project: Project) -> None:
    small(project)
    for kind, ending in (("qrels", "txt"), ("jsonl", "jsonl"), ("parquet", "parquet")):
        project.do("export", kind, f"out.{ending}")
        other = project.another(kind)
        other.do("import", "corpus", "c.jsonl", "--snapshot", "s")
        other.do("import", "queries", "q.jsonl")
        other.do("import", "labels", f"out.{ending}")
        assert other.labels() == project.labels()


def test_qrels_of_chunks_come_back_to_their_evidence(project: Project) -> None:
    small(project)
    project.do("export", "qrels", "chunks.txt", "--ids", "chunk")
    assert Path("chunks.txt").read_text().split("\n")[:3] == ["q1 0 c1 2", "q1 0 c2 2", "q1 0 c3 0"]
    other = project.another("chunks")
    other.do("import", "corpus", "c.jsonl", "--snapshot", "s")
    other.do("import", "queries", "q.jsonl")
    # c3 carries two evidences, so it says of neither that it was judged.
    told = other.refused("import", "labels", "chunks.txt")
    assert "chunks.txt:3" in told
    assert "'e2', 'e3'" in told
    other.do("import", "labels", "chunks.txt", "--lenient")
    assert other.labels() == {
        ("q1", "e1"): StateCode.RELEVANT,
        ("q2", "c4"): StateCode.RELEVANT,
    }


def test_a_test_set_comes_back_as_what_is_relevant(project: Project) -> None:
    small(project)
    project.do("export", "testset", "t.json")
    rows = json.loads(Path("t.json").read_text())
    assert [(row["query"], row["relevant_chunk_ids"]) for row in rows] == [
        ("question 1", ["c1", "c2"]),
        ("question 2", ["c4"]),
    ]
    other = project.another("other")
    other.do("import", "corpus", "c.jsonl", "--snapshot", "s")
    other.do("import", "queries", "t.json")
    other.do("import", "labels", "t.json")
    assert sorted(other.queries().values()) == ["question 1", "question 2"]
    found = {(evidence, code) for (_, evidence), code in other.labels().items()}
    assert found == {("e1", StateCode.RELEVANT), ("c4", StateCode.RELEVANT)}
    other.do("export", "testset", "again.json")
    assert {
        (row["query"], *row["relevant_chunk_ids"])
        for row in json.loads(Path("again.json").read_text())
    } == {(row["query"], *row["relevant_chunk_ids"]) for row in rows}


def test_the_same_export_twice_is_the_same_file_and_unknown_is_never_zero(
    project: Project,
) -> None:
    small(project)
    run = "".join(f"q1 Q0 c{place} {place} {9 - place} s\n" for place in range(1, 6))
    project.do("import", "runs", write("r.txt", run))
    project.do("pool", "create", "p", "--depth", "9")
    for kind in ("qrels", "jsonl", "parquet", "testset"):
        ending = "parquet" if kind == "parquet" else "out"
        for name in ("a", "b"):
            project.do("export", kind, f"{name}.{ending}", "--pool", "p")
        assert Path(f"a.{ending}").read_bytes() == Path(f"b.{ending}").read_bytes()
    project.do("export", "qrels", "pool.txt", "--pool", "p")
    assert Path("pool.txt").read_text() == "q1 0 e1 2\nq1 0 e2 0\n"
    project.do("export", "jsonl", "pool.jsonl", "--pool", "p")
    labels = {row["evidenceId"]: row["label"] for row in read_jsonl(Path("pool.jsonl"))}
    assert labels == {
        "e1": "fully_relevant",
        "e2": "not_relevant",
        "e3": "unknown",
        "c4": "unknown",
        "c5": "unknown",
    }


def test_labels_of_before_a_correction(project: Project) -> None:
    small(project)
    project.do("export", "qrels", "before.txt")
    revision = json.loads(Path("before.txt.meta.json").read_text())["revision"]
    project.do("correct", "judgment", "q1", "e1", "--reason", "wrong passage")
    assert project.labels()["q1", "e1"] is StateCode.UNKNOWN
    # What was withdrawn doesn't come back by importing the same file again.
    assert project.json("import", "labels", "l.txt")["revision"] is None
    assert project.labels()["q1", "e1"] is StateCode.UNKNOWN
    project.do("export", "qrels", "as-of.txt", "--as-of", str(revision))
    assert Path("as-of.txt").read_bytes() == Path("before.txt").read_bytes()
