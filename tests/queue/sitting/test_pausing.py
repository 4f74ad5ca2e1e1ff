"""A pause: no time counts, no lease is renewed, no key labels; then the item is painted afresh."""

from __future__ import annotations

from labeler.assessment.blind import BlindItem, BlindQuery, Block
from labeler.assessment.rubric import default_rubric
from labeler.queue.claims import Claim
from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.machine import RENEW_EVERY, Sitting
from labeler.queue.sitting.orders import Fetched, Renew, Shown, Vote
from labeler.records.queue import VotePurpose


def begun(minutes: float | None = None) -> tuple[Sitting, Shown]:
    """Begin a sitting that holds two items, the first painted at second 100."""
    sitting = Sitting(minutes=minutes)
    sitting.begin()
    sitting.take_orders()
    items = []
    for number in (1, 2):
        block = Block(BlindQuery("q"), (BlindItem(number, "passage"),), default_rubric())
        items.append(Shown(Claim(number, number, number, VotePurpose.PRIMARY), block))
    sitting.answered(Fetched(tuple(items)))
    sitting.pressed(Press("j", 99.0))
    sitting.painted(items[0], 100.0)
    return sitting, items[0]


def press(sitting: Sitting, key: str, at: float) -> None:
    sitting.pressed(Press(key, at))
    if key == "p":
        sitting.pause_or_resume()


def test_the_time_of_a_pause_is_no_time_on_the_item() -> None:
    sitting, shown = begun()
    press(sitting, "p", 104.0)
    phases = [sitting.phase]
    press(sitting, "p", 1104.0)
    assert [*phases, sitting.phase] == [Phase.PAUSED, Phase.JUDGING]
    sitting.painted(shown, 1104.1)
    press(sitting, "a", 1106.0)
    assert sitting.choose(1)
    [vote] = [order for order in sitting.take_orders() if isinstance(order, Vote)]
    assert vote.dwell_ms == 6000


def test_what_is_painted_in_a_pause_is_not_in_sight() -> None:
    sitting, shown = begun()
    press(sitting, "p", 104.0)
    sitting.painted(shown, 105.0)
    press(sitting, "a", 106.0)
    assert not sitting.choose(1)
    press(sitting, "p", 107.0)
    press(sitting, "a", 107.5)
    assert not sitting.choose(1)
    assert "wasn't on the screen" in sitting.notice


def test_no_key_renews_leases_in_a_pause_and_its_end_does() -> None:
    sitting, _ = begun()
    sitting.take_orders()
    press(sitting, "p", 104.0)
    press(sitting, "j", 104.0 + 2 * RENEW_EVERY)
    press(sitting, "k", 105.0 + 4 * RENEW_EVERY)
    assert not any(isinstance(order, Renew) for order in sitting.take_orders())
    press(sitting, "p", 106.0 + 4 * RENEW_EVERY)
    [renewed] = [order for order in sitting.take_orders() if isinstance(order, Renew)]
    assert len(renewed.claims) == 2


def test_the_minutes_of_a_sitting_stand_still() -> None:
    sitting, shown = begun(minutes=1)
    press(sitting, "p", 110.0)
    press(sitting, "p", 710.0)
    sitting.painted(shown, 710.0)
    press(sitting, "a", 720.0)
    assert sitting.choose(1)
    assert sitting.phase is Phase.JUDGING


def test_a_key_held_down_pauses_once() -> None:
    sitting, _ = begun()
    press(sitting, "p", 104.0)
    press(sitting, "p", 104.05)
    press(sitting, "p", 104.1)
    assert sitting.is_paused


def test_nothing_is_paused_where_nothing_is_shown() -> None:
    sitting = Sitting()
    press(sitting, "p", 100.0)
    assert not sitting.is_paused
