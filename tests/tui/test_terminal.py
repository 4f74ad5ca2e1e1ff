"""Any text, through every part of the screen that shows stored text: what reaches the terminal.

The app runs as it does for a reviewer, over a desk that answers with the text in every place. Of
each screen the bytes for the terminal are read: besides the app's own cursor moves and colours
there is no control in them, every line is as wide as the terminal, and no cell carries an action.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.cells import get_character_cell_size
from textual._compositor import CompositorUpdate
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from labeler.assessment.blind import BlindItem, BlindQuery, Block, PassageContext
from labeler.assessment.context import Surroundings
from labeler.assessment.rubric import LevelGuide, Rubric
from labeler.assessment.visible import steady
from labeler.labels import NATIVE
from labeler.queue.claims import Claim, QueueLeft
from labeler.queue.comparison import LetteredJudgment
from labeler.queue.evidence import FoundPassage
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
    Fetch,
    Fetched,
    Kept,
    Look,
    Note,
    Order,
    Revealed,
    Shown,
    Skip,
    Surround,
    Surrounded,
    TurnedDown,
    Vote,
)
from labeler.records.queue import VotePurpose
from labeler.settings import Reveal
from tests.tui.driving import PATIENCE, HandClock
from tui.app import ReviewApp, Seat
from tui.messages import Trouble
from tui.text import displayed, displayed_line, line

_OWN = re.compile(r"\x1b\[\d+;\d+H|\x1b\[[\d;]*m")
"""What the app itself sends: moves of the cursor to the beginning of a line, and styles."""

_LINE = re.compile(r"\x1b\[(\d+);1H")

HOSTILE = [
    "[@click=app.boom]press[/] [/] [b [red on blue]",
    "\x1b[2J\x1b[1;1H\x1b]0;owned\x07\x1b]8;;http://x\x1b\\link\x1bP1$r0m\x1b\\ \x9b31m\x90q\x9c",
    "\u202eevil\u202c \u2066x\u2069 \u200f\u061c a\u2028b\u2029c\x85d\x0be\x0cf\rg\bh",
    "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽 🇩🇪 1\ufe0f\u20e3 a\u200db\u200dc ක්\u200dය e\u0301\u0301",
    "漢字かな交じり文。ｶﾞ 각\u1112\u1161\u11ab مرحبا بك שלום",
    "\ud800 lone \udfff halves \ufffe \uffff \U0010ffff \ue000",
    "\t\t\tTabs\tand   blanks \u3000 \xa0 \u200b \ufeff end\n\n\nlines\r\nmore\n",
    "x" * 3000,
    "\u0301" * 50 + "a" + "\u0300" * 300,
]

TEXTS = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60).map(lambda found: found.decode("latin-1")),
    st.text(
        st.sampled_from("\x1b[]()0123;Hm@\\\x07\x9b\x90\x9c\u202e\u2066\u200d\ufe0f漢a👨🏽 \n\t"),
        max_size=60,
    ),
    st.lists(st.sampled_from(HOSTILE[:-2]), min_size=1, max_size=3).map("".join),
)


@dataclass
class TextDesk:
    """A desk that answers with one text in every place."""

    text: str
    told: str = ""
    _items: int = field(default=0, init=False)

    def perform(self, order: Order) -> Answer:
        match order:
            case Count():
                return Counted(1, 3)
            case Fetch() if self._items == 0:
                self._items += 1
                return Fetched((self.shown(0), self.shown(1)))
            case Fetch():
                soon = datetime.now(UTC) + timedelta(minutes=1)
                return Fetched((), QueueLeft(0, 1, 2, soon, 3), 4)
            case Vote(key, shown) if shown.claim.task_id == 0 and self._items == 1:
                # The first vote is on something that has changed meanwhile.
                self._items += 1
                return TurnedDown(key, self.text, self.shown(0, changed="now "))
            case Vote(key) | Skip(key) | Note(key):
                return Kept(key)
            case Look(key, of, shown, level):
                said = LetteredJudgment("A", None, self.text, (self.text, self.text))
                return Revealed(of, shown, level, (said,))
            case Surround(item_id):
                return Surrounded(item_id, Surroundings(self.text, 2, 3, self.text, self.text))
            case _:
                return Done()

    def shown(self, place: int, changed: str = "") -> Shown:
        text = changed + self.text
        guides = {level.name: LevelGuide(text, (text,)) for level in NATIVE.levels}
        query = BlindQuery(text, text, {text: text, "region": text}, text, text)
        item = BlindItem(place, text, PassageContext(text, text, text, text, text))
        rubric = Rubric(text, NATIVE, text, guides)
        claim = Claim(place, place, place, VotePurpose.PRIMARY)
        return Shown(claim, Block(query, (item,), rubric), text)

    def close(self) -> None:
        """Nothing is open."""


def driving(shown: str) -> set[str]:
    """Give the characters that a terminal, or the direction of writing, would follow."""
    return {
        one
        for one in shown
        if unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(one) in TURNING
        or one in "\u200e\u200f\u061c"
    }


def check(app: ReviewApp) -> None:
    """Look at all that a full paint of the screen sends to the terminal."""
    screen = app.screen
    update = screen._compositor.render_update(full=True)
    assert isinstance(update, CompositorUpdate)
    sent = update.render_segments(app.console)
    lines = _LINE.split(sent)[1:]
    assert [int(number) for number in lines[::2]] == list(range(1, screen.size.height + 1))
    for row in lines[1::2]:
        shown = _OWN.sub("", row).removesuffix("\n")
        assert driving(shown) == set()
        assert steady(shown) == shown
        assert sum(map(get_character_cell_size, shown)) == screen.size.width
    for strip in screen._compositor.render_strips():
        for segment in strip:
            meta = segment.style.meta if segment.style is not None else {}
            actions = {str(value) for name, value in meta.items() if name.startswith("@")}
            assert actions <= SCROLLING
            assert segment.style is None or segment.style.link is None


SCROLLING = {"grab", "release", "scroll_down", "scroll_up"}
"""What the mouse does on the app's own scroll bars."""

TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@dataclass
class Visit:
    """One run of the app, in which every screen is looked at."""

    app: ReviewApp
    pilot: Pilot[None]
    clock: HandClock

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.clock.now += 1
            await self.pilot.press(key)
            await self.look()

    async def look(self) -> None:
        await self.pilot.pause()
        assert self.app.failure is None
        check(self.app)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                assert self.app.failure is None
                await self.pilot.pause(0.01)
        await self.look()

    async def until_judging(self) -> None:
        await self.until(lambda: self.app.sitting._gate.painted_at is not None)

    async def write(self, text: str) -> None:
        for one in self.app.screen.query(Input):
            if one.can_focus:
                one.value = text
                await self.look()


async def visit(text: str, size: tuple[int, int]) -> None:
    """Go through every screen of a sitting, and to its end."""
    clock = HandClock()
    seat = Seat(text, text, None, None, text, text, Reveal.AT_ONCE)
    passage = FoundPassage(1, text, PassageContext(text, text, text, text, text), is_known=True)
    find = lambda item_id, words: [passage, passage]  # noqa: E731 - the smallest search there is
    app = ReviewApp(seat, lambda: TextDesk(text, text), clock, find=find)
    called: list[str] = []
    app.action_boom = lambda: called.append("boom")  # type: ignore[attr-defined]
    async with app.run_test(size=size, notifications=True) as pilot:
        on = Visit(app, pilot, clock)
        await on.until_judging()
        await on.press("c", "end", "escape", "r", "space", "escape", "slash")
        await on.write(text)
        await on.press("enter", "escape", "h", "h", "g")
        await on.write(text)
        await on.press("enter", "n")
        await on.write(text)
        await on.press("escape", "e", "escape", "m")
        await on.write(text if displayed_line(text).strip() else "a")
        await on.press("enter")
        found = app.screen.query_one(OptionList)
        await on.until(lambda: found.option_count == 2)
        await on.press("j", "space", "escape", "p", "p")
        await on.until_judging()
        await on.press("s")
        await on.until_judging()
        assert "not saved" in app.sitting.notice
        app.sitting.notice = text
        app._review.sync()
        await on.look()
        app.sitting.notice = ""
        app._review.post_message(Trouble(text))
        await on.look()
        await on.press("c", "escape")
        await on.until_judging()
        await on.press("d")
        await on.until(lambda: app.sitting.revealed is not None)
        await on.press("space", "end", "enter")
        await on.until_judging()
        await on.press("f", "5")
        await on.until(lambda: app.sitting.current is None and app.sitting.revealed is not None)
        await on.press("enter")
        await on.until(lambda: app.sitting.left is not None)
        strips = app.screen._compositor.render_strips()
        assert "held by others" in "\n".join(strip.text for strip in strips)
    assert called == []


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("text", ["\n".join(HOSTILE[:3]), "\n".join(HOSTILE[3:])], ids="ab")
def test_hostile_text_reaches_no_terminal(text: str, size: tuple[int, int]) -> None:
    asyncio.run(visit(text, size))


@given(TEXTS)
@settings(max_examples=500)
def test_what_is_displayed_holds_nothing_that_drives_a_terminal(text: str) -> None:
    for shown in (displayed(text), displayed_line(text), line(text, (text, "bold")).plain):
        assert driving(shown.replace("\n", "")) == set()
        assert steady(shown) == shown
        assert displayed(shown) == shown


@given(TEXTS, st.sampled_from([(80, 24), (120, 40), (61, 17)]))
@example("", (80, 24))
@example("\u200d", (120, 40))  # nothing of it is shown
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_reaches_no_terminal(text: str, size: tuple[int, int]) -> None:
    asyncio.run(visit(text, size))
