from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.gate_checks import (
    Answer,
    Cause,
    CheckAnswer,
    Direction,
    Evidence,
    GateVerdict,
    Requirement,
    Role,
    answer_check,
    clusters_for_boundary,
    confidence_for,
    gate_verdict,
    least_queries_for_quantile,
    least_queries_for_share,
)
from labeler.evaluation.posterior import Interval
from labeler.evaluation.proportions import clopper_pearson
from labeler.evaluation.reversal import Reversal

ASKED = Requirement(
    Role.AGGREGATE, 0.8, Direction.ABOVE, least_clusters=15, least_coverage=0.9, least_agreement=0.4
)
KNOWN = Evidence(
    value=0.86,
    interval=Interval(0.82, 0.9),
    lowest=0.86,
    highest=0.86,
    ceiling=1.0,
    clusters=40,
    queries=60,
    coverage=1.0,
    agreement=0.6,
)


def test_an_interval_beyond_the_boundary_passes_and_one_below_fails() -> None:
    assert answer_check(ASKED, KNOWN) == CheckAnswer(Answer.PASS)
    low = replace(KNOWN, value=0.7, interval=Interval(0.65, 0.75), lowest=0.7, highest=0.7)
    assert answer_check(ASKED, low) == CheckAnswer(Answer.FAIL)
    below = replace(ASKED, direction=Direction.BELOW)
    assert answer_check(below, low).answer is Answer.PASS
    assert answer_check(below, KNOWN).answer is Answer.FAIL


def test_the_favourable_end_never_decides() -> None:
    across = replace(KNOWN, interval=Interval(0.79, 0.95))
    found = answer_check(ASKED, across)
    assert found == CheckAnswer(Answer.INCONCLUSIVE, (Cause.FEW_QUERIES,))
    labels = replace(across, query_share=0.2)
    assert answer_check(ASKED, labels).causes == (Cause.INCOMPLETE,)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"coverage": 0.8}, Cause.INCOMPLETE),
        ({"positives": 9}, Cause.RARE_POSITIVES),
        ({"agreement": 0.3}, Cause.UNSTABLE),
        ({"agreement": None}, Cause.UNSTABLE),
        ({"coverage_gap": 0.06}, Cause.INCOMPLETE),
        ({"clusters": 14}, Cause.FEW_QUERIES),
        ({"interval": None}, Cause.FEW_QUERIES),
    ],
)
def test_what_was_demanded_and_is_not_there_keeps_a_check_from_passing(
    change: dict[str, object], cause: Cause
) -> None:
    found = answer_check(ASKED, replace(KNOWN, **change))  # type: ignore[arg-type]
    assert found == CheckAnswer(Answer.INCONCLUSIVE, (cause,))


def test_a_failure_that_no_label_can_change_needs_no_further_labels() -> None:
    low = replace(
        KNOWN, value=0.4, interval=Interval(0.3, 0.7), lowest=0.4, highest=0.6, coverage=0.5
    )
    assert answer_check(ASKED, low) == CheckAnswer(Answer.FAIL)


def test_labels_that_alone_put_the_metric_on_either_side_block() -> None:
    holes = replace(KNOWN, value=0.5, interval=Interval(0.4, 1.0), lowest=0.5, highest=0.95)
    assert answer_check(ASKED, holes) == CheckAnswer(Answer.BLOCKED, (Cause.INCOMPLETE,))
    sampled = replace(holes, positives=30, interval=Interval(0.82, 0.9))
    assert answer_check(ASKED, sampled) == CheckAnswer(Answer.PASS)


def test_a_sample_stands_in_for_what_is_not_judged() -> None:
    thin = replace(KNOWN, coverage=0.05, coverage_gap=0.3)
    assert answer_check(ASKED, thin).causes[0] is Cause.INCOMPLETE
    assert answer_check(ASKED, replace(thin, positives=30)) == CheckAnswer(Answer.PASS)


def test_an_undefined_metric_waits_for_labels_or_says_that_it_is_undefined() -> None:
    nothing = replace(KNOWN, value=None, interval=None, lowest=None, highest=None)
    assert answer_check(ASKED, replace(nothing, coverage=0.0)).answer is Answer.BLOCKED
    assert answer_check(ASKED, nothing) == CheckAnswer(Answer.INCONCLUSIVE, (Cause.UNDEFINED,))


def test_targets_that_cannot_be_met_are_told_before_anything_else() -> None:
    low_ceiling = replace(KNOWN, ceiling=0.8, clusters=3, coverage=0.1)
    assert answer_check(ASKED, low_ceiling) == CheckAnswer(Answer.UNREACHABLE, (Cause.CEILING,))
    small = replace(KNOWN, needed_queries=72)
    assert answer_check(ASKED, small) == CheckAnswer(Answer.UNREACHABLE, (Cause.SAMPLE_SIZE,))
    downwards = replace(ASKED, direction=Direction.BELOW, boundary=0.95)
    assert answer_check(downwards, low_ceiling).answer is not Answer.UNREACHABLE


