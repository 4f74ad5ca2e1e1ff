"""How judges ended on what waits for people, and why they gave no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from labeler.assessment.blind import Block
from labeler.assessment.corrections import Correction, correct
from labeler.assessment.rubric import default_rubric
from labeler.assessment.verdict import Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.counts import QueueCounts, count_queue
from labeler.queue.judged import JudgedItems
from labeler.queue.route import route_pool
from labeler.records.judgments import CorrectionTarget
from labeler.store.database import Store
from labeler.store.registry import pool_named
from tests.sampled_answers import answer_again
from tests.small import HandJudge, judge, pooled, write_run

FULLY, NOT = Grade.FULLY_RELEVANT, Grade.NOT_RELEVANT
LOST = {
    "c01": (Outcome.FAILED, "timeout (HTTP 408): no answer within 60 s"),
    "c03": (Outcome.FAILED, "timeout: gone"),
    "c04": (Outcome.REFUSED, "refused: I can't help with that"),
    "c07": (Outcome.TRUNCATED, "truncated: the limit on output tokens was reached"),
    "c09": (Outcome.FAILED, "server_error (HTTP 500): oops"),
    "c10": (Outcome.FAILED, "empty_response: no text"),
    "c11": (Outcome.FAILED, "throttled (HTTP 429): slow down"),
    "c12": (Outcome.FAILED, ""),
}


@dataclass
class Failing(HandJudge):
    """A judge whose failures have the reasons that are stored of a provider's."""

    def judge(self, block: Block) -> list[Verdict]:
        return [
            replace(one, reason=LOST[passage][1]) if passage in LOST and one.level is None else one
            for one in super().judge(block)
            for passage in [self._passage(block, one.item_id)]
        ]

    @staticmethod
    def _passage(block: Block, item_id: int) -> str:
        return next(item.passage.split()[1] for item in block.items if item.item_id == item_id)


def failing(*passages: str, version: str = "1") -> Failing:
    return Failing({name: (LOST[name][0], 0.0) for name in passages}, version=version)


def counted(store: Store, pool: str | None = None) -> QueueCounts:
    with store.read() as connection:
        key = None if pool is None else int(pool_named(connection, pool).id)
        return count_queue(connection, key)


def outcomes(found: Sequence[JudgedItems]) -> list[tuple[str, dict[str, int]]]:
    return [(one.judge, {k: v for k, v in one.outcomes.items() if v}) for one in found]


def test_nothing_waits_and_nothing_is_told(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, failing("c01"))
    assert counted(store).by_judge == ()


def test_outcomes_and_reasons_of_what_waits(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    hand = failing(*LOST)
    judge(store, hand)
    route_pool(store, "p", UNCALIBRATED)
    (one,) = counted(store).by_judge
    assert (one.judge, one.digest) == ("by-hand", hand.digest[:12])
    assert list(one.outcomes.items()) == [
        *(("judged", 3), ("abstained", 0), ("refused", 1), ("truncated", 1), ("failed", 6))
    ]
    assert list(one.failures) == [
        "timeout",
        "empty_response",
        "refused",
        "server_error",
        "throttled",
    ]
    assert one.failures["timeout"] == 2
    # One was cut off by tokens, one has no reason at all.
    assert one.other_failures == 2
    lost = sum(one.failures.values()) + one.other_failures
    assert lost == sum(one.outcomes[name] for name in ("refused", "truncated", "failed"))


def test_what_people_settled_no_longer_counts(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, failing("c03", "c04"))
    route_pool(store, "p", UNCALIBRATED)
    before = outcomes(counted(store).by_judge)
    assert before == [("by-hand", {"judged": 9, "refused": 1, "failed": 1})]
    path = own_folder / "l.txt"
    path.write_text("q1 0 c03 0\n")
    import_labels(store, [path], LabelOptions(scale="native"))
    assert outcomes(counted(store).by_judge) == [("by-hand", {"judged": 9, "refused": 1})]


def test_a_failure_that_was_made_good_is_none(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    hand = failing("c03", "c04")
    judge(store, hand)
    answer_again(store, hand, "c03", FULLY)
    answer_again(store, hand, "c04", Outcome.FAILED, reason="timeout: again")
    route_pool(store, "p", UNCALIBRATED)
    (one,) = counted(store).by_judge
    assert outcomes([one]) == [("by-hand", {"judged": 10, "failed": 1})]
    # Of two failures the later one tells why.
    assert dict(one.failures) == {"timeout": 1}


def test_a_sample_that_failed_is_no_failure_of_the_item(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    hand = failing()
    judge(store, hand)
    answer_again(store, hand, "c03", NOT, Outcome.FAILED, reason="timeout: third sample")
    route_pool(store, "p", UNCALIBRATED)
    assert outcomes(counted(store).by_judge) == [("by-hand", {"judged": 11})]


def test_of_two_versions_the_one_that_answered_last_counts(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, failing("c03", "c04"))
    judge(store, failing("c07", version="2"))
    judge(store, Failing(name="another"))
    route_pool(store, "p", UNCALIBRATED)
    found = counted(store).by_judge
    assert outcomes(found) == [
        ("another", {"judged": 11}),
        ("by-hand", {"judged": 10, "truncated": 1}),
    ]
    assert found[1].digest == failing(version="2").digest[:12]


def test_a_version_that_answered_some_items_later_counts_there(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    old = failing("c03")
    judge(store, old)
    judge(store, failing("c04", version="2"))
    answer_again(store, old, "c07", Outcome.ABSTAINED)
    route_pool(store, "p", UNCALIBRATED)
    found = counted(store).by_judge
    assert outcomes(found) == [
        ("by-hand", {"abstained": 1}),
        ("by-hand", {"judged": 9, "refused": 1}),
    ]
    assert found[0].digest == old.digest[:12]


def test_a_withdrawn_answer_does_not_count(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    hand = failing("c03")
    judge(store, hand)
    answer_again(store, hand, "c03", FULLY)
    wrong = Correction(CorrectionTarget.JUDGMENT, "c04", query="q1", assessor="by-hand")
    correct(store, wrong, "misread")
    route_pool(store, "p", UNCALIBRATED)
    assert outcomes(counted(store).by_judge) == [("by-hand", {"judged": 10})]
    wrong = Correction(CorrectionTarget.JUDGMENT, "c03", query="q1", assessor="by-hand")
    correct(store, wrong, "misread")
    judge(store, hand)
    route_pool(store, "p", UNCALIBRATED)
    # Asked again it fails again, and what was withdrawn doesn't hide that.
    assert outcomes(counted(store).by_judge) == [("by-hand", {"judged": 10, "failed": 1})]


@pytest.mark.parametrize(("pool", "judged"), [("small", 2), ("p", 11), (None, 12)])
def test_of_one_pool_or_of_all(
    store: Store, own_folder: Path, pool: str | None, judged: int
) -> None:
    pooled(store, own_folder)
    run = write_run(own_folder / "third.run", "third", {"q1": ["c03", "c12"]})
    import_runs(store, [run], RunOptions())
    create_pool(store, "small", PoolOptions(depth=2, rubric=default_rubric(), runs=("third",)))
    for name in ("p", "small"):
        judge(store, failing(), name)
        route_pool(store, name, UNCALIBRATED)
    assert outcomes(counted(store, pool).by_judge) == [("by-hand", {"judged": judged})]
