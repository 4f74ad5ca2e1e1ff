"""Collections and cases in many scripts, imported as they are and judged in the app."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import get_character_cell_size

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.reports.agreement import report_agreement
from labeler.store.database import Store
from tests.shared import case_dir, data_dir
from tests.small import write_jsonl, write_run
from tests.tui.driving import Driver, events, reviewing
from tests.tui.test_terminal import check
from tui.marking import query_terms, terms_in
from tui.text import displayed
from tui.widgets.passage import PassageView

pytestmark = pytest.mark.asyncio


def squeezed(text: str) -> str:
    return "".join(text.split())


def queue_up(
    store: Store,
    folder: Path,
    corpus: Path,
    queries: Path,
    results: Mapping[str, list[str]],
    *,
    overlap: int = 1,
) -> None:
    """Import a corpus and queries, and send what a run found to people."""
    import_corpus(store, [corpus], CorpusOptions(snapshot="s"))
    import_queries(store, [queries], QueryOptions())
    import_runs(store, [write_run(folder / "r.run", "r", results)], RunOptions())
    depth = max(map(len, results.values()))
    create_pool(store, "p", PoolOptions(depth=depth, rubric=default_rubric()))
    route_pool(store, "p", replace(UNCALIBRATED, overlap=overlap))


def queries_for(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write queries to a file."""
    rows: list[dict[str, object]] = [{"_id": key, "text": text} for key, text in texts.items()]
    return write_jsonl(folder / "asked.jsonl", rows)


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


async def read_whole(app: Driver) -> str:
    """Page through the passage to its end; give all that was drawn, without blanks."""
    passage = app.app.screen.query_one("#passage", PassageView)
    seen: dict[int, str] = {}
    await app.press("home")
    while True:
        check(app.app)
        first, last, _ = passage.in_sight
        for y in range(last - first + 1):
            strip = passage.render_line(y)
            seen[first + y] = strip.text
            assert sum(map(get_character_cell_size, strip.text)) == strip.cell_length
        if passage.scroll_offset.y >= passage.max_scroll_y:
            return squeezed("".join(seen[line] for line in sorted(seen)))
        await app.press("space")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", ["arcd-ar", "quati-pt"])
async def test_collections_in_arabic_and_portuguese(
    sqlite_store: Store, database: Path, own_folder: Path, name: str, size: tuple[int, int]
) -> None:
    folder = data_dir(name)
    results: dict[str, list[str]] = defaultdict(list)
    for row in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, _ = row.split()
        results[query] = [*results[query], document][:2]
    asked = [row["_id"] for row in rows_of(folder / "queries.jsonl")][:3]
    wanted = {query: results[query] for query in asked}
    queue_up(sqlite_store, own_folder, folder / "corpus.jsonl", folder / "queries.jsonl", wanted)
    texts = {row["text"] for row in rows_of(folder / "corpus.jsonl")}
    marked = votes = 0
    async with reviewing(database, size=size) as app:
        while app.sitting.current is not None:
            shown = app.sitting.current
            assert app.passage in texts
            assert all(word in app.text for word in displayed(shown.block.query.text).split())
            assert await read_whole(app) == squeezed(displayed(app.passage))
            terms = query_terms(shown.block.query)
            text = displayed(app.passage)
            marked += len(list(terms_in(text, 0, len(text), terms)))
            word = text.split()[-1]
            await app.press("slash")
            await app.write(word)
            await app.until(lambda: bool(re.search(r"\d+ of \d+ ", app.text.splitlines()[-4])))
            check(app.app)
            await app.press("escape", "d")
            votes += 1
    assert votes == sum(map(len, wanted.values()))
    assert marked > votes
    assert events(sqlite_store) == [("vote", None)] * votes


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("case", ["36", "38", "39", "40", "41", "42"])
async def test_cases_of_texts_are_shown_letter_for_letter(
    sqlite_store: Store, database: Path, own_folder: Path, case: str, size: tuple[int, int]
) -> None:
    corpus = case_dir(case) / "corpus.jsonl"
    texts = {row["_id"]: row["text"] for row in rows_of(corpus)}
    # What the texts hold is looked for as well.
    queries = queries_for(own_folder, {"q1": " ".join(texts.values()).replace("\x00", "")[:200]})
    queue_up(sqlite_store, own_folder, corpus, queries, {"q1": list(texts)})
    seen = set()
    async with reviewing(database, size=size) as app:
        while app.sitting.current is not None:
            seen.add(app.passage)
            assert await read_whole(app) == squeezed(displayed(app.passage))
            await app.press("c")
            check(app.app)
            await app.press("escape", "s")
    # A NUL is the one character that a store may have to replace; the import tells of it.
    kept = {text for text in texts.values() if "\x00" not in text}
    assert kept <= seen
    assert len(seen) == len(set(texts.values()))


