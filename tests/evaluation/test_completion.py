from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from labeler.evaluation.completion import Combined, UnlabelledStratum, combine_values, complete


def test_a_stratum_is_filled_in_by_its_share() -> None:
    items = np.arange(10, 410)
    labels = complete([UnlabelledStratum(items, 50, 10)], 420, seed=1, count=2000)
    share = labels[:, items].mean(axis=1)
    expected = stats.beta(10 + 1 / 3, 40 + 1 / 3)
    assert share.mean() == pytest.approx(expected.mean(), abs=0.005)
    assert share.std() == pytest.approx(
        np.sqrt(expected.var() + expected.mean() * (1 - expected.mean()) / 400), rel=0.1
    )
    assert not labels[:, :10].any()


def test_probabilities_tilt_the_draws_and_leave_the_share() -> None:
    p = np.repeat([0.05, 0.6], [300, 100])
    stratum = UnlabelledStratum(np.arange(400), 100, 40, p)
    labels = complete([stratum], 400, seed=1, count=1000)
    assert labels.mean() == pytest.approx(40.33 / 100.67, abs=0.01)
    assert labels[:, 300:].mean() > 3 * labels[:, :300].mean()


def _combined(labels: np.ndarray, clusters: np.ndarray) -> Combined:
    return combine_values([_per_query(one) for one in labels], clusters)


def _label_share(found: Combined) -> float:
    return found.label_variance / (found.query_variance + found.label_variance)


def _per_query(labels: np.ndarray) -> np.ndarray:
    return np.asarray(labels.reshape(30, 10).mean(axis=1))


def test_known_labels_leave_the_uncertainty_of_queries_alone() -> None:
    rng = np.random.default_rng(3)
    known = np.repeat((rng.random((1, 300)) < 0.3), 100, axis=0)
    found = _combined(known, np.arange(30))
    values = _per_query(known[0])
    expected = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    interval = found.interval()
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(expected)
    assert _label_share(found) == pytest.approx(0.0, abs=1e-12)


def test_unknown_labels_widen_the_interval() -> None:
    items = np.arange(300)
    few = complete([UnlabelledStratum(items, 10, 3)], 300, seed=1, count=200)
    many = complete([UnlabelledStratum(items, 1000, 300)], 300, seed=1, count=200)
    wide = _combined(few, np.arange(30))
    narrow = _combined(many, np.arange(30))
    assert wide.error > 2 * narrow.error
    assert _label_share(wide) > 0.8 > _label_share(narrow)
    assert wide.query_variance + wide.label_variance == pytest.approx(wide.error**2)


def test_too_few_clusters_have_no_interval_and_too_few_sets_are_refused() -> None:
    labels = np.zeros((100, 300), dtype=np.bool_)
    assert _combined(labels, np.arange(30) // 5).interval() is None
    with pytest.raises(ValueError, match="100 completed"):
        _combined(labels[:99], np.arange(30))
