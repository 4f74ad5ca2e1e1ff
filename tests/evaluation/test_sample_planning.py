from __future__ import annotations

import pytest

from labeler.evaluation.estimators import Known
from labeler.evaluation.sample_estimates import Estimand
from labeler.evaluation.sample_planning import PlannedStratum, expected_width, votes_for_width

STRATA = [
    PlannedStratum(120, 0.4, first=True),
    PlannedStratum(90, 0.2, second=True),
    PlannedStratum(600, 0.03),
]
KNOWN = Known(60, 40, 40)


def test_more_votes_make_a_narrower_interval() -> None:
    widths = [
        expected_width(Estimand.RECALL_DIFFERENCE, STRATA, counts, KNOWN, seed=1)
        for counts in ([5, 5, 10], [20, 20, 40], [60, 45, 200], [120, 90, 600])
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0.0)


def test_so_many_votes_are_enough_and_many_fewer_are_not() -> None:
    votes = votes_for_width(Estimand.RECALL_DIFFERENCE, STRATA, KNOWN, 0.12, seed=1)
    assert votes is not None
    assert 30 < votes < 500
    harder = votes_for_width(Estimand.RECALL_DIFFERENCE, STRATA, KNOWN, 0.06, seed=1)
    assert harder is not None
    assert harder > 1.25 * votes


def test_all_votes_leave_no_width() -> None:
    assert votes_for_width(Estimand.RECALL, STRATA, KNOWN, 1e-9, seed=1) is not None
    nothing = [PlannedStratum(5, 0.0, first=True)]
    assert votes_for_width(Estimand.RECALL, nothing, Known(), 0.1, seed=1) is None


def test_precision_needs_only_what_was_retrieved() -> None:
    deep = [*STRATA, PlannedStratum(100_000, 0.01)]
    counts = [30, 30, 30]
    shallow = expected_width(
        Estimand.PRECISION_DIFFERENCE, STRATA, counts, KNOWN, seed=1, places=500
    )
    same = expected_width(
        Estimand.PRECISION_DIFFERENCE, deep, [*counts, 0], KNOWN, seed=1, places=500
    )
    assert shallow == pytest.approx(same, rel=0.15)