async def test_the_case_of_a_very_long_text_scrolls(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    folder = case_dir("35")
    results = {"q1": [row["_id"] for row in rows_of(folder / "corpus.jsonl")]}
    queue_up(sqlite_store, own_folder, folder / "corpus.jsonl", folder / "queries.tsv", results)
    async with reviewing(database) as app:
        while len(app.passage) < 100_000:
            await app.press("s")
        check(app.app)
        await app.press("end")
        last = squeezed(displayed(app.passage))[-60:]
        assert last in squeezed(app.text.split("more above")[1].rsplit("a/1", 1)[0])
        await app.press("home", "slash")
        await app.write("pressure")
        await app.until(lambda: "not found" in app.text)
        assert "lines 1-" in app.text
        app.app.focused.value = "the VALVE opens"  # type: ignore[union-attr]
        await app.until(lambda: "1 of 1" in app.text)
        assert "more above" in app.text
        await app.press("escape", "d")
    assert ("vote", None) in events(sqlite_store)


def ratings(case: str) -> list[dict[str, str]]:
    """Give the ratings of a case, by time."""
    with (case_dir(case) / "annotations.tsv").open(encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: row["at"])


LABEL_KEYS = {"not": "a", "partially": "s", "fully": "d"}


def queue_of_people(store: Store, folder: Path, rows: list[dict[str, str]]) -> None:
    """Have two people vote on each passage that somebody rated."""
    names = sorted({row["doc_id"] for row in rows})
    passages: list[dict[str, object]] = [{"_id": name, "text": f"text {name}"} for name in names]
    corpus = write_jsonl(folder / "c.jsonl", passages)
    queries = queries_for(folder, {"q1": "what?"})
    queue_up(store, folder, corpus, queries, {"q1": names}, overlap=2)


async def rate(database: Path, row: Mapping[str, str]) -> None:
    """Give one rating in a sitting of its own; a rater's former rating of it is taken back."""
    async with reviewing(database, reviewer=row["rater"]) as app:
        if app.sitting.current is None:
            await app.press("u")
        while row["doc_id"] not in app.passage:
            await app.press("x")
        await app.press(LABEL_KEYS[row["label"]])


async def test_the_case_of_two_raters(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    rows = ratings("61")
    queue_of_people(sqlite_store, own_folder, rows)
    for row in rows:
        await rate(database, row)
    async with reviewing(database, reviewer="bo") as app:
        # Who had skipped it is asked again only on request.
        await app.press("w")
        assert app.passage == "text d2"
    async with reviewing(database, reviewer="anna") as app:
        assert "All done: nothing is left for you." in app.text
        assert "2 more votes are wanted of others" in app.text
    with sqlite_store.read() as connection:
        report = report_agreement(connection, pool="p")
    assert [(pair.common, pair.differing) for pair in report.pairs] == [(1, 1)]


async def test_the_case_of_a_rater_who_changed_her_mind(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    rows = ratings("62")
    queue_of_people(sqlite_store, own_folder, rows)
    for row in rows:
        await rate(database, row)
    assert [kind for kind, _ in events(sqlite_store)] == ["vote", "vote", "undo", "vote"]
    with sqlite_store.read() as connection:
        report = report_agreement(connection, pool="p")
    assert [(pair.common, pair.differing) for pair in report.pairs] == [(1, 0)]
