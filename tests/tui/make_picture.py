"""Draws docs/review.svg, the picture of the review app: python -m tests.tui.make_picture [FILE].

The sample project is searched by the retrievers that need no model, pooled and routed; a few votes
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
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.sample.build import write_sample
from labeler.sample.reading import read_sample
from labeler.sample.retrievers import run_retrievers
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.tui.driving import reviewing

__all__ = ["draw"]

_SIZE = (100, 24)
_SECONDS = (8.2, 11.6, 6.9, 9.8, 12.4, 7.3, 9.1)
"""How long each item was read before its vote."""
_KEYS = "asdaads"


def make_project(folder: Path) -> Path:
    """Write the sample, and take it to a queue; give its database."""
    sample = read_sample()
    files = folder / "sample"
    write_sample(files, sample, run_retrievers(sample, None, lambda: 0.0))
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


async def draw() -> str:
    """Give the picture as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        database = make_project(Path(folder))
        async with reviewing(database, reviewer="you", pool="demo", size=_SIZE) as app:
            for key, seconds in zip(_KEYS, _SECONDS, strict=True):
                await app.press(key, after=seconds)
            picture = app.app.export_screenshot(title="labeler review", simplify=True)
    # A picture loads nothing from elsewhere: the reader's own monospaced font will do.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def main() -> None:
    """Write the picture to the file that is named, or into the docs."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/review.svg")
    target.write_text(asyncio.run(draw()), encoding="utf-8")


if __name__ == "__main__":
    main()
