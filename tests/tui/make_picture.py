"""Draws docs/review.svg and docs/review-minute.svg: python -m tests.tui.make_picture [FOLDER].

The demo project is searched by the retrievers that need no model, pooled and routed; a few votes
are given on a clock that stands still, and the screen is exported. The same code gives the same
bytes.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

from labeler.assessment.rubric import read_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.demo.build import write_demo
from labeler.demo.reading import read_demo
from labeler.demo.retrievers import run_retrievers
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.tui.driving import reviewing
from tests.tui.pictures import picture

__all__ = ["draw", "strip"]

_SIZE = (100, 24)
_SECONDS = (8.2, 11.6, 6.9, 9.8, 12.4, 7.3, 9.1, 8.8, 9.6)
"""How long each item was read before its vote."""
_KEYS = "asdaadsas"


def make_project(folder: Path) -> Path:
    """Write the demo, and take it to a queue; give its database."""
    demo = read_demo()
    files = folder / "demo"
    write_demo(files, demo, run_retrievers(demo, None, lambda: 0.0))
    database = folder / "queue.db"
    with open_store(Location(str(database)), create=True) as store:
        import_corpus(store, [files / "corpus.jsonl"], CorpusOptions(snapshot="help-centre"))
        import_queries(store, [files / "queries.jsonl"], QueryOptions())
        for run in sorted((files / "runs").glob("*.run")):
            import_runs(store, [run], RunOptions())
        rubric = read_rubric(files / "rubric.toml")
        create_pool(store, "demo", PoolOptions(depth=10, rubric=rubric))
        route_pool(store, "demo", UNCALIBRATED)
    return database


async def draw() -> dict[str, str]:
    """Give the pictures as SVG, by the names of their files."""
    with tempfile.TemporaryDirectory() as folder:
        database = make_project(Path(folder))
        async with reviewing(database, reviewer="you", pool="demo", size=_SIZE) as app:
            for key, seconds in zip(_KEYS, _SECONDS, strict=True):
                await app.press(key, after=seconds)
            judging = picture(app.app, normal=False)
            await app.press("f", after=5.2)
            why = picture(app.app, normal=False)
            await app.press("3", "n", after=1.1)
            await app.write("about signing in, not about the lock")
            note = picture(app.app, normal=False)
            await app.press("enter")
        async with reviewing(database, reviewer="you", pool="demo", limit=3, size=_SIZE) as app:
            await app.press(*"sda", after=8.7)
            end = picture(app.app, normal=False)
    return {"review.svg": judging, "review-minute.svg": strip([judging, why, note, end])}


def strip(drawn: list[str]) -> str:
    """Put pictures of one size into one, two in a row."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn[0])
    if found is None:
        raise ValueError(drawn[0][:200])
    width, height = map(float, found.groups())
    rows = (len(drawn) + 1) // 2
    parts = [
        one.replace(
            "<svg ",
            f'<svg x="{place % 2 * width:g}" y="{place // 2 * height:g}" '
            f'width="{width:g}" height="{height:g}" ',
            1,
        )
        for place, one in enumerate(drawn)
    ]
    size = f"0 0 {2 * width:g} {rows * height:g}"
    head = f'<svg viewBox="{size}" xmlns="http://www.w3.org/2000/svg">'
    return "\n".join([head, *parts, "</svg>\n"])


def main() -> None:
    """Write the pictures into the folder that is named, or into the docs."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    for name, drawn in asyncio.run(draw()).items():
        (target / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
