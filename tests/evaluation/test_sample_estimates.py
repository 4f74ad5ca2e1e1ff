from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.estimators import Known, Strength
from labeler.evaluation.exact import exact_recall, exact_total, exact_total_difference
from labeler.evaluation.posterior import LabelledStratum, draw_totals
from labeler.evaluation.sample_estimates import (
    DrawnStratum,
    Estimand,
    Method,
    estimate,
    facts_of,
)

KNOWN = Known(20, 15, 12)


def part(
    size: int, labelled: int, relevant: int, who: str = "", *, abstained: int = 0
) -> DrawnStratum:
    return DrawnStratum(
        LabelledStratum(size, labelled, relevant, "A" in who, "B" in who), abstained
    )


PARTS = [part(100, 20, 6, "A"), part(80, 15, 3, "B"), part(400, 40, 1), part(30, 10, 8, "AB")]
STRATA = [one.labelled for one in PARTS]
# Relevant by weight: 30 for A alone, 16 for B alone, 10 for nobody, 24 for both.


@pytest.mark.parametrize(
    ("estimand", "value"),
    [
        (Estimand.RECALL, (15 + 30 + 24) / (20 + 80)),
        (Estimand.RECALL_DIFFERENCE, (3 + 30 - 16) / 100),
        (Estimand.PRECISION, (15 + 54) / 500),
        (Estimand.PRECISION_DIFFERENCE, (3 + 30 - 16) / 500),
        (Estimand.RELEVANT, 100),
    ],
)
def test_the_value_is_weighted_by_design_and_lies_in_its_interval(
    estimand: Estimand, value: float
) -> None:
    found = estimate(estimand, PARTS, KNOWN, seed=1, places=500)
    assert found.value == pytest.approx(value)
    assert found.interval.low < value < found.interval.high
    assert found.bounds == found.interval
    assert found.method is Method.POSTERIOR
    assert found.error is not None
    assert found.interval.width == pytest.approx(3.92 * found.error, rel=0.4)


def test_few_positives_and_vetoes_get_exact_limits() -> None:
    few = [part(100, 20, 2, "A"), part(80, 15, 0, "B"), part(400, 40, 1)]
    found = estimate(Estimand.RECALL, few, KNOWN, seed=1)
    assert found.method is Method.EXACT
    assert found.interval == exact_recall([one.labelled for one in few], KNOWN)
    for estimand in Estimand:
        veto = estimate(estimand, PARTS, KNOWN, seed=1, places=500, veto=True)
        default = estimate(estimand, PARTS, KNOWN, seed=1, places=500)
        assert veto.method is Method.EXACT
        assert veto.interval.low < default.interval.low
        assert veto.interval.high > default.interval.high
    total = estimate(Estimand.RELEVANT, PARTS, KNOWN, seed=1, veto=True)
    assert total.interval == exact_total(STRATA, KNOWN)
    lead = estimate(Estimand.PRECISION_DIFFERENCE, PARTS, KNOWN, seed=1, places=10, veto=True)
    assert lead.interval.high == exact_total_difference(STRATA, KNOWN).high / 10


def test_abstentions_widen_the_bounds_and_not_the_interval() -> None:
    asked = [
        part(100, 20, 6, "A", abstained=4),
        part(80, 15, 3, "B", abstained=4),
        part(400, 40, 1),
        part(30, 10, 8, "AB"),
    ]
    found = estimate(Estimand.RECALL_DIFFERENCE, asked, KNOWN, seed=1)
    plain = estimate(Estimand.RECALL_DIFFERENCE, PARTS, KNOWN, seed=1)
    assert found.interval == plain.interval
    assert found.bounds.low < plain.interval.low
    assert found.bounds.high > plain.interval.high
    # The worst case for the first system: none of its own, all of the second's.
    worst = [part(100, 24, 6, "A"), part(80, 19, 7, "B"), *PARTS[2:]]
    low = draw_totals([one.labelled for one in worst], KNOWN, seed=1).recall_difference().low
    assert found.bounds.low == pytest.approx(low)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_bounds_hold_every_way_in_which_abstentions_could_have_been_answered(
    data: st.DataObject,
) -> None:
    asked = [part(60, 20, 7, "A", abstained=3), part(60, 20, 7, "", abstained=2)]
    answers = [data.draw(st.integers(0, 3)), data.draw(st.integers(0, 2))]
    answered = [part(60, 23, 7 + answers[0], "A"), part(60, 22, 7 + answers[1], "")]
    bounds = estimate(Estimand.RECALL, asked, KNOWN, seed=1, veto=True).bounds
    found = estimate(Estimand.RECALL, answered, KNOWN, seed=1, veto=True).interval
    assert bounds.low <= found.low <= found.high <= bounds.high


def test_a_stratum_without_an_answer_takes_its_cell_s_share() -> None:
    parts = [part(100, 20, 6, "A"), part(50, 0, 0, "A"), part(400, 40, 4)]
    found = estimate(Estimand.RELEVANT, parts, Known(), seed=1)
    assert found.value == pytest.approx(150 * 0.3 + 40)
    alone = estimate(Estimand.RELEVANT, [part(100, 0, 0, "A"), *parts[2:]], Known(), seed=1)
    assert alone.value is None
    assert alone.interval.width > 100


def test_the_counts_are_unweighted() -> None:
    facts = facts_of([part(100, 20, 6, "A", abstained=4), part(400, 40, 5)])
    assert (facts.size, facts.labelled, facts.relevant, facts.abstained) == (500, 60, 11, 4)
    assert facts.effective == pytest.approx(500**2 / (20 * 25 + 40 * 100))
    assert facts.strength is Strength.SOUND
    nobody = facts_of([part(100, 0, 0)])
    assert (nobody.labelled, nobody.strength) == (0, Strength.NO_POSITIVES)


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="more items were drawn"):
        part(10, 8, 1, abstained=3)
    with pytest.raises(ValueError, match="precision needs"):
        estimate(Estimand.PRECISION, PARTS, KNOWN, seed=1)
