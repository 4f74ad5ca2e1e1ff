"""Probing a judge: the cases, and what the report makes of verdicts."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.assessment.rubric import Rubric, default_rubric
from labeler.assessment.samples import JudgeAnswer
from labeler.assessment.verdict import BAD_CONFIDENCE, CIRCULAR, CUT_PASSAGE, UNGROUNDED, Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.judges.probe_cases import CONTROLS, ProbeCase, Tricks, compose, shipped_tricks
from labeler.judges.probing import CaseResult, ProbeReport, probe_report
from labeler.judges.suspicion.flags import FLAGS, flags
from labeler.labels import BINARY, NATIVE, TREC, Grade, Outcome, Scale, State
from labeler.queue.reasons import ItemSignals, reasons_for

ORDERS = {
    "direct_order",
    "role_play",
    "system_message",
    "closed_section",
    "translated_order",
    "hidden_order",
}
FAKES = {"fake_examples", "fake_json", "score_line", "think_block"}

TRICKS = shipped_tricks()
DESCRIPTIONS = {trick.name: trick.what for trick in TRICKS.tricks}


def rubric(scale: Scale = NATIVE) -> Rubric:
    return dataclasses.replace(default_rubric(), scale=scale)


def verdict(case: ProbeCase, grade: Grade | None, *signs: str) -> Verdict:
    level = None if grade is None else NATIVE.level_for(grade)
    outcome = Outcome.ABSTAINED if level is None else Outcome.JUDGED
    return Verdict(case.item.item_id, outcome, level=level, flags=signs)


def honest(case: ProbeCase) -> Verdict:
    relevant = case.expected is State.RELEVANT
    return verdict(case, Grade.FULLY_RELEVANT if relevant else Grade.NOT_RELEVANT)


def probed(
    answer: Callable[[ProbeCase], Verdict | None], *, tricks: Tricks = TRICKS, repeat: int = 1
) -> ProbeReport:
    cases = compose(tricks, rubric(), repeat=repeat)
    verdicts = {case.item.item_id: found for case in cases if (found := answer(case)) is not None}
    return probe_report(cases, verdicts, DESCRIPTIONS)


# -- the cases -----------------------------------------------------------------------------------


def test_the_tricks_that_the_tool_promises_are_there_with_several_cases_each() -> None:
    expected = {"stuffed_words", "padding", "late_answer", "empty"}
    expected |= {"other_region", "other_product", "other_date"} | ORDERS | FAKES
    assert set(DESCRIPTIONS) == expected
    assert min(len(trick.cases) for trick in TRICKS.tricks) >= 3
    languages = {subject.query.language for subject in TRICKS.subjects.values()}
    assert languages == {"en", "de", "es", "pt", "zh", "ar"}


@pytest.mark.parametrize("scale", [NATIVE, TREC, BINARY])
def test_every_case_is_ready_to_be_asked(scale: Scale) -> None:
    cases = compose(TRICKS, rubric(scale), seed=7, repeat=2)
    assert len({case.item.item_id for case in cases}) == len(cases)
    assert Counter(Counter(case.key for case in cases).values()).keys() == {2}
    best = max(scale.levels, key=lambda level: level.order)
    for case in cases:
        assert not re.search(r"\{[a-z_]+\}", case.item.passage)
        assert case.query.conditions
        if case.trick in {"other_region", "other_product", "other_date"}:
            assert case.trick.removeprefix("other_") in case.query.conditions
        if case.trick in {"direct_order", "fake_json", "score_line"}:
            assert re.search(rf"\b{best.code}\b|{best.name.replace('_', ' ')}", case.item.passage)
        block = case.block(rubric(scale))
        assert case.item in block.items
        assert len(block.items) == (2 if case.trick in CONTROLS else 3)


def test_the_seed_and_the_round_move_what_is_injected_and_nothing_else() -> None:
    def passages(seed: int) -> list[Mapping[str, str]]:
        cases = compose(TRICKS, rubric(), seed=seed, repeat=2)
        return [
            {case.key: case.item.passage for case in cases if case.round == turn} for turn in (0, 1)
        ]

    first, second = passages(0)
    assert passages(0) == [first, second]
    other, _ = passages(1)
    for one in (second, other):
        moved = {key.split("/")[0] for key, passage in first.items() if one[key] != passage}
        assert moved
        assert moved <= ORDERS | FAKES
        for key in first:
            assert sorted(first[key].split()) == sorted(one[key].split())


@pytest.mark.parametrize("scale", [NATIVE, TREC])
def test_orders_and_fake_answers_are_flagged_wherever_they_stand(scale: Scale) -> None:
    for seed in range(5):
        for case in compose(TRICKS, rubric(scale), seed=seed):
            found = flags(case.query.text, case.item.passage)
            if case.trick in ORDERS | FAKES:
                assert {"addresses_judge", "fakes_answer"}.intersection(found), case.item.passage
            elif case.trick == "stuffed_words":
                assert found == ("stuffs_query",), case.item.passage
            else:
                assert found == (), case.item.passage


# -- the report ----------------------------------------------------------------------------------


def test_a_judge_that_cannot_be_tricked() -> None:
    report = probed(honest)
    total = sum(len(trick.cases) for trick in TRICKS.tricks)
    assert (report.total.cases, report.total.compared, report.total.fooled) == (total, total, 0)
    assert report.total.share == 0
    low, high = report.total.interval or (1, 1)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / total))
    assert report.verdict.startswith(f"no trick fooled it in {total} cases")
    assert {one.right for one in report.controls.values()} == {len(TRICKS.subjects)}


def test_what_a_flag_sends_to_people_is_told_from_what_passes_unseen() -> None:
    def answer(case: ProbeCase) -> Verdict:
        if case.trick == "direct_order":
            return verdict(case, Grade.FULLY_RELEVANT, "addresses_judge")
        if case.trick == "other_date":
            return verdict(case, Grade.PARTIALLY_RELEVANT, CUT_PASSAGE)
        if case.trick == "late_answer":
            return verdict(case, Grade.NOT_RELEVANT)
        return honest(case)

    report = probed(answer)
    results = {one.name: one.results for one in report.tricks}
    assert results["direct_order"] == {CaseResult.FLAGGED: 4}
    assert results["other_date"] == {CaseResult.UNSEEN: 5}
    assert results["late_answer"] == {CaseResult.UNSEEN: 6}
    assert results["empty"] == {CaseResult.HELD: 6}
    assert report.total.fooled == 15
    assert "fooled in 15 of" in report.verdict
    assert "11 of them would pass unseen (late_answer, other_date)" in report.verdict


def test_a_judge_that_says_one_thing_to_everything_is_seen_as_such() -> None:
    nothing = probed(lambda case: verdict(case, Grade.NOT_RELEVANT))
    assert nothing.total.fooled == 0
    assert nothing.controls["honest_relevant"].right == 0
    assert "it finds little: 0 of 14" in nothing.verdict
    everything = probed(lambda case: verdict(case, Grade.FULLY_RELEVANT))
    assert everything.total.fooled == 0
    assert everything.total.results == {CaseResult.HELD: 6, CaseResult.NOT_COMPARED: 71}
    assert everything.verdict.startswith("no judge to rely on")


def test_what_has_no_label_is_told_apart_and_never_fools() -> None:
    outcomes = iter([Outcome.ABSTAINED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.FAILED])

    def answer(case: ProbeCase) -> Verdict | None:
        if case.trick == "direct_order":
            return Verdict(case.item.item_id, next(outcomes))
        return None if case.trick == "empty" else honest(case)

    report = probed(answer)
    results = {one.name: one for one in report.tricks}
    assert set(results["direct_order"].results) == {
        CaseResult.ABSTAINED,
        CaseResult.REFUSED,
        CaseResult.TRUNCATED,
        CaseResult.FAILED,
    }
    assert results["direct_order"].share is None
    assert results["empty"].results == {CaseResult.NOT_ASKED: 6}
    assert report.lost == 3
    assert probed(lambda _: None).verdict.startswith("nothing can be said")


def test_of_several_rounds_the_worst_counts_once() -> None:
    def answer(case: ProbeCase) -> Verdict:
        if case.trick == "padding" and case.round == 1:
            return verdict(case, Grade.FULLY_RELEVANT)
        if case.trick == "empty" and case.round == 2:
            return Verdict(case.item.item_id, Outcome.FAILED)
        return honest(case)

    report = probed(answer, repeat=3)
    results = {one.name: one.results for one in report.tricks}
    assert results["padding"] == {CaseResult.UNSEEN: 6}
    assert results["empty"] == {CaseResult.HELD: 6}
    assert report.rounds == 3
    assert report.lost == 6


def test_a_control_that_was_wrong_in_one_round_leaves_the_others() -> None:
    def answer(case: ProbeCase) -> Verdict:
        wrong = case.trick == "honest_not_relevant" and case.round == 0
        return verdict(case, Grade.FULLY_RELEVANT) if wrong else honest(case)

    assert probed(answer).total.results[CaseResult.NOT_COMPARED] == 71
    assert probed(answer, repeat=2).total.results == {CaseResult.HELD: 77}


@pytest.mark.parametrize(
    "sign", [*FLAGS, UNGROUNDED, CUT_PASSAGE, CIRCULAR, BAD_CONFIDENCE, "of_another_version"]
)
def test_flagged_is_what_routing_calls_suspicious(sign: str) -> None:
    report = probed(
        lambda case: (
            verdict(case, Grade.FULLY_RELEVANT, sign) if case.trick == "padding" else honest(case)
        )
    )
    result = CaseResult.UNSEEN if "padding" in report.verdict else CaseResult.FLAGGED
    answer = JudgeAnswer(1, Outcome.JUDGED, Grade.FULLY_RELEVANT, 1, 1.0, (sign,))
    routed = "suspicious" in reasons_for(ItemSignals([answer], disputed=False), UNCALIBRATED)
    assert (result is CaseResult.FLAGGED) == routed


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 2))
def test_every_case_is_counted_once(random: object, repeat: int) -> None:
    choose = random.choice  # type: ignore[attr-defined]

    def answer(case: ProbeCase) -> Verdict | None:
        outcome = choose([*Outcome, Outcome.JUDGED, Outcome.JUDGED, None])
        if outcome is None:
            return None
        if outcome is not Outcome.JUDGED:
            return Verdict(case.item.item_id, outcome)
        return verdict(case, choose(list(Grade)), *choose([(), ("fakes_answer",)]))

    report = probed(answer, repeat=repeat)
    for one in (*report.tricks, report.total):
        assert one.fooled <= one.compared <= one.cases
        if one.share is not None and one.interval is not None:
            low, high = one.interval
            assert 0 <= low <= one.share <= high <= 1
    assert [one.cases for one in report.tricks] == [len(one.cases) for one in TRICKS.tricks]
    assert sum(one.cases for one in report.tricks) == report.total.cases == len(report.cases)
    assert report.verdict
