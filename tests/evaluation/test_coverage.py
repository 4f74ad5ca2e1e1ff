"""Intervals cover as often as they say: a small form of tests/benchmarks/coverage.py."""

from __future__ import annotations

import pytest

from tests.benchmarks.coverage import SIMULATED, SimulatedFrame, cover_simulated, cover_track
from tests.benchmarks.coverage_of_queries import cover_queries, cover_recall
from tests.benchmarks.coverage_of_slices import cover_slices
from tests.benchmarks.track_frames import Track, TrackSetting
from tests.shared import data_dir


@pytest.mark.parametrize("frame", [SIMULATED[1], SIMULATED[4], SIMULATED[6]], ids=str)
def test_recall_of_a_simulated_frame(frame: SimulatedFrame) -> None:
    for found in cover_simulated(frame, draws=300, seed=1):
        assert found.is_enough, found


def test_recall_and_differences_on_a_real_frame() -> None:
    track = Track.read(data_dir("trec-dl-2019"))
    for found in cover_track(track, TrackSetting("REP_LLAMA", "BM25", 100), draws=200, seed=1):
        assert found.positives > 20
        assert found.is_enough, found


def test_queries_and_labels_together_cover_and_either_alone_does_not() -> None:
    track = Track.read(data_dir("trec-dl-2019"))
    both, queries, labels = cover_queries(track, clusters=15, votes=30, draws=150, seed=1)
    assert both.is_enough, both
    assert max(queries.covered, labels.covered) < both.covered - 0.03


def test_slices_from_the_draws_of_a_whole_frame() -> None:
    track = Track.read(data_dir("trec-dl-2019"))
    setting = TrackSetting("REP_LLAMA", "BM25", 400)
    for found in cover_slices(track, setting, 4, draws=100, seed=1):
        assert found.positives > 20
        assert found.is_enough, found


def test_pooled_recall_covers_and_the_mean_of_recall_over_label_sets_does_not() -> None:
    track = Track.read(data_dir("trec-dl-2019"))
    pooled, difference, mean = cover_recall(track, clusters=30, votes=240, draws=100, seed=1)
    assert pooled.is_enough, pooled
    assert difference.is_enough, difference
    assert mean.covered < 0.8
