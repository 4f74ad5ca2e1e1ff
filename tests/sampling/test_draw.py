"""Samples through the store: frames, draws with probabilities, phases, what reviewers see."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.item_scores import ItemScores, add_scores
from labeler.assessment.reading import blocks_of
from labeler.calibration.policies import UNCALIBRATED, Policy
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.evaluation.sample_estimates import Estimand
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade, Outcome
from labeler.queue.claims import claim
from labeler.queue.route import route_pool
from labeler.queue.sampled import ask_for_sample
from labeler.records import table
from labeler.records.queue import Assignment
from labeler.records.sampling import Draw, Stratum
from labeler.records.scales import AssessorKind
from labeler.records.scores import Calibration
from labeler.sampling.draw import continue_sample, draw_sample
from labeler.sampling.outside import draw_outside
from labeler.sampling.plan import SampleOptions, plan_sample
from labeler.sampling.population import Comparison
from labeler.sampling.stored import read_sample
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.small import HandJudge, judge, pooled
from tests.voting import vote_on_all

BOTH = Comparison("p", ("lexical", "dense"), 3)


def drawn_of(store: Store, name: str) -> dict[int, tuple[int, ...]]:
    """Give what was drawn by phase."""
    with store.read() as connection:
        sample = read_sample(connection, name)
    return {
        phase: tuple(item for one in sample.strata for item in one.drawn.get(phase, ()))
        for phase in sample.phases
    }


def waiting(store: Store) -> dict[int, str]:
    """Give the items that a vote is wanted of, with what it is for."""
    one = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(one.c.item_id, one.c.purpose).where(one.c.state == "waiting")
        )
        return {int(item): str(purpose) for item, purpose in rows}


def in_order(store: Store) -> list[int]:
    """Give the items that wait, in the order of the queue."""
    one = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(sa.select(one.c.item_id).order_by(one.c.priority, one.c.id))
        return [int(item) for (item,) in rows]


def test_a_draw_is_stored_with_its_probabilities_and_waits_for_people(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    report, plan = draw_sample(store, "s", SampleOptions(BOTH, votes=7), ask_for_sample)
    assert (report.drawn, plan.votes, len(plan.population.units)) == (7, 7, 11)
    draw, stratum = table(Draw), table(Stratum)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(
                draw.c.item_id, draw.c.probability, stratum.c.size, stratum.c.sample_size
            ).join(stratum, stratum.c.id == draw.c.stratum_id)
        ).all()
    assert len(rows) == 7
    assert all(row.probability == row.sample_size / row.size for row in rows)
    assert waiting(store) == dict.fromkeys(drawn_of(store, "s")[1], "audit")


def test_the_same_seed_draws_the_same_and_another_one_something_else(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    for name, seed in (("s", "1"), ("again", "1"), ("other", "2")):
        draw_sample(store, name, SampleOptions(BOTH, votes=5, seed=seed), ask_for_sample)
    assert drawn_of(store, "s") == drawn_of(store, "again")
    assert drawn_of(store, "s") != drawn_of(store, "other")
    with pytest.raises(ConflictError, match="sample 's'"):
        draw_sample(store, "s", SampleOptions(BOTH, votes=5), ask_for_sample)


def test_two_phases_are_what_one_draw_would_have_been(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    draw_sample(store, "whole", SampleOptions(BOTH, votes=11, seed="1"), ask_for_sample)
    draw_sample(store, "parts", SampleOptions(BOTH, votes=9, seed="1"), ask_for_sample)
    report = continue_sample(store, "parts", 1, ask_for_sample)
    assert (report.phase, report.drawn) == (2, 1)
    continue_sample(store, "parts", 5, ask_for_sample)
    phases = drawn_of(store, "parts")
    assert [len(phases[phase]) for phase in (1, 2, 3)] == [9, 1, 1]
    assert {item for items in phases.values() for item in items} == set(drawn_of(store, "whole")[1])
    with pytest.raises(UsageError, match="drawn already"):
        continue_sample(store, "parts", 1, ask_for_sample)


def test_what_is_drawn_is_asked_for_whatever_a_policy_accepts_and_stays_so(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    assert route_pool(store, "p", UNCALIBRATED).to_people == 0
    before = set(waiting(store))
    draw_sample(store, "s", SampleOptions(BOTH, votes=6), ask_for_sample)
    drawn = set(drawn_of(store, "s")[1])
    assert set(waiting(store)) == before | drawn
    report = route_pool(store, "p", UNCALIBRATED)
    assert (report.new_tasks, report.lifted_tasks) == (0, 0)
    assert set(waiting(store)) == before | drawn
    vote_on_all(store, lambda _: Grade.NOT_RELEVANT)
    route_pool(store, "p", UNCALIBRATED)
    assert waiting(store) == {}


def test_an_item_that_waits_already_is_asked_for_once(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    before = waiting(store)
    assert len(before) == 11
    draw_sample(store, "s", SampleOptions(BOTH, votes=6), ask_for_sample)
    assert waiting(store) == before


def test_drawn_items_come_first_and_among_others(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    draw_sample(store, "s", SampleOptions(BOTH, votes=3), ask_for_sample)
    drawn = set(drawn_of(store, "s")[1])
    for again in (False, True):
        if again:
            route_pool(store, "p", UNCALIBRATED, order="random")
        places = [item in drawn for item in in_order(store)]
        assert sum(places[:6]) == 3 < len(places)
        assert not all(places[:3])


def test_labelled_items_are_known_and_not_drawn(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    done = vote_on_all(
        store,
        lambda item: None if "c08" in item.passage else Grade.FULLY_RELEVANT,
        most=11,
    )
    assert len(done) == 11
    with store.read() as connection, pytest.raises(NotFoundError, match="nothing that people"):
        plan_sample(connection, SampleOptions(BOTH))


def test_scores_make_strata_and_shares(store: Store, own_folder: Path) -> None:
    import numpy as np

    pooled(store, own_folder)
    with store.read() as connection:
        plan = plan_sample(connection, SampleOptions(BOTH, votes=11))
    items = sorted(unit.item_id for unit in plan.population.units)
    chances = np.linspace(0.05, 0.95, len(items))
    table_of = np.column_stack([1 - chances, chances / 2, chances / 2])
    scores = ItemScores("m", Calibration.CALIBRATED, "{}", 200, 3, np.array(items), table_of)
    with store.write("calibrate") as tx:
        add_scores(tx, plan.population.pool_id, scores)
    with store.read() as connection:
        scored = plan_sample(connection, SampleOptions(BOTH, votes=11))
        fully = plan_sample(
            connection,
            SampleOptions(Comparison("p", BOTH.runs, 3, Grade.FULLY_RELEVANT), votes=11),
        )
    assert scored.population.score_version == scores.digest
    assert "calibrated" in scored.rates_from
    mean = sum(one.rate * len(one.items) for one in scored.strata) / len(items)
    assert mean == pytest.approx(chances.mean())
    half = sum(one.rate * len(one.items) for one in fully.strata) / len(items)
    assert half == pytest.approx(chances.mean() / 2)
    assert fully.digest != scored.digest != plan.digest


def test_a_target_decides_the_votes(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    with store.read() as connection:
        wide = plan_sample(connection, SampleOptions(BOTH, target_width=0.6))
        narrow = plan_sample(connection, SampleOptions(BOTH, target_width=0.05))
    assert wide.votes < narrow.votes <= 11
    expected = {(one.measure, one.second): one.width for one in narrow.expected}
    assert expected[Estimand.RECALL_DIFFERENCE, "dense"] <= 0.05
    with store.read() as connection, pytest.raises(UsageError, match="above 0"):
        plan_sample(connection, SampleOptions(BOTH, target_width=0.0))


@pytest.mark.parametrize(
    ("comparison", "error", "words"),
    [
        (Comparison("nothing", (), 3), NotFoundError, "no pool"),
        (Comparison("p", ("lexical", "bm42"), 3), NotFoundError, "no run is called 'bm42'"),
        (Comparison("p", ("lexical", "dense"), 4), UsageError, "top 3 of 'lexical'"),
        (Comparison("p", ("dense", "dense"), 3), UsageError, "different runs"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    store: Store, own_folder: Path, comparison: Comparison, error: type[Exception], words: str
) -> None:
    pooled(store, own_folder)
    with store.read() as connection, pytest.raises(error, match=words):
        plan_sample(connection, SampleOptions(comparison))


def test_a_run_that_is_there_but_not_pooled_says_which_pool_it_takes(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    Path("late.run").write_text("q1 Q0 d1 1 1.0 late\n", encoding="utf-8")
    import_runs(store, [Path("late.run")], RunOptions())
    with store.read() as connection, pytest.raises(NotFoundError, match="not made from") as raised:
        plan_sample(connection, SampleOptions(Comparison("p", ("lexical", "late"), 3)))
    assert "pool create NAME --runs late --extends p" in str(raised.value.hint)


def test_pairs_outside_the_pool_are_items_of_no_pool(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    options = SampleOptions(BOTH, votes=8)
    report = draw_outside(store, "out", options, {}, ask_for_sample)
    # 3 queries and 11 evidences with a text; 11 such pairs are in the pool.
    assert report.strata == (("the whole corpus", 22, 8, 0),)
    drawn = drawn_of(store, "out")[1]
    assert set(waiting(store)) == set(drawn)
    with store.read() as connection:
        inside = {unit.item_id for unit in plan_sample(connection, options).population.units}
    assert not inside & set(drawn)
    with pytest.raises(UsageError, match="22 pairs"):
        draw_outside(store, "more", SampleOptions(BOTH, votes=23), {}, ask_for_sample)
    with pytest.raises(UsageError, match="at once"):
        continue_sample(store, "out", 2, ask_for_sample)


def test_sources_are_strata(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    options = SampleOptions(BOTH, votes=5)
    report = draw_outside(store, "out", options, {"domain": ["support"]}, ask_for_sample)
    assert report.strata == (("domain support", 22, 5, 0),)
    with pytest.raises(NotFoundError, match="domain sales"):
        draw_outside(store, "x", options, {"domain": ["sales"]}, ask_for_sample)
    with pytest.raises(UsageError, match="not 'colour'"):
        draw_outside(store, "x", options, {"colour": ["red"]}, ask_for_sample)
    with pytest.raises(UsageError, match="one field"):
        draw_outside(store, "x", options, {"domain": ["a"], "region": ["EU"]}, ask_for_sample)


def test_a_drawn_item_stands_among_the_others_and_shows_nothing_of_the_draw(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    # The judge gives up on some passages, so that these wait for another reason.
    answers = dict.fromkeys(("c01", "c02", "c09", "c10", "c11"), (Outcome.ABSTAINED, 0.0))
    judge(store, HandJudge(answers))
    route_pool(store, "p", Policy("small-target", 0.95, target=0.5, confidence=0.9))
    before = set(waiting(store))
    draw_sample(store, "s", SampleOptions(BOTH, votes=11), ask_for_sample)
    drawn = set(drawn_of(store, "s")[1])
    with store.write("review start", actor="ada") as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, "ada")
    order = [held.item_id for held in claim(store, reviewer, 100)]
    assert set(order) == before | drawn
    added = [place for place, item in enumerate(order) if item not in before]
    others = [place for place, item in enumerate(order) if item in before]
    assert min(added) < max(others)
    with store.read() as connection:
        blocks = blocks_of(connection, order, seed="")
    shown = [asdict(item) for block in blocks for item in block.items]
    assert len({tuple(sorted(one)) for one in shown}) == 1
    assert all("sample" not in repr(list(one.values())) for one in shown)
