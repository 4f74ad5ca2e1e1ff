"""What is held ahead, when votes come faster than the database answers."""

from __future__ import annotations

from labeler.assessment.blind import BlindItem, BlindQuery, Block
from labeler.assessment.rubric import default_rubric
from labeler.queue.claims import Claim
from labeler.queue.sitting.held import AHEAD, HeldItems
from labeler.queue.sitting.orders import Fetch, Fetched, Shown
from labeler.records.queue import VotePurpose


def fetched(*numbers: int) -> Fetched:
    rubric = default_rubric()
    return Fetched(
        tuple(
            Shown(
                Claim(number, number, number, VotePurpose.PRIMARY),
                Block(BlindQuery("q"), (BlindItem(number, f"passage {number}"),), rubric),
            )
            for number in numbers
        )
    )


def asked(held: HeldItems) -> int:
    """Tell how many items are asked for now."""
    fetch = held.next_fetch()
    assert isinstance(fetch, Fetch)
    return fetch.count


def test_an_answer_that_comes_late_is_no_end_of_the_queue() -> None:
    held = HeldItems()
    assert asked(held) == AHEAD
    held.add(fetched(1, 2, 3))
    held.drop_first()
    assert asked(held) == 1
    held.drop_first()
    # What comes now is what was asked for when two were held.
    held.add(fetched(4))
    assert asked(held) == 1


def test_fewer_items_than_were_asked_for_end_the_looking_ahead() -> None:
    held = HeldItems()
    assert asked(held) == AHEAD
    held.add(fetched(1, 2))
    assert held.next_fetch() is None
    held.drop_first()
    assert held.next_fetch() is None
    held.drop_first()
    assert asked(held) == AHEAD
