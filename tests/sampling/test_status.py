"""What a sample says: only drawn items count, with the labels that people gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.blind import BlindItem
from labeler.calibration.policies import UNCALIBRATED
from labeler.evaluation.sample_estimates import Estimand, Method
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.queue.sampled import ask_for_sample
from labeler.sampling.draw import continue_sample, draw_sample
from labeler.sampling.outside import draw_outside
from labeler.sampling.plan import SampleOptions
from labeler.sampling.population import Comparison
from labeler.sampling.status import SampleStatus, read_status
from labeler.store.database import Store
from tests.small import pooled
from tests.voting import vote_on_all

BOTH = Comparison("p", ("lexical", "dense"), 3)
RELEVANT = ("c01", "c05", "c07", "c10", "c12")


def by_passage(item: BlindItem) -> Grade:
    name = item.passage.split()[1]
    return Grade.FULLY_RELEVANT if name in RELEVANT else Grade.NOT_RELEVANT


def status(store: Store, name: str = "s", *, veto: bool = False) -> SampleStatus:
    with store.read() as connection:
        return read_status(connection, name, veto=veto)


def value(found: SampleStatus, measure: Estimand, first: str) -> float | None:
    return next(
        one.found.value
        for one in found.estimates
        if one.found.estimand is measure and one.first == first
    )


def test_a_whole_frame_answered_gives_the_numbers_themselves(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    draw_sample(store, "s", SampleOptions(BOTH, votes=11), ask_for_sample)
    before = status(store)
    assert (before.facts.waiting, before.facts.labelled, before.is_complete) == (11, 0, False)
    vote_on_all(store, by_passage)
    found = status(store)
    assert found.is_complete
    total = sum(one.relevant for one in found.strata)
    lexical = sum(one.relevant for one in found.strata if "lexical" in one.name)
    dense = sum(one.relevant for one in found.strata if "dense" in one.name)
    assert total > 0
    assert value(found, Estimand.RECALL, "lexical") == pytest.approx(lexical / total)
    assert value(found, Estimand.PRECISION, "dense") == pytest.approx(dense / 9)
    for one in found.estimates:
        assert one.found.interval.width == pytest.approx(0.0)
        assert one.found.bounds == one.found.interval


def test_what_was_labelled_before_the_draw_is_known(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    first = vote_on_all(store, by_passage, most=5)
    draw_sample(store, "s", SampleOptions(BOTH, votes=3), ask_for_sample)
    found = status(store)
    assert (found.known, found.facts.size) == (5, 6)
    vote_on_all(store, by_passage)
    after = status(store)
    # The queue's votes on what wasn't drawn tell nothing of the frame.
    assert (after.known, after.facts.labelled, after.facts.size) == (5, 3, 6)
    assert len(first) == 5


def test_abstentions_are_counted_apart_and_bounded(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    draw_sample(store, "s", SampleOptions(BOTH, votes=11), ask_for_sample)
    vote_on_all(store, lambda item: None if "c08" in item.passage else by_passage(item))
    found = status(store)
    assert (found.facts.abstained, found.facts.labelled) == (1, 10)
    recall = next(one.found for one in found.estimates if one.found.estimand is Estimand.RECALL)
    assert recall.bounds.low <= recall.interval.low
    assert recall.bounds.high >= recall.interval.high
    assert recall.bounds.width > 0


def test_a_later_phase_is_sequential_only_when_answers_were_in(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    draw_sample(store, "s", SampleOptions(BOTH, votes=4), ask_for_sample)
    continue_sample(store, "s", 2, ask_for_sample)
    assert not status(store).is_sequential
    vote_on_all(store, by_passage)
    continue_sample(store, "s", 2, ask_for_sample)
    found = status(store)
    assert found.is_sequential
    assert dict(found.phases) == {1: 4, 2: 2, 3: 2}
    assert len(found.first_phase) == len(found.estimates)


def test_an_earlier_revision_is_read_as_it_was(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    report, _ = draw_sample(store, "s", SampleOptions(BOTH, votes=6), ask_for_sample)
    vote_on_all(store, by_passage)
    with store.read() as connection:
        then = read_status(connection, "s", as_of=report.revision)
    assert (then.facts.waiting, status(store).facts.waiting) == (6, 0)


def test_a_veto_gets_exact_limits(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    draw_sample(store, "s", SampleOptions(BOTH, votes=8), ask_for_sample)
    vote_on_all(store, lambda _: Grade.FULLY_RELEVANT)
    assert {one.found.method for one in status(store).estimates} == {Method.POSTERIOR}
    assert {one.found.method for one in status(store, veto=True).estimates} == {Method.EXACT}


def test_only_full_relevance_counts_where_that_was_declared(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    fully = Comparison("p", BOTH.runs, 3, Grade.FULLY_RELEVANT)
    draw_sample(store, "fully", SampleOptions(fully, votes=11), ask_for_sample)
    draw_sample(store, "s", SampleOptions(BOTH, votes=11), ask_for_sample)
    vote_on_all(store, lambda _: Grade.PARTIALLY_RELEVANT)
    assert (status(store, "fully").facts.relevant, status(store).facts.relevant) == (0, 11)


def test_what_all_runs_missed(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    vote_on_all(store, by_passage)
    draw_outside(store, "out", SampleOptions(BOTH, votes=22), {}, ask_for_sample)
    vote_on_all(store, lambda item: Grade.FULLY_RELEVANT)
    found = status(store, "out")
    missed, share = (one.found for one in found.estimates)
    assert (missed.value, missed.interval.low, missed.interval.high) == (22, 22, 22)
    assert share.value == pytest.approx(found.known_relevant / (found.known_relevant + 22))
