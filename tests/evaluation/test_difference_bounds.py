"""The limits of a difference of two runs, against every way to label what is unknown."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.difference_bounds import difference_bounds
from labeler.evaluation.metrics import Metric, measure, parse_metric
from tests.evaluation.flips import TOP, OneQuery, build, flipped, queries


def every_difference(metric: Metric, row: OneQuery) -> list[float]:
    """Give the difference under each way to label the query's unknown items, where it is one."""
    unknown = [item for item, code in enumerate(row.states) if code == -1]
    subsets = chain.from_iterable(combinations(unknown, n) for n in range(len(unknown) + 1))
    found = []
    for chosen in subsets:
        rows = flipped([row], tuple((0, item) for item in chosen), (TOP,) * len(chosen))
        first, second = (measure(metric, build(rows, run)).value for run in ("first", "second"))
        found.append(float(first[0] - second[0]))
    return [value for value in found if not np.isnan(value)]


@pytest.mark.parametrize(
    "name", ["P@1", "P@3", "MRR", "MRR@2", "recall@1", "recall@3", "nDCG@1", "nDCG@3"]
)
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(queries(6), min_size=1, max_size=3))
def test_the_limits_are_those_of_trying_everything(name: str, rows: list[OneQuery]) -> None:
    metric = parse_metric(name)
    least, most = difference_bounds(metric, build(rows, "first"), build(rows, "second"))
    for row, low, high in zip(rows, least.tolist(), most.tolist(), strict=True):
        every = every_difference(metric, row)
        if not every:
            assert np.isnan([low, high]).all()
        else:
            assert (low, high) == pytest.approx((min(every), max(every)), abs=1e-9)


def test_what_both_found_alike_leaves_nothing_open() -> None:
    row = OneQuery((-1, -1, 0, 1), (0.0, 0.0, 0.0, TOP), (0, 1, 3), (0, 1, 2))
    for name, gap in (("P@2", 0.0), ("MRR@2", 0.0), ("P@3", 1 / 3)):
        found = difference_bounds(parse_metric(name), build([row], "first"), build([row], "second"))
        assert (found[0][0], found[1][0]) == pytest.approx((gap, gap))