evidence = st.builds(
    lambda value, low, high, reach, clusters, coverage: Evidence(
        value=value,
        interval=Interval(min(value, low) - reach, max(value, high) + reach),
        lowest=min(value, low),
        highest=max(value, high),
        ceiling=None,
        clusters=clusters,
        queries=clusters,
        coverage=coverage,
    ),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 0.3),
    st.integers(1, 60),
    st.floats(0, 1),
)


@given(evidence, st.floats(0, 1), st.sampled_from(Direction))
def test_nothing_passes_or_fails_unless_the_whole_interval_says_so(
    found: Evidence, boundary: float, direction: Direction
) -> None:
    asked = replace(ASKED, boundary=boundary, direction=direction)
    answer = answer_check(asked, found).answer
    assert found.interval is not None
    above, below = found.interval.low > boundary, found.interval.high < boundary
    good, bad = (above, below) if direction is Direction.ABOVE else (below, above)
    if answer is Answer.PASS:
        assert good
        assert found.clusters >= 15
        assert (found.coverage or 0) >= 0.9
    if answer is Answer.FAIL:
        assert bad
        assert found.clusters >= 15


VETO, OTHER, LOOK = Role.VETO, Role.AGGREGATE, Role.REVIEW


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([(VETO, Answer.PASS), (OTHER, Answer.PASS)], GateVerdict.PASSED),
        ([(VETO, Answer.FAIL), (OTHER, Answer.PASS)], GateVerdict.FAILED),
        ([(VETO, Answer.INCONCLUSIVE), (OTHER, Answer.FAIL)], GateVerdict.INCONCLUSIVE),
        ([(VETO, Answer.BLOCKED), (VETO, Answer.FAIL)], GateVerdict.FAILED),
        ([(VETO, Answer.UNREACHABLE), (OTHER, Answer.PASS)], GateVerdict.INCONCLUSIVE),
        ([(VETO, Answer.PASS), (OTHER, Answer.FAIL), (OTHER, Answer.BLOCKED)], GateVerdict.FAILED),
        ([(OTHER, Answer.BLOCKED), (OTHER, Answer.INCONCLUSIVE)], GateVerdict.BLOCKED),
        ([(OTHER, Answer.UNREACHABLE), (OTHER, Answer.PASS)], GateVerdict.INCONCLUSIVE),
        ([(LOOK, Answer.FAIL), (OTHER, Answer.PASS)], GateVerdict.PASSED),
    ],
)
def test_vetoes_come_before_the_others_and_review_decides_nothing(
    checks: list[tuple[Role, Answer]], verdict: GateVerdict
) -> None:
    assert gate_verdict(checks) is verdict
    assert gate_verdict(checks[::-1]) is verdict


def test_a_veto_is_one_sided() -> None:
    assert confidence_for(Role.VETO, 0.05) == pytest.approx(0.9)
    assert confidence_for(Role.AGGREGATE, 0.05) == pytest.approx(0.95)


def test_least_queries_are_those_with_which_a_flawless_result_passes() -> None:
    # 72 values are the least whose largest bounds the 95th percentile at 95% from both sides.
    assert least_queries_for_quantile(0.95, 0.95) == 72
    assert least_queries_for_quantile(0.95, 0.9) == 59
    for boundary in (0.5, 0.8, 0.95, 0.99):
        least = least_queries_for_share(boundary, 0.95)
        assert clopper_pearson(least, least)[0] > boundary
        assert clopper_pearson(least - 1, least - 1)[0] <= boundary


def test_clusters_that_would_clear_the_boundary_go_with_the_square_of_the_reach() -> None:
    wide = replace(KNOWN, value=0.85, interval=Interval(0.75, 0.95), clusters=20)
    assert clusters_for_boundary(ASKED, wide) == pytest.approx(80, abs=1)
    on_it = replace(wide, value=0.8)
    assert clusters_for_boundary(ASKED, on_it) is None


def test_missing_labels_block_while_so_many_relevant_ones_are_not_improbable() -> None:
    holes = replace(
        KNOWN,
        value=0.7,
        interval=Interval(0.65, 0.9),
        lowest=0.7,
        highest=0.85,
        coverage=0.95,
        reversal=Reversal(4, 4, 9),
    )
    blocked = CheckAnswer(Answer.BLOCKED, (Cause.INCOMPLETE,))
    assert answer_check(ASKED, holes) == blocked
    assert answer_check(ASKED, replace(holes, chance_of_flips=ASKED.alpha)) == blocked
    improbable = answer_check(ASKED, replace(holes, chance_of_flips=0.049))
    # Probabilities say what keeps a check open; they never let it pass or fail.
    assert improbable == CheckAnswer(Answer.INCONCLUSIVE, (Cause.FEW_QUERIES,))
    never = replace(holes, reversal=Reversal(None, None, 9), chance_of_flips=0.0)
    assert answer_check(ASKED, never).answer is Answer.INCONCLUSIVE
