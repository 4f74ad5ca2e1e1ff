"""Sealed words: what is found, what isn't, and that no request ever holds any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeler.errors import InputError
from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.search.words import tokens
from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.synthesis.frozen import make_pack, split_to_use
from labeler.synthesis.pack import read_pack
from labeler.synthesis.rendering import Model, answerable_request, question_request
from labeler.synthesis.sealed import LONGEST, SHORTEST, SealedSet
from labeler.synthesis.tasks import PlanOptions, coverage_plan
from tests.freezing import Groups
from tests.synthesis.projects import fill, words

SENTENCE = "the blue gate of the harbour closes at nine on every sunday"


def test_a_run_of_eight_words_is_found_whatever_its_case_and_marks() -> None:
    sealed = SealedSet.of([SENTENCE])
    assert sealed.hits("So: The BLUE gate, of the harbour - closes at nine!") > 0


def test_seven_words_of_a_longer_text_are_not_found() -> None:
    sealed = SealedSet.of([SENTENCE])
    assert sealed.hits("we saw that the blue gate of the harbour closes early") == 0


def test_a_short_text_is_found_whole_and_a_tiny_one_only_by_itself() -> None:
    sealed = SealedSet.of(["where is the blue gate", "opening hours"])
    assert sealed.hits("tell me where is the blue gate today") > 0
    assert sealed.hits("what are the opening hours") == 0
    assert sealed.hits("Opening hours?") > 0


def test_nothing_is_sealed_in_an_empty_set() -> None:
    assert SealedSet.of([]).hits(SENTENCE) == 0


def test_the_longest_shared_run_is_told_in_words() -> None:
    short = SealedSet.of([SENTENCE], longest=SHORTEST)
    assert short.longest_run("when the blue gate of the harbour shuts", SHORTEST) == 6
    assert short.longest_run("the blue gate is shut", SHORTEST) == 0


def test_a_file_of_another_set_is_refused(tmp_path: Path) -> None:
    sealed = SealedSet.of([SENTENCE])
    sealed.save(tmp_path / "sealed.bin")
    assert len(SealedSet.load(tmp_path / "sealed.bin", sealed.digest)) == len(sealed)
    with pytest.raises(InputError):
        SealedSet.load(tmp_path / "sealed.bin", SealedSet.of(["another text of five words"]).digest)


VOCABULARY = [f"w{number}" for number in range(12)]
TEXTS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=20).map(" ".join)


@given(TEXTS, TEXTS)
def test_hits_agree_with_a_search_by_hand(sealed_text: str, text: str) -> None:
    sealed, other = tokens(sealed_text), tokens(text)
    length = min(len(sealed), LONGEST)
    runs = {tuple(sealed[at : at + length]) for at in range(len(sealed) - length + 1)}
    inside = length >= SHORTEST and any(
        tuple(other[at : at + length]) in runs for at in range(len(other) - length + 1)
    )
    assert bool(SealedSet.of([sealed_text]).hits(text)) == (inside or sealed == other)


@st.composite
def projects(draw: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, str], Groups]:
    """Draw documents, queries and groups; texts are often copies or parts of one another."""
    count = draw(st.integers(2, 7))
    documents: dict[str, list[str]] = {}
    pieces = [words(("piece", number), 12) for number in range(6)]
    for number in range(count):
        chunks = draw(st.integers(1, 3))
        documents[f"d{number}"] = [
            " ".join(
                [
                    words((number, place, draw(st.integers(0, 3))), 14),
                    *draw(st.lists(st.sampled_from(pieces), max_size=2)),
                ]
            )
            for place in range(chunks)
        ]
    queries = {
        f"q{number}": " ".join(draw(st.sampled_from(pieces)).split()[: draw(st.integers(3, 12))])
        for number in range(draw(st.integers(0, 4)))
    }
    groups: dict[int, tuple[str, list[str], list[str]]] = {}
    for kind, names in ((1, list(documents)), (2, list(queries))):
        for name in names:
            number = draw(st.integers(0, 4))
            part = groups.setdefault(
                number, (draw(st.sampled_from(["train", "dev", "test"])), [], [])
            )
            if draw(st.integers(0, 9)):  # now and then something has no part at all
                (part[1] if kind == 1 else part[2]).append(name)
    return documents, queries, groups


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(project=projects())
def test_no_request_holds_sealed_text_whatever_the_groups_are(
    project: tuple[dict[str, list[str]], dict[str, str], Groups],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    documents, queries, groups = project
    folder = tmp_path_factory.mktemp("project")
    with open_store(Location(str(folder / "p.db")), create=True) as store:
        fill(store, folder, documents, groups, queries, {"product": "gadget"})
        with store.read() as connection:
            pack, _, _, withheld = make_pack(connection, split_to_use(connection, None))
    part = {name: group[0] for group in groups.values() for names in group[1:] for name in names}
    safe = {name for name, of in part.items() if of in {"train", "dev"}}
    sealed = [text for name, texts in documents.items() if name not in safe for text in texts]
    sealed += [text for name, text in queries.items() if name not in safe]
    sent: list[str] = []
    for embedded in (None, "weights"):
        model = Model("m", AnswerMode.TEXT, weights=embedded)
        kinds = (QuestionKind.FACTUAL,) if embedded else tuple(QuestionKind)
        for task in coverage_plan(pack, PlanOptions("support", kinds), {}):
            sent += [one.content for one in question_request(pack, task, model).messages]
            asked = answerable_request(pack, "which one", task.chunks, model)
            sent += [one.content for one in asked.messages]
    for text in sealed:
        terms = tokens(text)
        if len(terms) < SHORTEST:
            continue
        length = min(len(terms), LONGEST)
        runs = [" ".join(terms[at : at + length]) for at in range(len(terms) - length + 1)]
        for message in sent:
            shown = f" {' '.join(tokens(message))} "
            assert not any(f" {run} " in shown for run in runs)
    # What is safe and shares nothing is all there: the gate isn't a wall.
    held = {one.name for one in withheld}
    names = {f"{name}#{n}" for name in safe & set(documents) for n in range(len(documents[name]))}
    assert {one.chunk for one in pack.chunks} == names - held


def test_a_pack_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    texts: dict[str, list[str]] = {"a": [words("a", 20)], "b": [words("b", 20)]}
    groups: dict[int, Any] = {0: ("train", ["a"], ["q"]), 1: ("test", ["b"], [])}
    with open_store(Location(str(tmp_path / "p.db")), create=True) as store:
        fill(store, tmp_path, texts, groups, {"q": "how does it work"})
        with store.read() as connection:
            pack, _, _, _ = make_pack(connection, split_to_use(connection, None))
    path = pack.write(tmp_path)
    assert read_pack(path, pack.digest).content == pack.content
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("chunk", line.get("query")) for line in lines[1:]] == ["a#0", "q"]
    path.write_bytes(pack.content.replace(b"train", b"trail"))
    with pytest.raises(InputError):
        read_pack(path, pack.digest)
