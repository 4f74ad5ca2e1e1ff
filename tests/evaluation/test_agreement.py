from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.agreement import (
    Disagreement,
    Estimate,
    NoInterval,
    NoValue,
    cohen_kappa,
    coincidence_tables,
    confusion_tables,
    estimate,
    exact_agreement,
    gwet_ac1,
    krippendorff_nominal,
    krippendorff_ordinal,
    paired_coincidences,
    quadratic_kappa,
)
from tests.shared import data_dir

Coefficient = Callable[[NDArray[np.float64]], Disagreement]

K = 4
PAIRS = st.lists(st.tuples(st.integers(0, K - 1), st.integers(0, K - 1)), min_size=1, max_size=30)
COEFFICIENTS: list[Coefficient] = [cohen_kappa, quadratic_kappa, gwet_ac1]
ALPHAS: list[Coefficient] = [krippendorff_nominal, krippendorff_ordinal]


def one_table(pairs: Sequence[tuple[int, int]], levels: int = K) -> NDArray[np.float64]:
    """Give the confusion tables of pairs that all belong to one query."""
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return confusion_tables(first, second, np.zeros(len(pairs), dtype=np.int64), levels)


def value(table: Sequence[Sequence[float]], coefficient: Coefficient) -> float | None:
    return estimate(np.array([table], dtype=np.float64), coefficient).value


def reference(measure: str, level: str | None = None) -> list[dict[str, Any]]:
    path: Path = data_dir("reference") / "agreement.json"
    return [
        one
        for one in json.loads(path.read_text())
        if one["measure"] == measure and one.get("level") == level and {"a", "data"} & one.keys()
    ]


def test_published_kappas() -> None:
    examples = reference("cohen_kappa")
    assert len(examples) == 3
    for one in examples:
        names = sorted({*one["a"], *one["b"]})
        pairs = [(names.index(a), names.index(b)) for a, b in zip(one["a"], one["b"], strict=True)]
        found = estimate(one_table(pairs, len(names)), cohen_kappa).value
        assert found == pytest.approx(one["value"], abs=5e-5), one["id"]


@pytest.mark.parametrize(
    ("level", "coefficient", "count"),
    [("nominal", krippendorff_nominal, 2), ("ordinal", krippendorff_ordinal, 1)],
)
def test_published_alphas(level: str, coefficient: Coefficient, count: int) -> None:
    examples = reference("krippendorff_alpha", level)
    assert len(examples) == count
    for one in examples:
        rows = [[-1 if label is None else label - 1 for label in row] for row in one["data"]]
        ratings = np.array(rows, dtype=np.int64)
        units = np.zeros(ratings.shape[1], dtype=np.int64)
        found = estimate(coincidence_tables(ratings, units, 5), coefficient).value
        assert found == pytest.approx(one["verified_with_a_library"], abs=5e-7), one["id"]


def test_the_first_example_of_irrcac() -> None:
    # The table 'cont3x3abstractors' of the R package irrCAC 1.0, vignette "overview".
    table = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    assert value(table, cohen_kappa) == pytest.approx(0.7964094, abs=5e-8)
    assert value(table, gwet_ac1) == pytest.approx(0.8493305, abs=5e-8)


def test_where_kappa_is_a_paradox_ac1_is_not() -> None:
    # 118 of 125 the same, nearly all of one kind: kappa is below zero, AC1 above 0.9.
    table = [[118, 5], [2, 0]]
    assert value(table, exact_agreement) == pytest.approx(0.944)
    assert value(table, cohen_kappa) == pytest.approx(-0.0234, abs=5e-5)
    assert value(table, gwet_ac1) == pytest.approx(0.9408, abs=5e-5)


