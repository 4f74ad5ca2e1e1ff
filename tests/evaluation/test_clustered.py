from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from labeler.evaluation.clustered import clustered_mean


def test_with_one_query_a_cluster_it_is_the_t_interval() -> None:
    values = np.random.default_rng(1).normal(size=20)
    found = clustered_mean(values, np.arange(20))
    expected = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    assert found.interval() == pytest.approx(expected)


def test_copies_of_a_query_in_one_cluster_add_no_certainty() -> None:
    values = np.random.default_rng(1).normal(size=12)
    alone = clustered_mean(values, np.arange(12))
    copied = clustered_mean(np.repeat(values, 5), np.repeat(np.arange(12), 5))
    assert copied.value == pytest.approx(alone.value)
    assert copied.error == pytest.approx(alone.error)
    assert copied.clusters == 12


def test_weights_count_as_copies_do() -> None:
    values = np.array([1.0, 0.0, 0.5, 0.2])
    clusters = np.array([7, 7, 3, 1])
    weighted = clustered_mean(values, clusters, np.array([2.0, 1.0, 3.0, 1.0]))
    copied = clustered_mean(np.repeat(values, [2, 1, 3, 1]), np.repeat(clusters, [2, 1, 3, 1]))
    assert (weighted.value, weighted.error) == pytest.approx((copied.value, copied.error))


def test_too_few_clusters_have_no_interval() -> None:
    assert clustered_mean(np.arange(7.0), np.arange(7)).interval() is None
    one = clustered_mean(np.arange(7.0), np.zeros(7, dtype=np.int64))
    assert (one.error, one.interval()) == (None, None)


def test_no_queries_have_no_mean() -> None:
    with pytest.raises(ValueError, match="queries"):
        clustered_mean(np.array([]), np.array([], dtype=np.int64))
