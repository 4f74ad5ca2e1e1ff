"""Required evidence and domains among the first places."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.evaluation.retrieved import domain_accuracy_at, required_coverage_at
from tests.judged import judged


def test_one_of_a_group_is_enough_and_every_group_counts() -> None:
    ranking = judged([[0, 0, 0], [0], []], evidence=[[7, 8, 9], [5], []])
    required = [[[1, 8], [9], [3]], [], [[4]]]
    found = required_coverage_at(ranking, required, 3)
    assert found[0] == pytest.approx(2 / 3)
    assert np.isnan(found[1])
    assert found[2] == 0.0
    assert required_coverage_at(ranking, required, 1)[0] == 0.0


def test_places_without_a_domain_make_the_bounds() -> None:
    ranking = judged([[0, 0, 0, 0], [0], [], [1]])
    of_queries = np.array([0, -1, 0, 1])
    of_places = np.array([0, 1, -1, 0, 0, 1])
    found = domain_accuracy_at(ranking, of_queries, of_places, 3)
    assert found.value[0] == pytest.approx(1 / 3)
    assert found.upper[0] == pytest.approx(2 / 3)
    assert found.judged_only[0] == pytest.approx(1 / 2)
    # Neither a query without a domain nor one without results has an accuracy.
    assert np.isnan(found.value[1])
    assert np.isnan(found.value[2])
    assert found.value[3] == 1.0