GOLDEN = {
    "4_prompts_dl2019": (0.1237, 0.3019, 0.1817, 0.1278, 0.2133, 0.0840),
    "dl2019_test_4prompts_flant5large": (0.2272, 0.4477, 0.4521, 0.3369, 0.3220, 0.6654),
    "dl2019_test_4prompts_llama70b": (0.1666, 0.4611, 0.3912, 0.1817, 0.3877, 0.4034),
    "dl2019_test_sun_then_decomposed_flant5large": (0.1867, 0.4416, 0.4049, 0.2198, 0.4010, 0.6383),
}
"""Judges of DL 2019: kappa, quadratic, ordinal alpha and AC1 of levels; kappa, AC1 of relevance."""


def test_recorded_judges_and_their_panel() -> None:
    folder = data_dir("trec-dl-2019")

    def labels(path: Path) -> dict[tuple[str, str], int]:
        rows = [line.split() for line in path.read_text().splitlines()]
        return {(query, document): int(code) for query, _, document, code in rows}

    human = labels(folder / "qrels.txt")
    queries = np.array([int(query) for query, _ in human])
    mine = np.array(list(human.values()))
    panel = []
    for path in sorted((folder / "judges").glob("naghmefarzi.*.txt")):
        given_by = labels(path)
        theirs = np.array([given_by[pair] for pair in human])
        panel.append(theirs)
        golden = GOLDEN.get(path.stem.removeprefix("naghmefarzi."))
        if golden is None:
            continue
        tables = confusion_tables(mine, theirs, queries, 4)
        relevance = confusion_tables(
            (mine >= 2).astype(np.int64), (theirs >= 2).astype(np.int64), queries, 2
        )
        found = [
            estimate(tables, cohen_kappa),
            estimate(tables, quadratic_kappa),
            estimate(paired_coincidences(tables), krippendorff_ordinal),
            estimate(tables, gwet_ac1),
            estimate(relevance, cohen_kappa),
            estimate(relevance, gwet_ac1),
        ]
        assert [one.value for one in found] == pytest.approx(golden, abs=5e-5), path.stem
        for one in found:
            assert one.low is not None
            assert one.value is not None
            assert one.high is not None
            assert one.low < one.value < one.high
    together = coincidence_tables(np.array(panel), queries, 4)
    assert len(panel) == 7
    assert estimate(together, krippendorff_ordinal).value == pytest.approx(0.537, abs=5e-4)
    assert estimate(together, krippendorff_nominal).value == pytest.approx(0.262, abs=5e-4)


@given(PAIRS)
def test_kappa_is_what_cohen_defines(pairs: list[tuple[int, int]]) -> None:
    count = len(pairs)
    same = sum(a == b for a, b in pairs) / count
    chance = sum(
        sum(a == level for a, _ in pairs) * sum(b == level for _, b in pairs) / count**2
        for level in range(K)
    )
    found = estimate(one_table(pairs), cohen_kappa)
    if len({label for pair in pairs for label in pair}) == 1:
        assert found == Estimate(None, undefined=NoValue.ONE_LABEL)
    else:
        assert found.value == pytest.approx((same - chance) / (1 - chance), abs=1e-9)
    assert estimate(one_table(pairs), exact_agreement).value == pytest.approx(same)


@given(PAIRS)
def test_quadratic_kappa_is_lins_concordance(pairs: list[tuple[int, int]]) -> None:
    # Lin 1989, Biometrics 45, 255-268; that the two are one follows from the definitions.
    first, second = (np.array([pair[side] for pair in pairs], dtype=float) for side in (0, 1))
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    found = estimate(one_table(pairs), quadratic_kappa).value
    if spread == 0:
        assert found is None
    else:
        covariance = ((first - first.mean()) * (second - second.mean())).mean()
        assert found == pytest.approx(2 * covariance / spread, abs=1e-9)


@given(PAIRS)
def test_ac1_is_what_gwet_defines(pairs: list[tuple[int, int]]) -> None:
    used = [label for pair in pairs for label in pair]
    shares = [used.count(level) / len(used) for level in range(K)]
    chance = sum(share * (1 - share) for share in shares) / (K - 1)
    same = sum(a == b for a, b in pairs) / len(pairs)
    found = estimate(one_table(pairs), gwet_ac1).value
    if len(set(used)) == 1:
        assert found is None
    else:
        assert found == pytest.approx((same - chance) / (1 - chance), abs=1e-9)


