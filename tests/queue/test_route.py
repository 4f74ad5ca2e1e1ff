"""Routing: what a policy trusts is accepted, the rest goes to people; differences alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.samples import JudgeAnswer
from labeler.calibration.policies import UNCALIBRATED, Policy, read_policy
from labeler.errors import InputError, NotFoundError
from labeler.labels import Grade, Outcome
from labeler.queue.order import BLOCK_SIZE, ItemWorth, Order, place_items
from labeler.queue.reasons import ItemSignals, reasons_for
from labeler.queue.route import route_pool
from labeler.store.database import Store
from labeler.store.projections import rebuild
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = Grade


def answer(
    grade: Grade, confidence: float | None = 0.99, flags: tuple[str, ...] = ()
) -> JudgeAnswer:
    return JudgeAnswer(1, Outcome.JUDGED, grade, 1, confidence, flags)


def ended(outcome: Outcome) -> JudgeAnswer:
    return JudgeAnswer(1, outcome, None, None, None)


@pytest.mark.parametrize(
    ("signals", "reasons"),
    [
        (ItemSignals([answer(NOT)], disputed=False), ()),
        (ItemSignals([answer(NOT)], disputed=True), ("people_disagree",)),
        (ItemSignals([], disputed=False), ("not_judged",)),
        (
            ItemSignals([ended(Outcome.ABSTAINED)], disputed=False),
            ("judge_abstained",),
        ),
        (ItemSignals([ended(Outcome.FAILED)], disputed=False), ("judge_failed",)),
        (ItemSignals([ended(Outcome.REFUSED)], disputed=False), ("judge_failed",)),
        (ItemSignals([ended(Outcome.TRUNCATED)], disputed=False), ("judge_failed",)),
        (ItemSignals([answer(NOT), answer(PARTIALLY)], disputed=False), ("judges_disagree",)),
        (ItemSignals([answer(NOT), answer(FULLY)], disputed=False), ("judges_disagree",)),
        (ItemSignals([answer(PARTIALLY), answer(FULLY)], disputed=False), ()),
        (ItemSignals([answer(NOT, 0.94)], disputed=False), ("low_confidence",)),
        (ItemSignals([answer(NOT, None)], disputed=False), ("low_confidence",)),
        (ItemSignals([answer(FULLY, flags=("fakes_answer",))], disputed=False), ("suspicious",)),
        (ItemSignals([answer(FULLY, flags=("cut_passage",))], disputed=False), ()),
    ],
)
def test_the_reasons(signals: ItemSignals, reasons: tuple[str, ...]) -> None:
    assert reasons_for(signals, UNCALIBRATED) == reasons


def test_a_policy_may_accept_some_grades_only() -> None:
    policy = Policy("only-not", 0.9, (NOT,))
    assert reasons_for(ItemSignals([answer(NOT)], disputed=False), policy) == ()
    assert reasons_for(ItemSignals([answer(FULLY)], disputed=False), policy) == ("low_confidence",)


def test_a_pool_is_routed(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c01": (FULLY, 0.97), "c03": (FULLY, 0.6), "c07": (Outcome.FAILED, 0)}))
    report = route_pool(store, "p", UNCALIBRATED)
    assert report.accepted == {"fully_relevant": 1, "not_relevant": 8}
    assert report.reasons == {"low_confidence": 1, "judge_failed": 1}
    assert (report.to_people, report.unavailable) == (2, 1)
    # So few are accepted that the audit takes all of them.
    assert (report.audited, report.new_tasks) == (9, 11)


def test_routing_again_changes_nothing(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c03": (FULLY, 0.6)}))
    assert route_pool(store, "p", UNCALIBRATED).revision is not None
    again = route_pool(store, "p", UNCALIBRATED)
    assert again.revision is None
    assert (again.newly_accepted, again.new_tasks, again.lifted_tasks) == (0, 0, 0)


def test_unjudged_items_go_to_people_until_a_judge_is_sure(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    first = route_pool(store, "p", UNCALIBRATED)
    assert first.reasons == {"not_judged": 11}
    judge(store, HandJudge())
    second = route_pool(store, "p", UNCALIBRATED)
    assert (second.newly_accepted, second.to_people, second.reasons) == (11, 0, {})


def test_a_stricter_policy_takes_acceptances_back(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c03": (FULLY, 0.96)}))
    route_pool(store, "p", UNCALIBRATED)
    report = route_pool(store, "p", Policy("strict", 0.98))
    assert (report.withdrawn, report.to_people, report.reasons) == (1, 1, {"low_confidence": 1})
    back = route_pool(store, "p", UNCALIBRATED)
    assert (back.newly_accepted, back.to_people, back.reasons) == (1, 0, {})
    assert rebuild(store)[0] == rebuild(store)[1]


def test_two_judges_who_disagree_send_an_item_to_people(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    judge(store, HandJudge({"c03": (FULLY, 0.99)}, name="second"))
    report = route_pool(store, "p", UNCALIBRATED)
    assert report.reasons == {"judges_disagree": 1}


def test_a_judge_asked_again_in_another_setting_is_still_one_judge(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c03": (FULLY, 0.99)}))
    judge(store, HandJudge(version="2"))
    assert route_pool(store, "p", UNCALIBRATED).reasons == {}


def test_a_pool_that_is_not_there(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no pool 'p'"):
        route_pool(store, "p", UNCALIBRATED)


def test_a_policy_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('name = "strict"\nthreshold = 0.99\naccept = ["not_relevant"]\n')
    assert read_policy(path) == Policy("strict", 0.99, (NOT,))
    path.write_text('threshold = 0.3\naccept = ["perhaps"]\nmode = 1\n')
    with pytest.raises(InputError) as caught:
        read_policy(path)
    told = " ".join(fault.problem for fault in caught.value.faults)
    assert len(caught.value.faults) == 4
    assert "'name' is missing" in told
    assert "above 0.5 and up to 1, not 0.3" in told
    assert "'mode' is unknown" in told


def by_doubt(queries: dict[int, int], doubts: dict[int, float], seed: str) -> dict[int, int]:
    order = Order("doubt", lambda item, _: item.doubt, starts_warm=False)
    known = {item: ItemWorth(doubt) for item, doubt in doubts.items()}
    return place_items(order, queries, known, seed=seed)


@given(
    st.dictionaries(st.integers(0, 200), st.floats(0, 1), max_size=80),
    st.integers(1, 5),
    st.text(max_size=4),
)
def test_the_queue_is_in_blocks_of_one_query(
    doubts: dict[int, float], queries: int, seed: str
) -> None:
    of = {item: item % queries for item in range(201)}
    places = by_doubt(of, doubts, seed)
    assert sorted(places.values()) == list(range(len(doubts)))
    ordered = sorted(places, key=places.__getitem__)
    blocks: list[list[int]] = []
    for item in ordered:
        if blocks and of[blocks[-1][-1]] == of[item] and len(blocks[-1]) < BLOCK_SIZE:
            blocks[-1].append(item)
        else:
            blocks.append([item])
    assert len(blocks) <= sum(
        -(-sum(of[item] == query for item in doubts) // BLOCK_SIZE) for query in range(queries)
    )
    assert places == by_doubt(of, dict(reversed(doubts.items())), seed)


def test_the_most_doubtful_block_comes_first() -> None:
    places = by_doubt({1: 1, 2: 1, 3: 2, 4: 2}, {1: 0.1, 2: 0.2, 3: 0.9, 4: 0.4}, "s")
    assert {places[3], places[4]} == {0, 1}
