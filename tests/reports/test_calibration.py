"""Calibration against people's votes: which labels count, and what the figures are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labeler.assessment.item_scores import ItemScores, latest_scores
from labeler.calibration.calibrate import calibrate_pool
from labeler.calibration.policies import NINE_OF_TEN, UNCALIBRATED
from labeler.errors import NotFoundError, UsageError
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.reports.calibration import CalibrationFigures, LabelSource, Of, report_calibration
from labeler.store.database import Store
from tests.calibrated import TopicJudge, by_query, topic_pool
from tests.scored import vote, wanted_votes


def report(
    store: Store,
    source: LabelSource = LabelSource.DRAWN,
    of: Of = Of.GRADE,
    as_of: int | None = None,
) -> CalibrationFigures:
    with store.read() as connection:
        return report_calibration(connection, "p", source=source, of=of, as_of=as_of)


@pytest.fixture
def grades(sqlite_store: Store, own_folder: Path) -> dict[int, Grade]:
    """A pool of ten queries with one judge; people have voted on half of each."""
    found = topic_pool(sqlite_store, own_folder, [TopicJudge("one", 75)])
    route_pool(sqlite_store, "p", UNCALIBRATED)
    half = [item for items in by_query(found) for item in items[:12]]
    vote(sqlite_store, half, lambda item: found[item])
    calibrate_pool(sqlite_store, "p")
    return found


def test_votes_of_the_queue_make_no_rate(sqlite_store: Store, grades: dict[int, Grade]) -> None:
    with pytest.raises(
        UsageError, match=r"of the 120 labels .* none is of an item drawn"
    ) as caught:
        report(sqlite_store)
    assert caught.value.hint is not None
    assert "--labels all" in caught.value.hint
    described = report(sqlite_store, LabelSource.ALL)
    assert not described.is_sample
    assert described.frame == "the 120 labelled items of pool p, which are no sample of it"
    assert (described.labels, described.labels_of_queue, described.queries) == (120, 0, 10)


def test_drawn_items_speak_for_what_they_were_drawn_from(
    sqlite_store: Store, grades: dict[int, Grade]
) -> None:
    routed = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert routed.policy == "nine-of-ten"
    drawn = [item for item, why in wanted_votes(sqlite_store).items() if why == "audit"]
    assert drawn
    vote(sqlite_store, drawn, lambda item: grades[item])
    found = report(sqlite_store)
    assert found.is_sample
    assert found.labels == len(drawn)
    assert found.labels_of_queue == 120
    assert f"by {len(drawn)} that were drawn at random and judged" in found.frame


def test_a_pool_labelled_as_a_whole_is_no_sample_of_itself(
    sqlite_store: Store, grades: dict[int, Grade]
) -> None:
    rest = [item for items in by_query(grades) for item in items[12:]]
    vote(sqlite_store, rest, lambda item: grades[item])
    found = report(sqlite_store)
    assert (found.is_sample, found.labels, found.labels_of_queue) == (True, 240, 0)
    assert found.frame == "all 240 items of pool p"


def test_figures_are_those_of_the_stored_scores(
    sqlite_store: Store, grades: dict[int, Grade]
) -> None:
    found = report(sqlite_store, LabelSource.ALL, Of.RELEVANCE)
    with sqlite_store.read() as connection:
        scores = latest_scores(connection, 1)
    assert isinstance(scores, ItemScores)
    labelled = {item for items in by_query(grades) for item in items[:12]}
    rows = [place for place, item in enumerate(scores.item_ids.tolist()) if item in labelled]
    relevant = 1 - scores.probabilities[rows, 0]
    truth = np.array([grades[int(scores.item_ids[row])] is not Grade.NOT_RELEVANT for row in rows])
    sure = np.maximum(relevant, 1 - relevant)
    right = (relevant > 0.5) == truth
    assert found.brier.value == pytest.approx(np.square(sure - right).mean())
    assert found.risk["100%"].value == pytest.approx(1 - right.mean())
    assert sum(row.count for row in found.reliability) == 120
    assert sum(one.count for one in found.mass_bins) == 120
    shown = sum(row.count * (row.right.value or 0) for row in found.reliability)
    assert shown == pytest.approx(right.sum())
    assert found.error_equal_width.low is not None
    assert list(found.risk) == ["20%", "40%", "60%", "80%", "100%"]


def test_the_state_at_a_revision(sqlite_store: Store, grades: dict[int, Grade]) -> None:
    now = report(sqlite_store, LabelSource.ALL)
    more = by_query(grades)[0][12:]
    vote(sqlite_store, more, lambda item: grades[item])
    calibrate_pool(sqlite_store, "p")
    later = report(sqlite_store, LabelSource.ALL)
    assert later.labels == 132
    assert later.scores != now.scores
    assert report(sqlite_store, LabelSource.ALL, as_of=now.revision) == now
    with pytest.raises(NotFoundError, match="no revision 9999"):
        report(sqlite_store, as_of=9999)
    with pytest.raises(NotFoundError, match="has no scores"):
        report(sqlite_store, as_of=1)


def test_labels_of_a_later_vote_were_not_seen_either(
    sqlite_store: Store, grades: dict[int, Grade]
) -> None:
    """A vote after the fit counts against scores that were frozen before it."""
    before = report(sqlite_store, LabelSource.ALL)
    vote(sqlite_store, [by_query(grades)[0][12]], lambda item: grades[item])
    after = report(sqlite_store, LabelSource.ALL)
    assert after.scores == before.scores
    assert after.labels == before.labels + 1


def test_nothing_to_compare(sqlite_store: Store, own_folder: Path) -> None:
    topic_pool(sqlite_store, own_folder, [TopicJudge("one", 75)], queries=2)
    with pytest.raises(NotFoundError, match="has no scores") as caught:
        report(sqlite_store)
    assert caught.value.hint == "`labeler calibrate p` fits them"
    calibrate_pool(sqlite_store, "p")
    with pytest.raises(NotFoundError, match="people have labelled nothing"):
        report(sqlite_store)
