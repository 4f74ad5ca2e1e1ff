"""What the draws of an audit say: shares, prevalence and recall, from drawn items alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labeler.calibration.policies import NINE_OF_TEN, Policy
from labeler.cli.app import run
from labeler.draws.audit_frames import read_frames
from labeler.errors import NotFoundError
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.records.queue import VotePurpose
from labeler.reports.audit import AuditReport, report_audit
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.scored import judged_pool, score, vote, wanted_votes
from tests.small import HandJudge, judge, pooled

FULLY, NOT = Grade.FULLY_RELEVANT, Grade.NOT_RELEVANT


def falling(place: int) -> float:
    """Fall from nearly sure to doubtful over 400 items."""
    return 0.999 - 0.3 * (place / 400) ** 6


def truth(item: int) -> Grade:
    """Say what people would: every twentieth item is relevant."""
    return FULLY if item % 20 == 0 else NOT


def drawn(store: Store) -> list[int]:
    return [item for item, why in wanted_votes(store).items() if why == VotePurpose.AUDIT.value]


def report(store: Store, *, as_of: int | None = None, cutoff: int = 20) -> AuditReport:
    with store.read() as connection:
        return report_audit(connection, ScopeOptions(pool="p", as_of=as_of), cutoff=cutoff)


@pytest.fixture
def routed(sqlite_store: Store, own_folder: Path) -> list[int]:
    """400 items, all of which the scores call not relevant, with an audit drawn."""
    items = judged_pool(sqlite_store, own_folder)
    score(sqlite_store, items, falling)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    return items


def test_it_refuses_and_says_what_to_do_where_nothing_was_drawn_or_answered(
    sqlite_store: Store, own_folder: Path
) -> None:
    items = judged_pool(sqlite_store, own_folder)
    with pytest.raises(NotFoundError, match="no audit was drawn") as caught:
        report(sqlite_store)
    assert "labeler route p" in (caught.value.hint or "")
    score(sqlite_store, items, falling)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    queue = sorted(set(items) - set(drawn(sqlite_store)))
    vote(sqlite_store, queue[:30], truth)
    with pytest.raises(NotFoundError, match="drawn items has been judged") as caught:
        report(sqlite_store)
    assert "labeler review --pool p" in (caught.value.hint or "")


def test_draws_alone_make_the_figures_and_votes_of_the_queue_are_counted(
    sqlite_store: Store, routed: list[int]
) -> None:
    asked = drawn(sqlite_store)
    vote(sqlite_store, asked, truth)
    before = report(sqlite_store)
    assert before.sample.labelled == len(asked)
    assert before.sample.relevant == sum(truth(item) is FULLY for item in asked)
    # The queue's votes are all wrong, and move nothing but their count.
    queue = sorted(set(routed) - set(asked))[:60]
    vote(sqlite_store, queue, lambda _: FULLY)
    after = report(sqlite_store)
    assert after.ledgers.queue == 60
    assert after.others == before.others
    assert after.figures == before.figures
    assert (after.known, after.outside) == (0, 0)


def test_each_answer_weighs_what_its_stratum_gives_it(
    sqlite_store: Store, routed: list[int]
) -> None:
    vote(sqlite_store, drawn(sqlite_store), truth)
    with sqlite_store.read() as connection:
        (frame,) = read_frames(connection, 1, NINE_OF_TEN.digest)
    right = sum(
        len(one.items) * sum(truth(item) is NOT for item in one.drawn()) / len(one.drawn())
        for one in frame.strata
    )
    (row,) = report(sqlite_store).others
    assert row.share == pytest.approx(right / 400)
    assert row.interval is not None
    assert row.interval.low < right / 400 < row.interval.high
    figures = {figure.name: figure for figure in report(sqlite_store).figures}
    prevalence = figures["prevalence (estimated)"]
    assert prevalence.value == pytest.approx(1 - right / 400)
    assert prevalence.interval.low <= 0.05 <= prevalence.interval.high


def test_accepted_labels_stand_apart_from_the_others(
    sqlite_store: Store, routed: list[int]
) -> None:
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    accepted = sum(route_pool(sqlite_store, "p", NINE_OF_TEN).accepted.values())
    found = report(sqlite_store)
    (row,) = found.accepted
    assert row.accepted == accepted > 0
    assert (row.agreed, row.share) == (row.answered, 1.0)
    assert row.interval is not None
    assert 0.9 < row.interval.low < 1 == row.interval.high
    assert row.labels + sum(other.labels for other in found.others) == 400
    assert any("the guarantee is the policy's" in notice for notice in found.notices)


def test_who_cannot_judge_agrees_with_no_label_and_is_no_label(
    sqlite_store: Store, routed: list[int]
) -> None:
    asked = drawn(sqlite_store)
    vote(sqlite_store, asked, lambda item: None if item == asked[0] else NOT)
    found = report(sqlite_store)
    (row,) = found.others
    assert (row.abstained, row.agreed) == (1, len(asked) - 1)
    assert row.share is not None
    assert row.share < 1
    assert (found.sample.labelled, found.sample.abstained) == (len(asked) - 1, 1)
    relevant = found.figures[0]
    assert relevant.bounds.high > relevant.interval.high


def test_an_earlier_revision_knows_only_what_was_answered_then(
    sqlite_store: Store, routed: list[int]
) -> None:
    asked = sorted(drawn(sqlite_store))
    vote(sqlite_store, asked[:20], truth)
    then = report(sqlite_store)
    vote(sqlite_store, asked[20:], truth)
    now = report(sqlite_store)
    assert then.sample.waiting == len(asked) - 20
    assert any("wait for people" in notice for notice in then.notices)
    assert report(sqlite_store, as_of=then.conditions.revision) == then
    assert now != then


def test_recall_of_a_run_is_of_its_first_places_in_the_frame(
    sqlite_store: Store, routed: list[int]
) -> None:
    vote(sqlite_store, drawn(sqlite_store), truth)
    (shallow,) = [row for row in report(sqlite_store, cutoff=20).figures if row.run is not None]
    (whole,) = [row for row in report(sqlite_store, cutoff=100).figures if row.run is not None]
    assert (shallow.name, shallow.run) == ("pooled_recall@20 (estimated)", "one")
    # The only run of the pool has all of it in its first hundred places.
    assert whole.value == 1.0
    top = {item for item in routed if (item - routed[0]) % 100 < 20}
    true = sum(truth(item) is FULLY for item in top) / 20
    assert shallow.interval.low <= true <= shallow.interval.high
    assert shallow.value is not None
    assert 0 < shallow.value < 1


def test_what_was_judged_before_the_draw_is_known(sqlite_store: Store, own_folder: Path) -> None:
    items = judged_pool(sqlite_store, own_folder)
    plain = Policy("never", 1.0)
    route_pool(sqlite_store, "p", plain)
    vote(sqlite_store, items[:40], truth)
    score(sqlite_store, items, falling)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    found = report(sqlite_store)
    assert found.known == 40
    relevant = found.figures[0]
    assert relevant.known_relevant == 2
    assert relevant.value == pytest.approx(2.0)
    assert relevant.interval.low >= 2


def test_the_audit_of_a_plain_policy_speaks_of_all_its_frames(
    sqlite_store: Store, own_folder: Path
) -> None:
    policy = Policy("small-target", 0.95, target=0.5, confidence=0.9)
    pooled(sqlite_store, own_folder)
    judge(sqlite_store, HandJudge({"c03": (FULLY, 0.6)}))
    route_pool(sqlite_store, "p", policy)
    judge(sqlite_store, HandJudge(version="2"))
    route_pool(sqlite_store, "p", policy)
    asked = drawn(sqlite_store)
    vote(sqlite_store, asked, lambda _: NOT)
    found = report(sqlite_store)
    assert (
        sum(row.labels for row in found.accepted)
        + sum(row.labels for row in found.others)
        + found.known
        == 11
    )
    assert found.prior.startswith("neutral")


def test_every_item_drawn_and_judged_leaves_nothing_open(
    sqlite_store: Store, own_folder: Path
) -> None:
    pooled(sqlite_store, own_folder)
    judge(sqlite_store, HandJudge())
    route_pool(sqlite_store, "p", Policy("all", 0.95))
    vote(sqlite_store, drawn(sqlite_store), lambda item: FULLY if item % 3 == 0 else NOT)
    found = report(sqlite_store)
    true = sum(item % 3 == 0 for item in range(1, 12))
    relevant = found.figures[0]
    assert relevant.value == relevant.interval.low == relevant.interval.high == true


def test_the_command_prints_both_ledgers_and_json(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        items = judged_pool(store, own_folder)
    assert run(["report", "audit", "p"]) == 1
    assert "labeler route p" in capsys.readouterr().err
    with open_store(Location(str(own_folder / "queue.db"))) as store:
        score(store, items, falling)
        route_pool(store, "p", NINE_OF_TEN)
        asked = drawn(store)
        vote(store, asked, lambda _: NOT)
        vote(store, sorted(set(items) - set(asked))[:3], lambda _: NOT)
        route_pool(store, "p", NINE_OF_TEN)
    capsys.readouterr()
    assert run(["report", "audit", "p"]) == 0
    told = capsys.readouterr().out
    assert f"labels of random draws  {len(asked)} of {len(asked)} drawn" in told
    assert "3, which no rate is computed from" in told
    assert "pooled_recall@20 (estimated)" in told
    assert run(["report", "audit", "p", "--k", "10", "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert content["ledgers"] == {
        "drawn": len(asked),
        "drawn_answered": len(asked),
        "queue": 3,
        "disputed": 0,
    }
    assert content["accepted"][0]["share"] == 1.0
    assert run(["report", "audit", "p", "--html", "audit.html"]) == 0
    assert "not_relevant, " in (own_folder / "audit.html").read_text(encoding="utf-8")
    assert run(["report", "trend", "--metric", "pooled_recall@20 (estimated)[drawn]"]) == 0
    assert "report audit" in capsys.readouterr().out
    assert run(["report", "audit", "p", "--k", "0"]) == 2
