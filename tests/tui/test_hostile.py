"""Text from outside is shown letter for letter: it styles nothing, runs nothing, moves nothing."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from labeler.assessment.rubric import LevelGuide, Rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import NATIVE
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.store.database import Store
from tests.small import write_jsonl, write_run
from tests.tui.driving import Driver, events, reviewing
from tui.text import displayed
from tui.widgets.passage import PassageView

pytestmark = pytest.mark.asyncio

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HOSTILE = {
    "action": "[@click=app.boom]press[/]",
    "closing": "[/] [/b] [b",
    "style": "[red on blue]not red[/red on blue] [$primary]",
    "link": "[link=file:///etc/passwd]x[/link]",
    "escape": "red \x1b[31mtext\x1b[0m \x1b]0;owned\x07 \x9b31m",
    "bell": "\x07\x08\x7f",
    "direction": "abc \u202eevil\u202c \u2066x\u2069",
    "arabic": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643",
    "family": f"{FAMILY} at the door e\u0301",
    "wide": "\u6f22\u5b57 kana \uff76\uff85",
    "lines": "one\rtwo\x0bthree\u2028four",
}
FORBIDDEN = "Cc", "Cs", "Zl", "Zp"


def hostile_project(store: Store, folder: Path, text: str) -> None:
    """Make a project in which every stored text is this one."""
    passage: dict[str, object] = {"_id": "d", "text": text, "title": text, "region": text}
    import_corpus(store, [write_jsonl(folder / "c.jsonl", [passage])], CorpusOptions(snapshot="s"))
    query: dict[str, object] = {"_id": "q", "text": text, "need": text, "product": text}
    import_queries(store, [write_jsonl(folder / "q.jsonl", [query])], QueryOptions())
    import_runs(store, [write_run(folder / "r.run", "r", {"q": ["d"]})], RunOptions())
    guides = {level.name: LevelGuide(text, (text,)) for level in NATIVE.levels}
    rubric = Rubric(text, NATIVE, text, guides)
    create_pool(store, "p", PoolOptions(depth=1, rubric=rubric))
    route_pool(store, "p", UNCALIBRATED)


def harmless(app: Driver) -> bool:
    """Tell whether nothing on the screen can drive a terminal."""
    return harmless_text(app.text)


def harmless_text(text: str) -> bool:
    """Tell whether nothing in what a screen shows can drive a terminal."""
    return not any(
        unicodedata.category(character) in FORBIDDEN or character in "\u202e\u202c\u2066\u2069"
        for character in text.replace("\n", "")
    )


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, (80, 24)) for name in HOSTILE), ("action", (120, 40)), ("escape", (120, 40))],
)
async def test_every_screen_shows_it_and_nothing_runs(
    sqlite_store: Store, database: Path, own_folder: Path, name: str, size: tuple[int, int]
) -> None:
    text = HOSTILE[name]
    hostile_project(sqlite_store, own_folder, text)
    called: list[str] = []
    async with reviewing(database, reviewer=text, size=size) as app:
        app.app.action_boom = lambda: called.append("boom")  # type: ignore[attr-defined]
        for key in ("c", "escape", "r", "escape", "n", "escape"):
            assert harmless(app)
            assert squeezed(displayed(text)) in squeezed(app.text)
            await app.press(key)
        for row in range(9):
            for column in (6, size[0] - 20):
                await app.pilot.click(offset=(column, row))
        await app.press("d")
        assert harmless(app)
    assert called == []
    assert events(sqlite_store) == [("vote", None)]


@pytest.mark.parametrize(
    "text", ["word " * 40_000, "x" * 200_000, FAMILY * 5_000, "\n" * 5_000 + "end"]
)
async def test_very_long_passages_scroll_to_their_end(
    sqlite_store: Store, database: Path, own_folder: Path, text: str
) -> None:
    hostile_project(sqlite_store, own_folder, text)
    async with reviewing(database) as app:
        passage = app.app.screen.query_one("#passage", PassageView)
        assert "more below" in app.text
        first, last, total = passage.in_sight
        assert (first, last < total) == (1, True)
        for _ in range(3):
            await app.press("space", "j", "k", "b", "space")
        assert "more above" in app.text
        await app.press("end")
        first, last, total = passage.in_sight
        assert passage.is_all_known
        assert first > last - 24
        assert last == total
        assert "more below" not in app.text
        spans = [passage._lines.span(line) for line in range(total)]
        shown = displayed(text)
        assert squeezed("".join(shown[one:other] for one, other in spans)) == squeezed(shown)
        await app.press("home")
        assert passage.in_sight[0] == 1
        await app.press("a")
    assert events(sqlite_store) == [("vote", None)]