UNITS = st.lists(st.lists(st.integers(-1, K - 1), min_size=3, max_size=3), min_size=1, max_size=12)


@given(UNITS, st.booleans())
def test_alpha_is_what_krippendorff_defines(units: list[list[int]], ordinal: bool) -> None:
    kept = [[label for label in unit if label >= 0] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    used = [label for unit in kept for label in unit]

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        if not ordinal:
            return float(a != b)
        between = sum(used.count(level) for level in range(low, high + 1))
        return (between - (used.count(low) + used.count(high)) / 2) ** 2 if a != b else 0.0

    observed = sum(
        distance(a, b) / (len(unit) - 1) for unit in kept for a, b in permutations(unit, 2)
    )
    expected = sum(distance(a, b) for a, b in permutations(used, 2))
    ratings = np.array(units, dtype=np.int64).T
    clusters = np.arange(len(units)) % 3
    tables = coincidence_tables(ratings, clusters, K)
    found = estimate(tables, krippendorff_ordinal if ordinal else krippendorff_nominal)
    if not kept:
        assert found == Estimate(None, undefined=NoValue.NO_PAIR)
    elif expected == 0:
        assert found == Estimate(None, undefined=NoValue.ONE_LABEL)
    else:
        whole = observed / len(used) / (expected / len(used) / (len(used) - 1))
        assert found.value == pytest.approx(1 - whole, abs=1e-9)


@given(PAIRS)
def test_two_assessors_coincide_as_any_number_does(pairs: list[tuple[int, int]]) -> None:
    ratings = np.array(pairs, dtype=np.int64).T
    together = coincidence_tables(ratings, np.zeros(len(pairs), dtype=np.int64), K)
    assert np.array_equal(together, paired_coincidences(one_table(pairs)))


@given(PAIRS, st.sampled_from(COEFFICIENTS + ALPHAS))
def test_who_is_first_does_not_matter(
    pairs: list[tuple[int, int]], coefficient: Coefficient
) -> None:
    there, back = one_table(pairs), one_table([(b, a) for a, b in pairs])
    if coefficient in ALPHAS:
        there, back = paired_coincidences(there), paired_coincidences(back)
    assert estimate(there, coefficient).value == pytest.approx(
        estimate(back, coefficient).value, abs=1e-12
    )


@given(PAIRS, st.permutations(range(K)))
def test_nominal_coefficients_know_no_order(pairs: list[tuple[int, int]], other: list[int]) -> None:
    named = one_table([(other[a], other[b]) for a, b in pairs])
    for coefficient in (cohen_kappa, gwet_ac1):
        assert estimate(named, coefficient).value == pytest.approx(
            estimate(one_table(pairs), coefficient).value, abs=1e-12
        )


@given(PAIRS)
def test_of_two_levels_quadratic_kappa_is_kappa(pairs: list[tuple[int, int]]) -> None:
    table = one_table([(a % 2, b % 2) for a, b in pairs], 2)
    assert estimate(table, quadratic_kappa).value == estimate(table, cohen_kappa).value


@given(st.lists(st.integers(0, K - 1), min_size=2, max_size=40))
def test_perfect_agreement_is_one(labels: list[int]) -> None:
    table = one_table([(label, label) for label in labels])
    found = [estimate(table, one).value for one in COEFFICIENTS]
    found += [estimate(paired_coincidences(table), one).value for one in ALPHAS]
    assert found == [1.0 if len(set(labels)) > 1 else None] * len(found)


def test_one_label_is_undefined_for_all_and_the_share_is_not() -> None:
    table = one_table([(0, 0)] * 3)
    for coefficient in COEFFICIENTS:
        assert estimate(table, coefficient) == Estimate(None, undefined=NoValue.ONE_LABEL)
    assert estimate(table, exact_agreement).value == 1.0


def test_one_assessor_who_knows_one_label_agrees_by_chance() -> None:
    assert value([[3, 2], [0, 0]], cohen_kappa) == 0.0


def test_one_pair_that_differs_agrees_as_by_chance() -> None:
    assert value([[0, 1], [0, 0]], cohen_kappa) == 0.0
    assert value([[0, 1], [0, 0]], exact_agreement) == 0.0


def test_no_pair_is_undefined() -> None:
    nothing = one_table([])
    for coefficient in [exact_agreement, *COEFFICIENTS, *ALPHAS]:
        assert estimate(nothing, coefficient) == Estimate(None, undefined=NoValue.NO_PAIR)


def stacked(tables: Sequence[Sequence[Sequence[int]]]) -> NDArray[np.float64]:
    return np.array(tables, dtype=np.float64)


def test_an_interval_needs_eight_queries() -> None:
    mixed = [[[2, 1], [0, 3]], [[1, 0], [2, 2]]] * 4
    assert estimate(stacked(mixed[:7]), cohen_kappa).no_interval is NoInterval.FEW_QUERIES
    whole = estimate(stacked(mixed), cohen_kappa)
    assert whole.low is not None
    assert whole.no_interval is None
    # Queries without a pair don't count as queries.
    empty = [[[0, 0], [0, 0]]] * 3
    few = estimate(stacked(mixed[:7] + empty), cohen_kappa)
    assert few.no_interval is NoInterval.FEW_QUERIES
    assert estimate(stacked(mixed + empty), cohen_kappa) == whole


def test_an_interval_that_rests_on_one_query_is_not_given() -> None:
    one = [[[2, 0], [0, 0]]] * 9 + [[[1, 1], [0, 1]]]
    found = estimate(stacked(one), cohen_kappa)
    assert found.value is not None
    assert (found.low, found.no_interval) == (None, NoInterval.ONE_LABEL_WITHOUT_A_QUERY)


def test_perfect_agreement_has_no_interval_of_width_zero() -> None:
    found = estimate(stacked([[[2, 0], [0, 1]]] * 10), cohen_kappa)
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.no_interval is NoInterval.NO_SPREAD


def test_an_interval_ends_where_the_coefficient_does() -> None:
    nearly = [[[5, 0], [0, 5]]] * 8 + [[[2, 3], [0, 5]]]
    assert estimate(stacked(nearly), cohen_kappa).high == 1.0
    hardly = [[[0, 5], [5, 0]]] * 8 + [[[1, 3], [1, 5]]]
    assert estimate(stacked(hardly), exact_agreement, least=0.0).low == 0.0


def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(11)
    # Queries differ in how much is relevant and in how well the assessors agree.
    relevant, same = random.uniform(0.1, 0.7, 400), random.uniform(0.5, 1.0, 400)
    chances = np.stack(
        [
            (1 - relevant) * same,
            (1 - relevant) * (1 - same),
            relevant * (1 - same),
            relevant * same,
        ],
        axis=1,
    )
    truth = estimate(chances.sum(axis=0).reshape(1, 2, 2), cohen_kappa).value
    assert truth is not None
    covered = 0
    for _ in range(400):
        drawn = chances[random.integers(0, 400, 20)]
        found = estimate(
            random.multinomial(15, drawn).reshape(-1, 2, 2).astype(np.float64), cohen_kappa
        )
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 400 <= 0.98


def test_labels_that_do_not_fit_are_refused() -> None:
    one, two = np.array([0]), np.array([0, 1])
    with pytest.raises(UsageError, match="can't be paired"):
        confusion_tables(one, two, two, 2)
    with pytest.raises(UsageError, match="none of the 2 levels"):
        confusion_tables(np.array([2]), one, one, 2)
    with pytest.raises(UsageError, match="none of the 2 levels"):
        confusion_tables(np.array([-1]), one, one, 2)
    with pytest.raises(UsageError, match="2 levels or more"):
        confusion_tables(one, one, one, 1)
    with pytest.raises(UsageError, match="shape"):
        coincidence_tables(np.zeros((2, 3), dtype=np.int64), two, 2)
