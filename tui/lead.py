"""The lead's app: it reads and writes in threads, and joins the screens."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.worker import WorkerFailed

from labeler.errors import LabelerError, NotFoundError, StoreError
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Answer, Order
from tui.clock import ScreenClock, SystemClock
from tui.key_tables import lead_tables, review_keys
from tui.lead_messages import Compared, Decision, Held, Kept, Read, Refused, Settled, Unread
from tui.lead_views import Tab
from tui.lead_work import LeadSeat, LeadWork
from tui.messages import Broke, Finished
from tui.screens.lead import LeadScreen
from tui.screens.lead_blind import BlindScreen
from tui.screens.lead_compare import CompareScreen
from tui.seat import Seat
from tui.writer import Writer

if TYPE_CHECKING:
    from labeler.store.database import Store

__all__ = ["LeadApp", "LeadSeat", "run_lead"]


@dataclass(slots=True)
class _Blind:
    """A blind vote that is under way; ``then`` says what follows once all of it is saved."""

    item_id: int
    sitting: Sitting
    writer: Writer[Order, Answer]
    screen: BlindScreen
    then: str = "leave"


class LeadApp(App[None]):
    """The lead's screens in a terminal.

    Args:
        seat: Who leads, and what is looked at.
        open_store: Opens the database; called in a thread, after the first paint.
        clock: Tells the time.

    Attributes:
        error: What kept the app from going on, or None.
        lost: How many events were given up by quitting twice, and are in no file either.
        kept: How many of those given up are kept in the journal, and stored at the next start.
    """

    CSS_PATH = ["app.tcss", "lead.tcss"]  # noqa: RUF012 - typed by Textual
    TITLE = "labeler review --lead"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(
        self, seat: LeadSeat, open_store: Callable[[], Store], clock: ScreenClock | None = None
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.error: Exception | None = None
        self.lost = self.kept = 0
        self._seat = seat
        self._table = review_keys(seat.keys)
        self._tables = lead_tables(seat.keys)
        keymaps = self._table.keymap, self._tables.lead.keymap, self._tables.compare.keymap
        self.set_keymap({name: keys for keymap in keymaps for name, keys in keymap.items()})
        self._clock = clock or SystemClock()
        self._work = LeadWork(seat, open_store)
        self._reading: Tab | None = None
        self._next: Tab | None = None
        self._blind: _Blind | None = None
        self._decision: Decision | None = None
        self._lead = LeadScreen(seat.lead, seat.pool, self._clock, self._tables)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the numbers."""
        return self._lead

    async def on_event(self, event: events.Event) -> None:
        """Tell the gates of every key before what it means is done."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            press = Press(event.key, self._clock.of(event))
            if self._blind is not None:
                self._blind.sitting.pressed(press)
                self._blind.screen.sync()
            for screen in self.screen_stack:
                if isinstance(screen, CompareScreen):
                    screen.pressed(press)
        await super().on_event(event)

    def _do(self, work: Callable[[], Message]) -> None:
        """Do something in a thread, and hand on what comes of it."""
        self.run_worker(lambda: self.post_message(work()), thread=True)

    # Reading

    def on_lead_screen_wanted(self, event: LeadScreen.Wanted) -> None:
        """Read a tab; what is asked for meanwhile is read after it."""
        if self._reading is not None:
            self._next = event.tab
            return
        self._reading = event.tab
        self._do(lambda: self._work.read(event.tab))

    def on_read(self, event: Read) -> None:
        """Show what was read."""
        self._lead.show_view(event.tab, event.view, seconds=event.seconds)
        self._read_next()

    def on_unread(self, event: Unread) -> None:
        """Say why it couldn't be read; end when there is no such database or pool."""
        if not event.is_open or isinstance(event.error, NotFoundError):
            self.error = event.error
            self.exit()
            return
        self._lead.show_trouble(event.error.message)
        self._read_next()

    def _read_next(self) -> None:
        done, self._reading = self._reading, None
        wanted, self._next = self._next, None
        if wanted is not None and wanted is not done:
            self._lead.post_message(LeadScreen.Wanted(wanted))

    # A dispute: hold it, vote, look

    def on_lead_screen_chosen(self, event: LeadScreen.Chosen) -> None:
        """Hold a dispute for a blind vote, or go on to what was said after one."""
        key = _new_key()
        self._do(lambda: self._work.enter(event.item_id, key))

    def on_held(self, event: Held) -> None:
        """Show the item as in any sitting."""
        if self._blind is not None:
            return
        sitting = Sitting(limit=1)
        writer = Writer(lambda: self._work.open_desk(event.item_id), self._post_to_blind)
        screen = BlindScreen(
            Seat(self._seat.lead, self._seat.pool, 1),
            sitting,
            give=writer.give,
            start=writer.start,
            clock=self._clock,
            table=self._table,
        )
        self._blind = _Blind(event.item_id, sitting, writer, screen)
        self.push_screen(screen)

    def _post_to_blind(self, message: Message) -> None:
        if self._blind is not None:
            self._blind.screen.post_message(message)

    def on_blind_screen_compare(self, _: BlindScreen.Compare) -> None:
        """Give up what is held, then look."""
        self._end_blind("compare")

    def on_blind_screen_leave(self, _: BlindScreen.Leave) -> None:
        """Go back to the list once all is saved."""
        self._end_blind("leave")

    def _end_blind(self, then: str) -> None:
        if (blind := self._blind) is not None:
            blind.then = then
            blind.sitting.close()
            blind.screen.sync()
            blind.writer.finish()

    def on_finished(self, _: Finished) -> None:
        """The blind vote is saved, and nothing is held any more."""
        if (blind := self._blind) is None:
            return
        self._close_blind()
        if blind.then == "quit":
            self.exit()
        elif blind.then == "compare":
            key = _new_key()
            self._do(lambda: self._work.enter(blind.item_id, key))

    def on_broke(self, event: Broke) -> None:
        """The vote's writer can't go on: say why, or end with what is a bug."""
        self._close_blind()
        if isinstance(event.error, LabelerError):
            self._refuse(event.error)
        else:
            self.error = event.error
            self.exit()

    def _close_blind(self) -> None:
        self._blind = None
        self._pop_to_lead()

    def on_compared(self, event: Compared) -> None:
        """Show what was said."""
        self._pop_to_lead()
        self.push_screen(CompareScreen(event.comparison, self._clock, self._tables))

    # A dispute: its end

    def on_compare_screen_decided(self, event: CompareScreen.Decided) -> None:
        """Put a level in force."""
        key = _new_key()
        self._do(lambda: self._work.decide(event.comparison, event.level, event.dwell_ms, key))

    def on_compare_screen_sent_back(self, event: CompareScreen.SentBack) -> None:
        """Ask for another vote."""
        key = _new_key()
        self._do(lambda: self._work.send_back(event.comparison, key))

    def on_compare_screen_unclear(self, event: CompareScreen.Unclear) -> None:
        """Mark the rubric as unclear."""
        key = _new_key()
        self._do(lambda: self._work.mark_unclear(event.comparison, event.words, key))

    def on_compare_screen_noted(self, event: CompareScreen.Noted) -> None:
        """Keep a note."""
        key = _new_key()
        self._do(lambda: self._work.note(event.comparison, event.text, key))

    def on_compare_screen_leave(self, _: CompareScreen.Leave) -> None:
        """Go back to the list; the blind vote stands."""
        self._pop_to_lead()

    def on_settled(self, event: Settled) -> None:
        """Go back to the list, and say what is saved."""
        self._decision = event.decision
        self._pop_to_lead()
        self._lead.tell(event.told)
        self._lead.action_refresh()

    def on_kept(self, _: Kept) -> None:
        """Say that the note is kept."""
        for screen in self.screen_stack:
            if isinstance(screen, CompareScreen):
                screen.tell("note kept with this item")

    def on_lead_screen_taken_back(self, _: LeadScreen.TakenBack) -> None:
        """Take the last decision back."""
        decision, key = self._decision, _new_key()
        if decision is None:
            self._lead.tell("there is no decision of this sitting to take back")
        else:
            self._do(lambda: self._work.take_back(decision, key))

    def on_refused(self, event: Refused) -> None:
        """Say why it wasn't done."""
        self._refuse(event.error)

    def _refuse(self, error: LabelerError) -> None:
        told = f"{error.message} ({error.hint})" if error.hint else error.message
        for screen in self.screen_stack:
            if isinstance(screen, CompareScreen):
                screen.tell(told)
                return
        self._lead.tell(told)
        self._lead.action_refresh()

    def _pop_to_lead(self) -> None:
        while self.screen is not self._lead and len(self.screen_stack) > 1:
            self.pop_screen()

    # The end

    async def action_quit(self) -> None:
        """End, once a blind vote that was given is saved; asked twice, end at once."""
        blind = self._blind
        if blind is None or not blind.writer.is_alive():
            self.exit()
        elif blind.then == "quit":
            lost = blind.writer.abandon()
            self.lost = blind.sitting.unsaved if lost is None else lost
            self.kept = blind.sitting.unsaved - self.lost
            self.exit()
        else:
            self._end_blind("quit")

    @property
    def failure(self) -> Exception | None:
        """What ended the app before its time, or None."""
        raised = self._exception
        if isinstance(raised, WorkerFailed) and isinstance(raised.error, Exception):
            raised = raised.error
        return self.error or raised

    def _fatal_error(self) -> None:
        # Textual would print the values of all local names, texts from outside among them.
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        """However the app ends, what was given is written, if that is quick."""
        if self._blind is not None and self._blind.writer.is_alive():
            self._blind.writer.finish()
            self._blind.writer.join(timeout=2)
        self._work.close()


def _new_key() -> str:
    return str(uuid.uuid4())


def run_lead(seat: LeadSeat, open_store: Callable[[], Store]) -> None:
    """Run the lead's app until it ends.

    Raises:
        LabelerError: When the database can't be opened or used, or what was given isn't saved.
    """
    app = LeadApp(seat, open_store)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.lost:
        raise StoreError(
            f"{app.lost} events were not saved: neither the database nor a file took them"
        )
    if app.kept:
        raise StoreError(
            f"{app.kept} events are not in the database yet; they are kept in a file",
            hint="the next `labeler review` stores them; `labeler db check` tells where they are",
        )
