from __future__ import annotations

import numpy as np
import pytest

from labeler.evaluation.calibration_figures import COVERAGES, figures_of


def test_intervals_cover_what_they_estimate() -> None:
    """Of 200 samples of 20 queries with their own error, the true risk lies in about 95%."""
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        rate = random.beta(2, 6, size=20)
        right = random.uniform(size=(20, 15)) > rate[:, None]
        sure = random.uniform(0.5, 1, size=300)
        found = figures_of(sure, right.ravel(), np.repeat(np.arange(20), 15))["risk_1.0"]
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.25 <= found.high
    assert 180 <= covered <= 198


def test_every_figure_is_there_and_weights_count() -> None:
    sure = np.tile([0.6, 0.9], 10)
    right = np.tile([False, True], 10)
    queries = np.repeat(np.arange(10), 2)
    plain = figures_of(sure, right, queries)
    weighted = figures_of(sure, right, queries, weights=np.tile([3.0, 1.0], 10))
    assert plain["risk_1.0"].value == pytest.approx(0.5)
    assert weighted["risk_1.0"].value == pytest.approx(0.75)
    assert plain["auc_wrong"].value == 1.0
    assert {f"risk_{share}" for share in COVERAGES} < plain.keys()
