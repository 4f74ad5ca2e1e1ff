from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.corrections import Correction, correct
from labeler.assessment.rubric import default_rubric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.records.judgments import CorrectionTarget
from labeler.records.scales import AssessorKind
from labeler.reports.judge_list import ListedJudge, PoolShare, list_judges
from labeler.store.database import Store
from tests.sampled_answers import answer_again
from tests.small import HandJudge, judge, pooled, write_run

HAND = HandJudge({"c03": (Outcome.ABSTAINED, 0), "c04": (Outcome.FAILED, 0)})


def listed(store: Store) -> list[ListedJudge]:
    with store.read() as connection:
        return list_judges(connection)


def test_nobody_judged_yet(store: Store) -> None:
    assert listed(store) == []


def test_answers_pools_and_times(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HAND)
    import_runs(
        store, [write_run(own_folder / "third.run", "third", {"q1": ["c03", "c09"]})], RunOptions()
    )
    create_pool(store, "small", PoolOptions(depth=1, rubric=default_rubric()))
    (one,) = listed(store)
    assert (one.judge.name, one.judge.digest, one.judge.kind) == ("by-hand", HAND.digest, "llm")
    assert one.items == 11
    assert one.answers == {"judged": 9, "abstained": 1, "failed": 1}
    assert [part.pool for part in one.pools] == ["p", "small"]
    # c99 has no text, so that nobody can judge it; the pool holds it all the same.
    assert one.pools[0] == PoolShare("p", 11, 12)
    assert one.pools[1].answered == one.pools[1].items > 0
    assert one.last is not None
    assert one.last <= store.clock()
    assert one.cost is None


def test_an_item_with_several_answers_is_one_item(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HAND)
    answer_again(store, HAND, "c04", Grade.FULLY_RELEVANT, Grade.NOT_RELEVANT)
    (one,) = listed(store)
    assert (one.items, one.pools) == (11, (PoolShare("p", 11, 12),))
    assert one.answers == {"judged": 11, "abstained": 1, "failed": 1}


def test_withdrawn_answers_and_people_are_left_out(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HAND)
    path = own_folder / "l.txt"
    path.write_text("q1 0 c03 1\nq1 0 c01 2\n")
    import_labels(store, [path], LabelOptions(assessor="ana", scale="native"))
    wrong = Correction(CorrectionTarget.JUDGMENT, "return-30", query="q1", assessor="by-hand")
    correct(store, wrong, "misread")
    (one,) = listed(store)
    assert (one.items, one.answers["judged"]) == (10, 8)
    assert one.pools == (PoolShare("p", 10, 12),)


def test_imported_labels_have_no_time_and_no_pool(store: Store, own_folder: Path) -> None:
    path = own_folder / "gpt.txt"
    path.write_text("q1 0 c03 1\nq2 0 c01 2\n")
    import_labels(
        store, [path], LabelOptions(assessor="gpt-4o", kind=AssessorKind.LLM, scale="native")
    )
    (one,) = listed(store)
    assert (one.judge.full_name, one.items, one.answers) == ("gpt-4o@-", 2, {"judged": 2})
    assert (one.pools, one.last, one.cost) == ((), None, None)


@pytest.mark.parametrize("versions", [("1", "2"), ("2", "1")])
def test_versions_stand_one_after_the_other(
    store: Store, own_folder: Path, versions: tuple[str, str]
) -> None:
    pooled(store, own_folder)
    for version in versions:
        judge(store, HandJudge(version=version))
    assert [one.judge.digest for one in listed(store)] == [
        HandJudge(version=version).digest for version in versions
    ]
