"""What a sample says of slices, and what it leans on where probabilities are calibrated."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.blind import BlindItem
from labeler.evaluation.estimators import Strength
from labeler.evaluation.sample_estimates import Estimand
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import Grade
from labeler.queue.sampled import ask_for_sample
from labeler.records.scores import Calibration
from labeler.sampling.draw import draw_sample
from labeler.sampling.estimates import NamedEstimate
from labeler.sampling.plan import SampleOptions
from labeler.sampling.population import Comparison
from labeler.sampling.status import SampleStatus, read_status
from labeler.store.database import Store
from tests.scored import judged_pool, score
from tests.small import write_jsonl
from tests.voting import vote_on_all

ONE = Comparison("p", ("one",), 5)
RELEVANT = {0: 6, 1: 3, 2: 12, 3: 9}
"""How many of the first passages of each query are relevant."""


def _is_relevant(query: int, passage: int) -> bool:
    return passage < RELEVANT[query]


def _vote(item: BlindItem) -> Grade:
    query, passage = item.passage.split()[1][1:].split("x")
    relevant = _is_relevant(int(query), int(passage))
    return Grade.FULLY_RELEVANT if relevant else Grade.NOT_RELEVANT


def _filled(store: Store, folder: Path, calibration: Calibration | None = None) -> list[int]:
    items = judged_pool(store, folder, queries=4, passages=20)
    domains: list[dict[str, object]] = [
        {"_id": f"q{query:02d}", "text": f"question number {query}", "domain": name}
        for query, name in enumerate(["billing", "billing", "returns", "returns"])
    ]
    import_queries(store, [write_jsonl(folder / "d.jsonl", domains)], QueryOptions(update=True))
    if calibration is not None:
        score(
            store,
            items,
            lambda place: 0.1 if _is_relevant(place // 20, place % 20) else 0.9,
            calibration=calibration,
        )
    return items


def _status(store: Store) -> SampleStatus:
    with store.read() as connection:
        return read_status(connection, "s")


def _one(estimates: tuple[NamedEstimate, ...], measure: Estimand) -> NamedEstimate:
    return next(one for one in estimates if one.found.estimand is measure)


def test_slices_of_a_wholly_answered_frame_are_the_numbers_themselves(
    store: Store, own_folder: Path
) -> None:
    _filled(store, own_folder)
    draw_sample(store, "s", SampleOptions(ONE, votes=80), ask_for_sample)
    vote_on_all(store, _vote)
    found = {one.name: one for one in _status(store).slices}
    assert set(found) == {"domain:billing", "domain:returns"}
    for name, queries in (("domain:billing", (0, 1)), ("domain:returns", (2, 3))):
        part, relevant = found[name], sum(RELEVANT[query] for query in queries)
        top = sum(min(RELEVANT[query], 5) for query in queries)
        assert (part.queries, part.labelled, part.relevant) == (2, 40, relevant)
        recall = _one(part.estimates, Estimand.RECALL).found
        assert recall.value == pytest.approx(top / relevant)
        assert (recall.interval.low, recall.interval.high) == pytest.approx((top / relevant,) * 2)
        precision = _one(part.estimates, Estimand.PRECISION).found
        assert precision.value == pytest.approx(top / 10)
    assert found["domain:billing"].strength is Strength.WEAK
    assert found["domain:returns"].strength is Strength.SOUND


def test_slices_share_the_draws_and_say_when_they_are_weak(store: Store, own_folder: Path) -> None:
    _filled(store, own_folder)
    draw_sample(store, "s", SampleOptions(ONE, votes=30), ask_for_sample)
    vote_on_all(store, _vote)
    status = _status(store)
    assert sum(one.labelled for one in status.slices) == status.facts.labelled == 30
    assert sum(one.relevant for one in status.slices) == status.facts.relevant
    for one in status.slices:
        assert one.strength is not Strength.SOUND
        for each in one.estimates:
            assert each.found.interval.low <= (each.found.value or 0.0) <= each.found.interval.high


def test_calibrated_scores_narrow_the_interval_and_assist_the_estimate(
    store: Store, own_folder: Path
) -> None:
    _filled(store, own_folder, Calibration.CALIBRATED)
    draw_sample(store, "s", SampleOptions(ONE, votes=40), ask_for_sample)
    vote_on_all(store, _vote)
    status = _status(store)
    assert status.prior.startswith("the scores ")
    recall = _one(status.estimates, Estimand.RECALL)
    truth = 18 / 30
    assert recall.assisted is not None
    assert recall.assisted.value is not None
    assert recall.assisted.error is not None
    assert recall.found.error is not None
    # The probabilities tell nearly all, so that little is left to the draw.
    assert abs(recall.assisted.value - truth) < 0.05
    assert recall.assisted.error < 0.8 * recall.found.error
    assert recall.found.interval.low < truth < recall.found.interval.high


def test_scores_that_are_not_calibrated_are_leaned_on_by_nothing(
    store: Store, own_folder: Path
) -> None:
    _filled(store, own_folder, Calibration.UNCALIBRATED)
    draw_sample(store, "s", SampleOptions(ONE, votes=40), ask_for_sample)
    vote_on_all(store, _vote)
    status = _status(store)
    assert status.prior.startswith("neutral")
    assert all(one.assisted is None for one in status.estimates)
