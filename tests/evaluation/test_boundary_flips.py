"""The least number of flips that carries a metric across a boundary, against every way to flip."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.boundary_flips import flips_to_cross
from labeler.evaluation.metrics import Metric, measure, parse_metric
from tests.evaluation.flips import TOP, OneQuery, build, flipped, queries

NAMES = ["P@1", "P@3", "MRR", "MRR@2", "recall@1", "recall@3", "nDCG@2"]
BOUNDARIES = [-0.4, 0.0, 0.21, 0.5, 0.73]


def mean(metric: Metric, rows: list[OneQuery], *, paired: bool) -> float | None:
    values = measure(metric, build(rows, "first")).value
    if paired:
        values = values - measure(metric, build(rows, "second")).value
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def tried(
    metric: Metric, rows: list[OneQuery], boundary: float, *, upwards: bool, paired: bool
) -> int | None:
    """Flip every set of unknown items to the top gain, the smallest first."""
    unknown = [
        (q, i) for q, row in enumerate(rows) for i, code in enumerate(row.states) if code < 0
    ]
    now = mean(metric, rows, paired=paired)
    assert now is not None
    is_met = now > boundary if upwards else now < boundary
    falls = is_met == upwards
    for count in range(len(unknown) + 1):
        for chosen in combinations(unknown, count):
            after = mean(metric, flipped(rows, chosen, (TOP,) * count), paired=paired)
            if after is None:
                continue
            if (after < boundary - 1e-9) if falls else (after > boundary + 1e-9):
                return count
    return None


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(queries(4), min_size=1, max_size=3),
    boundary=st.sampled_from(BOUNDARIES),
    upwards=st.booleans(),
    paired=st.booleans(),
)
def test_the_number_is_that_of_trying_everything(
    name: str, rows: list[OneQuery], boundary: float, upwards: bool, paired: bool
) -> None:
    metric = parse_metric(name)
    found = flips_to_cross(
        metric,
        build(rows, "first"),
        build(rows, "second") if paired else None,
        boundary=boundary,
        upwards=upwards,
        inside=np.ones(len(rows), dtype=np.bool_),
    )
    if mean(metric, rows, paired=paired) is None:
        assert found is None
        return
    assert found is not None
    assert found.reversal.most == tried(metric, rows, boundary, upwards=upwards, paired=paired)
    if not name.startswith("nDCG"):
        assert found.reversal.is_exact


def test_only_the_queries_of_a_slice_count() -> None:
    rows = [OneQuery((-1, 0), (0.0, 0.0), (0, 1), ()), OneQuery((1, -1), (1.0, 0.0), (0, 1), ())]
    inside = np.array([False, True])
    found = flips_to_cross(
        parse_metric("P@2"),
        build(rows, "first"),
        None,
        boundary=0.6,
        upwards=True,
        inside=inside,
    )
    assert found is not None
    assert (found.reversal.least, found.reversal.available) == (1, 1)
    assert found.queries.tolist() == [1]
    assert [keys.tolist() for keys in found.useful] == [[1]]
