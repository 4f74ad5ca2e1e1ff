"""The coverage plan: every chunk before any twice, types and documents in turn, kinds in turn."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from labeler.records.questions import QuestionKind
from labeler.synthesis.pack import PackChunk, PackQuery, SafePack
from labeler.synthesis.tasks import PASSES, PlanOptions, coverage_plan
from tests.synthesis.projects import words


def chunk(name: str, document: str, group: int = 0, **more: str) -> PackChunk:
    return PackChunk(name, document, group, "train", words(name, 20), domain="d", **more)


def pack(*chunks: PackChunk, queries: tuple[PackQuery, ...] = ()) -> SafePack:
    return SafePack("v1", "root", "sealed", chunks, queries)


FACTS = (QuestionKind.FACTUAL,)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 9))
def test_every_chunk_is_asked_about_once_before_any_twice_in_its_document(
    sizes: list[int], seed: int
) -> None:
    chunks = [chunk(f"{d}#{n}", f"d{d}") for d, size in enumerate(sizes) for n in range(size)]
    tasks = list(coverage_plan(pack(*chunks), PlanOptions("d", FACTS, seed=seed), {}))
    assert len(tasks) == len(set(tasks)) == PASSES * len(chunks)
    first = tasks[: len(chunks)]
    assert {task.chunks[0] for task in first} == {one.chunk for one in chunks}
    assert {task.view for task in first} == {0}


def test_a_few_questions_spread_over_types_and_documents() -> None:
    chunks = [chunk(f"a{n}", f"a-doc{n // 5}", type="guide") for n in range(20)]
    chunks += [chunk(f"b{n}", f"b-doc{n // 2}", type="terms") for n in range(4)]
    tasks = list(islice(coverage_plan(pack(*chunks), PlanOptions("d", FACTS), {}), 6))
    names = {one.chunk: one for one in chunks}
    documents = Counter(names[task.chunks[0]].document for task in tasks)
    types = Counter(names[task.chunks[0]].type for task in tasks)
    assert max(documents.values()) == 1 or len(documents) >= 5
    assert set(types) == {"guide", "terms"}


def test_chunks_that_were_asked_about_come_last() -> None:
    chunks = [chunk(f"c{n}", "doc") for n in range(4)]
    asked = {"c0": 1, "c1": 1, "c2": 1}
    first = next(coverage_plan(pack(*chunks), PlanOptions("d", FACTS), asked))
    assert first.chunks == ("c3",)


def test_the_same_seed_gives_the_same_plan_and_another_one_another() -> None:
    made = pack(*[chunk(f"c{n}", f"d{n}") for n in range(12)])
    plans = [list(coverage_plan(made, PlanOptions("d", FACTS, seed=s), {})) for s in (1, 1, 2)]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]


def test_kinds_take_turns_and_one_that_a_chunk_cannot_give_is_passed_over() -> None:
    kinds = (QuestionKind.CONDITIONAL, QuestionKind.COMPARISON, QuestionKind.PARAPHRASE)
    lonely = pack(chunk("a", "doc-a", group=1), chunk("b", "doc-b", group=2))
    assert list(coverage_plan(lonely, PlanOptions("d", kinds), {})) == []
    queries = (PackQuery("q", 9, "train", "how does it work"),)
    able = pack(
        chunk("a", "doc-a", group=1, region="EU"), chunk("b", "doc-b", group=1), queries=queries
    )
    tasks = list(coverage_plan(able, PlanOptions("d", kinds), {}))
    assert {task.kind for task in tasks} == set(kinds)
    for task in tasks:
        assert task.kind is not QuestionKind.CONDITIONAL or task.chunks == ("a",)
        assert task.kind is not QuestionKind.COMPARISON or set(task.chunks) == {"a", "b"}


def test_short_chunks_and_other_domains_are_left_out() -> None:
    short = PackChunk("s", "doc", 0, "train", "a heading", domain="d")
    assert list(coverage_plan(pack(short), PlanOptions("d", FACTS), {})) == []
    assert list(coverage_plan(pack(chunk("a", "b")), PlanOptions("other", FACTS), {})) == []
