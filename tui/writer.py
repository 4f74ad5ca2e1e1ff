"""The one thread that talks to the database, so that the screen never waits for it.

It opens the database, does orders in their order, and answers by messages alone. An order that the
database refuses for now stays first and is tried again: its event has a key, so that it counts
once.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

from textual.message import Message

from labeler.errors import LabelerError, StoreError
from labeler.queue.questions.orders import Decide
from labeler.queue.sitting.orders import Skip, Vote
from tui.messages import Answered, Broke, Finished, Opened, Trouble

__all__ = ["Desk", "JournaledDesk", "Writer"]

_TRY_AGAIN = 0.5
"""Seconds between two tries, on top of the 10 that a try waits for the write lock."""


OrderT = TypeVar("OrderT")
AnswerT = TypeVar("AnswerT")
GivenT_contra = TypeVar("GivenT_contra", contravariant=True)
ToldT_co = TypeVar("ToldT_co", covariant=True)


class Desk(Protocol[GivenT_contra, ToldT_co]):
    """What the writer works at: `labeler.queue.sitting.desk.Desk` with its database, say."""

    def perform(self, order: GivenT_contra) -> ToldT_co:
        """Do what a sitting asks for."""

    def close(self) -> None:
        """Give back what is held, and close the database."""


@runtime_checkable
class JournaledDesk(Protocol[GivenT_contra]):
    """A desk with a journal, for what the database doesn't take for now.

    Attributes:
        told: What was left of earlier sittings, or empty.
    """

    told: str

    def expect(self, order: GivenT_contra) -> None:
        """Take note of what is to be done; an event that takes long is kept in the journal."""

    def kept(self) -> int:
        """Tell how many events are in the journal alone."""

    def give_up(self) -> int:
        """Put everything that isn't in the database into the journal; tell how much can't be."""


class Writer(threading.Thread, Generic[OrderT, AnswerT]):
    """The thread with the database.

    Args:
        open_desk: Opens the database; called in the thread.
        post: Takes messages, from any thread.
        give_way: Seconds for which a vote or a skip waits, so that the next item is painted first:
            two threads that compute at once take turns, and the screen would wait for the database
            after all.
    """

    def __init__(
        self,
        open_desk: Callable[[], Desk[OrderT, AnswerT]],
        post: Callable[[Message], object],
        *,
        give_way: float = 0.0,
    ) -> None:
        super().__init__(name="labeler-writer", daemon=True)
        self._open_desk = open_desk
        self._post = post
        self._give_way = give_way
        self._orders: queue.SimpleQueue[OrderT | None] = queue.SimpleQueue()
        self._abandoned = threading.Event()
        self._journaled: JournaledDesk[OrderT] | None = None

    def give(self, order: OrderT) -> None:
        """Give an order; it is done after those that were given before."""
        if self._journaled is not None:
            self._journaled.expect(order)
        self._orders.put(order)

    def finish(self) -> None:
        """End once everything that was given is done."""
        self._orders.put(None)

    def abandon(self) -> int | None:
        """End soon: what isn't saved goes into the journal, if there is one.

        Returns:
            How many events are lost, since the journal couldn't take them; None without a journal.
        """
        self._abandoned.set()
        self._orders.put(None)
        return None if self._journaled is None else self._journaled.give_up()

    def run(self) -> None:
        """Open the database and do orders until the end."""
        try:
            desk = self._open_desk()
        except Exception as error:  # noqa: BLE001 - handed over: the app ends with it
            self._post(Broke(error))
            return
        if isinstance(desk, JournaledDesk):
            self._journaled = desk
        self._post(Opened("" if self._journaled is None else self._journaled.told))
        try:
            self._work(desk)
            desk.close()
        except Exception as error:  # noqa: BLE001 - handed over: the app ends with it
            self._post(Broke(error))
            return
        self._post(Finished())

    def _work(self, desk: Desk[OrderT, AnswerT]) -> None:
        while (order := self._orders.get()) is not None:
            if self._give_way and isinstance(order, Vote | Skip | Decide):
                self._abandoned.wait(self._give_way)
            answer = self._perform(desk, order)
            if answer is None:
                return
            self._post(Answered(answer))

    def _perform(self, desk: Desk[OrderT, AnswerT], order: OrderT) -> AnswerT | None:
        """Do an order, however long it takes; None when that was given up."""
        troubled = False
        while not self._abandoned.is_set():
            try:
                answer = desk.perform(order)
            except StoreError as error:
                kept = 0 if self._journaled is None else self._journaled.kept()
                self._post(Trouble(_told(error, kept)))
                troubled = True
                self._abandoned.wait(_TRY_AGAIN)
                continue
            if troubled:
                self._post(Trouble(""))
            return answer
        return None


def _told(error: LabelerError, kept: int) -> str:
    return f"{kept} unsaved kept in a file; {error.message}" if kept else error.message
