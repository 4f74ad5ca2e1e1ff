from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.allocation import next_units
from labeler.evaluation.estimators import Known
from labeler.evaluation.sample_estimates import Estimand
from labeler.evaluation.sample_planning import PlannedStratum, expected_width
from labeler.sampling.strata import FrameUnit, make_strata

RUNS = ("A", "B")
WHO = st.sampled_from([(), ("A",), ("B",), ("A", "B")])
UNITS = st.lists(
    st.tuples(
        WHO,
        st.booleans(),
        st.sampled_from(["", "billing", "returns"]),
        st.one_of(st.none(), st.floats(0, 1)),
        st.booleans(),
    ),
    min_size=1,
    max_size=80,
).map(
    lambda rows: [
        FrameUnit(number, who, deeper and not who, domain, probability, disputed)
        for number, (who, deeper, domain, probability, disputed) in enumerate(rows)
    ]
)


@given(UNITS, st.integers(1, 300))
def test_strata_part_the_frame_and_never_mix_who_retrieved(
    units: list[FrameUnit], votes: int
) -> None:
    strata = make_strata(units, votes, {}, RUNS, {})
    items = [item for one in strata for item in one.items]
    assert sorted(items) == [unit.item_id for unit in units]
    for one in strata:
        assert {units[item].retrieved for item in one.items} == {one.retrieved}
        assert 0 <= one.rate <= 1
    assert len({one.name for one in strata}) == len(strata)


@given(UNITS, st.integers(1, 300))
def test_strata_are_few_enough_to_be_filled(units: list[FrameUnit], votes: int) -> None:
    strata = make_strata(units, votes, {}, RUNS, {})
    alike = len({unit.retrieved for unit in units})
    assert len(strata) <= max(alike, votes // 8)
    for one in strata:
        others = [other for other in strata if other.retrieved == one.retrieved]
        assert len(one.items) >= 3 or len(others) == 1


def test_more_votes_part_more_finely() -> None:
    units = [
        FrameUnit(number, ("A",) if number % 2 else (), number % 4 == 0, "", number / 200)
        for number in range(200)
    ]
    coarse = make_strata(units, 20, {}, ("A",), {})
    fine = make_strata(units, 200, {}, ("A",), {})
    assert [one.name for one in coarse] == ["top k of none of them", "top k of A"]
    assert {one.name for one in fine} >= {
        "top k of A; high probability",
        "top k of none of them; below k; low probability",
        "top k of none of them; of other runs only; middle probability",
    }
    by_name = {one.name: one.rate for one in fine}
    assert by_name["top k of A; low probability"] < by_name["top k of A; high probability"]


def test_what_one_run_alone_retrieved_is_worth_most_to_a_comparison() -> None:
    units = [
        FrameUnit(number, who)
        for number, who in enumerate([("A",)] * 40 + [("B",)] * 40 + [("A", "B")] * 40 + [()] * 900)
    ]
    known: dict[tuple[str, ...], int] = {("A", "B"): 60}
    rates: dict[tuple[str, ...], float] = {("A",): 0.3, ("B",): 0.3, ("A", "B"): 0.6, (): 0.02}
    worth = {one.retrieved: one.worth for one in make_strata(units, 60, rates, RUNS, known)}
    assert worth["A",] == worth["B",] > 2 * worth["A", "B"]
    assert worth["A",] > worth[()] > 0


def test_without_probabilities_the_rate_is_that_of_what_was_retrieved_alike() -> None:
    units = [FrameUnit(number, ("A",)) for number in range(10)]
    assert make_strata(units, 5, {("A",): 0.2}, RUNS, {})[0].rate == pytest.approx(0.2)
    assert make_strata(units, 5, {}, RUNS, {})[0].rate == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("measure", "second"),
    [
        (Estimand.RECALL_DIFFERENCE, True),
        (Estimand.PRECISION, False),
        (Estimand.PRECISION_DIFFERENCE, True),
    ],
)
def test_a_sample_for_one_measure_makes_its_interval_narrower(
    measure: Estimand, second: bool
) -> None:
    sizes: dict[tuple[str, ...], int] = {("A",): 300, ("B",): 200, ("A", "B"): 250, (): 2500}
    rates: dict[tuple[str, ...], float] = {("A",): 0.5, ("B",): 0.3, ("A", "B"): 0.6, (): 0.03}
    groups = [who for who, size in sizes.items() for _ in range(size)]
    units = [FrameUnit(number, who) for number, who in enumerate(groups)]

    def width(tuned: Estimand | None) -> float:
        strata = make_strata(units, 120, rates, RUNS, {}, tuned)
        counts = next_units(
            [len(one.items) for one in strata],
            [one.rate for one in strata],
            120,
            worth=[one.worth for one in strata],
        )
        planned = [
            PlannedStratum(
                len(one.items), one.rate, "A" in one.retrieved, second and "B" in one.retrieved
            )
            for one in strata
        ]
        return expected_width(measure, planned, counts, Known(), seed=1, places=500)

    assert width(measure) < 0.9 * width(None)
