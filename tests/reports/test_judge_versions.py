from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFoundError, UsageError
from labeler.imports.labels import LabelOptions, import_labels
from labeler.records.scales import AssessorKind
from labeler.reports.judge_versions import JudgeVersion, choose_two, judge_versions
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled

OLD = JudgeVersion(1, "llm", "openai/gpt-4o-mini+direct", "6daffafa" + "0" * 56, 40)
NEW = JudgeVersion(2, "llm", "openai/gpt-4o-mini+direct", "6d11" + "0" * 60, 90)
OTHER = JudgeVersion(3, "llm", "vertex_ai/claude-3@20240229+direct", "abcd" + "0" * 60, 70)
IMPORTED = JudgeVersion(4, "llm", "gpt-4o", "", 5)
RUN_TOO = JudgeVersion(5, "llm", "gpt-4o", "ee" + "0" * 62, 6)
JUDGES = [OLD, NEW, OTHER, IMPORTED, RUN_TOO]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("openai/gpt-4o-mini+direct@6daffafa", OLD),
        ("openai/gpt-4o-mini+direct@6DAF", OLD),
        (OLD.full_name, OLD),
        (f"{OLD.name}@{OLD.digest}", OLD),
        ("openai/gpt-4o-mini+direct@6d1", NEW),
        ("openai/gpt-4o-mini+direct", NEW),
        ("vertex_ai/claude-3@20240229+direct", OTHER),
        ("vertex_ai/claude-3@20240229+direct@ab", OTHER),
        ("gpt-4o", RUN_TOO),
        ("gpt-4o@-", IMPORTED),
        (IMPORTED.full_name, IMPORTED),
    ],
)
def test_what_a_name_means(typed: str, meant: JudgeVersion) -> None:
    against = NEW if meant is OTHER else OTHER
    first, second, _ = choose_two(JUDGES, typed, against.full_name)
    assert (first, second) == (meant, against)
    assert choose_two(JUDGES, against.full_name, typed)[:2] == (against, meant)


def test_a_name_with_several_versions_takes_the_latest_and_says_so() -> None:
    _, _, told = choose_two(JUDGES, OLD.name, "gpt-4o@-")
    assert len(told) == 1
    assert f"{NEW.full_name} answered last and is taken, not {OLD.full_name}" in told[0]
    assert choose_two(JUDGES, OLD.full_name, NEW.full_name)[2] == []
    # A prefix that two digests share is as ambiguous as a name.
    assert len(choose_two(JUDGES, f"{OLD.name}@6d", "gpt-4o@-")[2]) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (OLD.name, OLD.name),
        (OLD.name, NEW.full_name),
        (NEW.full_name, OLD.name),
        (f"{OLD.name}@6d", OLD.name),
    ],
)
def test_two_names_of_one_judge_are_refused_and_the_choices_named(first: str, second: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_two(JUDGES, first, second)
    assert OLD.full_name in str(caught.value.hint)
    assert NEW.full_name in str(caught.value.hint)


def test_a_judge_is_not_compared_with_itself() -> None:
    with pytest.raises(UsageError, match=r"not vertex.* with itself") as caught:
        choose_two(JUDGES, OTHER.name, OTHER.name)
    assert "judge list" in str(caught.value.hint)


@pytest.mark.parametrize(
    "typed", ["gpt-5", "openai/gpt-4o-mini+direct@ff", "openai/gpt-4o-mini+direct@", "@", "", "@6d"]
)
def test_a_judge_that_is_not_there(typed: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        choose_two(JUDGES, typed, OTHER.name)
    assert f"no judge '{typed}'" in caught.value.message
    assert OTHER.full_name in str(caught.value.hint)


def test_without_judges_the_hint_says_how_to_get_one() -> None:
    with pytest.raises(NotFoundError) as caught:
        choose_two([], "a", "b")
    assert "judge run" in str(caught.value.hint)


@given(
    st.lists(
        st.builds(
            JudgeVersion,
            st.integers(1, 9),
            st.just("llm"),
            st.sampled_from(["a", "a@b", "b"]),
            st.one_of(st.just(""), st.text("0123456789abcdef", min_size=16, max_size=16)),
            st.integers(0, 50),
        ),
        unique_by=(lambda one: one.assessor_id, lambda one: (one.name, one.digest[:12])),
        min_size=2,
        max_size=8,
    ),
    st.data(),
)
def test_the_full_name_always_means_its_own_judge(
    judges: list[JudgeVersion], data: st.DataObject
) -> None:
    one, other = data.draw(st.permutations(judges))[:2]
    assert choose_two(judges, one.full_name, other.full_name) == (one, other, [])


def test_the_versions_of_a_project(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge(name="z"))
    judge(store, HandJudge(name="a", version="2"))
    judge(store, HandJudge(name="a", version="1"))
    for kind, name in ((AssessorKind.LLM, "imported"), (AssessorKind.PERSON, "ana")):
        path = own_folder / f"{name}.txt"
        path.write_text("q1 0 c03 1\n")
        import_labels(store, [path], LabelOptions(assessor=name, kind=kind, scale="native"))
    with store.read() as connection:
        found = judge_versions(connection)
    assert [(one.name, one.digest) for one in found] == [
        ("a", HandJudge(name="a", version="2").digest),
        ("a", HandJudge(name="a", version="1").digest),
        ("imported", ""),
        ("z", HandJudge(name="z").digest),
    ]
    assert found[2].full_name == "imported@-"
