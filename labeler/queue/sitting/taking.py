"""What a reviewer is given next, hidden repeats among it, and what is left."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.reading import blocks_of
from labeler.queue.claims import Claim, QueueLeft, claim, give_back, queue_left
from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.own_second_look import claim_own_second_look
from labeler.queue.repeating import claim_repeat
from labeler.queue.sitting.orders import Counted, Fetch, Fetched, Shown
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.judgments import Judgment, Occasion
from labeler.records.pools import Item
from labeler.records.queue import Assignment, AssignmentState
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force

__all__ = ["Taking", "shown_item"]

SECOND_LOOKS = 0.1
"""Of so many items one may be a second look at the reviewer's own vote, where nobody else reviews:
few enough that nobody takes the next item for one."""

_ASSIGNMENT, _JUDGMENT = table(Assignment), table(Judgment)
_ITEM, _SNAPSHOT = table(Item), table(Snapshot)
_SNAPSHOT_NAME = (
    sa.select(_SNAPSHOT.c.name)
    .join(_ITEM, _ITEM.c.snapshot_id == _SNAPSHOT.c.id)
    .where(_ITEM.c.id == sa.bindparam("item"))
)


def _chance() -> Callable[[], float]:
    return random.Random().random  # noqa: S311 - which items come back is no secret to keep


@dataclass
class Taking:
    """How one reviewer takes items from the queue.

    Attributes:
        store: The project.
        reviewer_id: The reviewer.
        only: What is taken.
        with_skipped: Take items again that the reviewer skipped before.
        repeats: The share of items that are the reviewer's own ones again, from 0 to 1.
        chance: Gives numbers from 0 up to, but not including, 1.
    """

    store: Store
    reviewer_id: int
    only: QueueFilter = EVERYTHING
    with_skipped: bool = False
    repeats: float = 0.0
    chance: Callable[[], float] = field(default_factory=_chance)

    def fetch(self, order: Fetch) -> Fetched:
        """Hold the next items, or say what is left when there are none."""
        fresh: list[Shown] = []
        put_back: list[Claim] = []
        while len(fresh) < order.count:
            claims = claim(
                self.store,
                self.reviewer_id,
                order.count - len(fresh),
                only=self.only,
                with_skipped=self.with_skipped,
            )
            if not claims:
                break
            with self.store.read() as connection:
                for one in claims:
                    shown = shown_item(connection, one)
                    if shown is None or one.task_id in order.passed_over:
                        put_back.append(one)
                    else:
                        fresh.append(shown)
        fresh = self._with_repeats(fresh, put_back) or self._last_looks(order, put_back)
        if put_back:
            self.give_back(put_back)
        if fresh:
            return Fetched(tuple(fresh))
        left = self.left()
        everywhere = left if self.only == EVERYTHING else queue_left(self.store, self.reviewer_id)
        return Fetched((), left, everywhere.waiting - left.waiting)

    def _with_repeats(self, fresh: list[Shown], put_back: list[Claim]) -> list[Shown]:
        """Put own items in the place of some; what they take the place of waits a little longer."""
        mixed: list[Shown] = []
        for shown in fresh:
            own = self._own()
            if own is None:
                mixed.append(shown)
                continue
            with self.store.read() as connection:
                again = shown_item(connection, own)
            mixed.append(again or shown)
            put_back.append(own if again is None else shown.claim)
        return mixed

    def _last_looks(self, order: Fetch, put_back: list[Claim]) -> list[Shown]:
        """When nothing else is left, look again at one's own: one at a time."""
        own = claim_own_second_look(self.store, self.reviewer_id, self.chance, only=self.only)
        if own is None:
            return []
        with self.store.read() as connection:
            shown = shown_item(connection, own)
        if shown is None or own.task_id in order.passed_over:
            put_back.append(own)
            return []
        return [shown]

    def _own(self) -> Claim | None:
        """Now and then hold an item of the reviewer's own again: a second look, or a repeat."""
        drawn = self.chance()
        if drawn < self.repeats:
            return claim_repeat(self.store, self.reviewer_id, self.chance, only=self.only)
        if drawn >= 1 - SECOND_LOOKS:
            return claim_own_second_look(self.store, self.reviewer_id, self.chance, only=self.only)
        return None

    def give_back(self, claims: list[Claim]) -> None:
        """Let others have items."""
        with self.store.work() as connection:
            give_back(connection, claims, self.reviewer_id)

    def left(self) -> QueueLeft:
        """Count what can be claimed, what was skipped, and what others hold."""
        return queue_left(self.store, self.reviewer_id, self.only)

    def count(self) -> Counted:
        """Count what the reviewer has done, hidden repeats included, and what is open."""
        items = sa.select(sa.func.count(sa.distinct(_JUDGMENT.c.item_id)))
        repeats = sa.select(sa.func.count()).select_from(_JUDGMENT)
        own = [_JUDGMENT.c.assessor_id == self.reviewer_id, judgments_in_force()]
        if self.only != EVERYTHING:
            place = _ASSIGNMENT.alias("place")
            of_item = place.c.item_id == _JUDGMENT.c.item_id
            own.append(sa.exists().where(of_item, *self.only.takes(place)))
        held = sa.select(sa.func.count()).where(
            _ASSIGNMENT.c.assessor_id == self.reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        )
        again = _JUDGMENT.c.occasion == Occasion.REPEAT.value
        with self.store.read() as connection:
            done, repeated, holds = (
                int(connection.execute(statement).scalar_one())
                for statement in (items.where(*own, ~again), repeats.where(*own, again), held)
            )
        return Counted(done + repeated, self.left().waiting + holds)


def shown_item(connection: Connection, held: Claim) -> Shown | None:
    """Read an item as a reviewer sees it, or None when its text was erased."""
    blocks = blocks_of(connection, [held.item_id], seed="")
    if not blocks:
        return None
    found = connection.execute(_SNAPSHOT_NAME, {"item": held.item_id}).scalar_one()
    return Shown(held, blocks[0], str(found))
