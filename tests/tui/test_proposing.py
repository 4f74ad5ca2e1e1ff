"""What a reviewer proposes at the screen: a passage that was missing, another form of the query."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from textual.widgets import Input

from labeler.queue.claims import claim
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.records.proposals import EvidenceProposal, QueryProposal
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.tui.driving import Driver, events, reviewing
from tui.screens.evidence import EvidenceScreen
from tui.screens.query import QueryScreen

pytestmark = pytest.mark.asyncio


def proposed(store: Store) -> list[tuple[str, str]]:
    """Give who proposed which evidence."""
    proposal, item = table(EvidenceProposal), table(Item)
    evidence, who = table(Evidence), table(Assessor)
    statement = (
        sa.select(who.c.name, evidence.c.external_id)
        .select_from(proposal)
        .join(who, who.c.id == proposal.c.assessor_id)
        .join(item, item.c.id == proposal.c.item_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
    )
    with store.read() as connection:
        return [(str(name), str(found)) for name, found in connection.execute(statement)]


def query_proposals(store: Store) -> list[tuple[str | None, dict[str, str]]]:
    proposal = table(QueryProposal)
    with store.read() as connection:
        rows = connection.execute(sa.select(proposal.c.domain, proposal.c.conditions)).all()
    return [(domain, json.loads(conditions)) for domain, conditions in rows]


async def search(app: Driver, words: str) -> EvidenceScreen:
    await app.press("m")
    screen = app.app.screen
    assert isinstance(screen, EvidenceScreen)
    await app.write(words)
    await app.pilot.press("enter")
    await app.until(lambda: "Searching" not in app.text)
    return screen


async def test_a_passage_is_found_and_handed_on(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        screen = await search(app, "zeppelin")
        assert "Nothing in the snapshot holds these words." in app.text
        screen.query_one(Input).value = ""
        await app.write("passage")
        await app.pilot.press("enter")
        await app.until(lambda: screen.found.option_count == 11)
        fresh = next(place for place, one in enumerate(screen._passages) if not one.is_known)
        chosen = screen._passages[fresh].passage
        screen.found.highlighted = fresh
        await app.until(lambda: "hand on" in app.text)
        before = app.passage
        await app.press("y")
        assert "handed on: somebody else judges that passage, blind" in app.text
        assert app.passage == before
        await app.press("a")
    [(who, found)] = proposed(queue)
    assert who == "ana"
    assert chosen.split()[1] in {found, "c01", "c02", "c05", "c06"}
    assert [kind for kind, _ in events(queue)] == ["vote"]
    with queue.write("review start") as tx:
        ana = assessor_key(tx, AssessorKind.PERSON, "ana")
        bo = assessor_key(tx, AssessorKind.PERSON, "bo")
    assert len(claim(queue, ana, 50)) == 10
    assert len(claim(queue, bo, 50)) == 1


async def test_what_is_known_is_marked_without_a_label_and_not_taken(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        screen = await search(app, app.passage)
        assert screen._passages[0].passage == app.passage
        await app.until(lambda: "already in the queue or judged" in app.text)
        assert "hand on" not in app.text
        await app.pilot.press("y")
        await app.until(lambda: "This passage is already" in app.text)
        assert app.app.screen is screen
        for telling in ("relevant", "lexical", "dense", "score", "rank"):
            assert telling not in app.text.lower()
        await app.press("escape")
    assert proposed(queue) == []


async def test_letters_are_words_while_words_are_typed(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("m")
        await app.write("yes jk y")
        assert app.app.screen.query_one(Input).value == "yes jk y"
        await app.press("escape")
    assert (proposed(queue), events(queue)) == ([], [])


async def test_hostile_text_in_what_is_found_is_data(queue: Store, database: Path) -> None:
    from labeler.assessment.blind import PassageContext
    from labeler.queue.evidence import FoundPassage

    hostile = "[@click=app.quit]x[/] \x1b]0;owned\x07 \u202eback [/nothing]"

    async with reviewing(database) as app:
        found = FoundPassage(1, hostile, PassageContext(title=hostile), is_known=False)
        app.app._review._find = lambda item, words: [found]
        await search(app, "x")
        await app.until(lambda: "hand on" in app.text)
        assert "\x1b" not in app.text
        assert "\u202e" not in app.text
        assert "[@click=app.quit]x[/]" in app.text


async def change(app: Driver, **fields: str) -> None:
    await app.press("e")
    screen = app.app.screen
    assert isinstance(screen, QueryScreen)
    for key, value in fields.items():
        screen.query_one(f"#query-{key.replace('_', '-')}", Input).value = value
    await app.pilot.press("enter")
    await app.pilot.pause()


async def test_a_domain_and_a_condition_are_proposed_and_nothing_changes(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        await change(app, domain="billing", condition_1="EU", words="it names the EU")
        await app.settled()
        assert "proposed: the lead decides" in app.text
        shown = app.sitting.current
        assert shown is not None
        assert shown.block.query.domain is None
        await app.press("d")
        assert "not saved" not in app.text
    assert query_proposals(queue) == [("billing", {"region": "EU"})]
    assert [kind for kind, _ in events(queue)] == ["vote"]


async def test_words_alone_mark_the_query_as_unclear(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await change(app)
        await app.until(lambda: "say in words what is unclear" in app.text)
        screen = app.app.screen
        screen.query_one("#query-words", Input).value = "which router?"
        await app.press("enter")
    assert events(queue) == [("flag", "query unclear: which router?")]
    assert query_proposals(queue) == []


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_a_wrong_date_is_told_and_escape_drops_it(
    queue: Store, database: Path, size: tuple[int, int]
) -> None:
    async with reviewing(database, size=size) as app:
        await change(app, condition_2="July")
        await app.until(lambda: "the condition date is YYYY-MM-DD, not 'July'" in app.text)
        await app.press("escape")
    assert (query_proposals(queue), events(queue)) == ([], [])
