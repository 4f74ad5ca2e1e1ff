"""Evidence that a reviewer misses: found blind, judged by somebody else, taken up by a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from labeler.assessment.decisions import votes_on
from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import ConflictError
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.labels import Grade
from labeler.pools.create import PoolOptions, create_pool
from labeler.providers.embeddings import embedding_key
from labeler.queue.claims import Claim, claim, queue_left
from labeler.queue.counts import count_queue
from labeler.queue.disputes import standings
from labeler.queue.evidence import EvidenceSearch, FoundPassage
from labeler.queue.proposals import propose_evidence
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import Fetch, Kept, ProposeEvidence, TurnedDown
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.ledger import Embedding
from labeler.records.pools import Candidate, Item
from labeler.records.proposals import EvidenceProposal
from labeler.records.queries import Query
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.small import HandJudge, judge, passages, pooled, write_jsonl


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait. Nothing of q3's pool is c03, 'passage c03 about fact 2'."""
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    return store


def person(store: Store, name: str) -> int:
    with store.write("review start", actor=name) as tx:
        return assessor_key(tx, AssessorKind.PERSON, name)


def item_of(store: Store, query: str) -> int:
    """Give an item of a query."""
    item, named = table(Item), table(Query)
    statement = (
        sa.select(sa.func.min(item.c.id))
        .join(named, named.c.id == item.c.query_id)
        .where(named.c.external_id == query)
    )
    with store.read() as connection:
        return int(connection.execute(statement).scalar_one())


def search(store: Store, query: str, words: str) -> list[FoundPassage]:
    return list(EvidenceSearch(store, lambda: None).find(item_of(store, query), words))


def propose(store: Store, reviewer: int, query: str, passage: str, key: str = "k1") -> int:
    """Propose the passage with a name for a query; give the new item."""
    [found] = [one for one in search(store, query, passage) if passage in one.passage]
    propose_evidence(
        store, reviewer, key, item_id=item_of(store, query), evidence_id=found.evidence_id
    )
    proposal = table(EvidenceProposal)
    with store.read() as connection:
        made = sa.select(proposal.c.item_id).where(proposal.c.event_key == key)
        return int(connection.execute(made).scalar_one())


def clear(store: Store, reviewer: int) -> list[Claim]:
    """Hold everything that a reviewer may be given."""
    held: list[Claim] = []
    while more := claim(store, reviewer, 5):
        held += more
    return held


def test_a_search_gives_passages_and_titles_and_says_what_is_known(queue: Store) -> None:
    found = search(queue, "q3", "fact of c03")
    assert found[0].passage == "passage c03 about fact 2"
    assert found[0].context.title == "Document 0"
    assert not found[0].is_known
    known = {one.passage.split()[1] for one in found if one.is_known}
    assert known == {"c09", "c10", "c11", "c12"}
    fields = set(FoundPassage.__dataclass_fields__)
    assert fields == {"evidence_id", "passage", "context", "is_known"}


def test_a_search_without_words_or_hits_gives_nothing(queue: Store) -> None:
    assert search(queue, "q3", " ?! ") == []
    assert search(queue, "q3", "zeppelin") == []


def test_only_the_snapshot_of_the_item_is_searched(queue: Store, own_folder: Path) -> None:
    rows = [row | {"text": f"zeppelin {row['_id']}"} for row in passages()]
    later = write_jsonl(own_folder / "later.jsonl", rows)
    import_corpus(queue, [later], CorpusOptions(snapshot="2026-08"))
    assert search(queue, "q3", "zeppelin") == []


def test_who_found_it_is_never_given_it_and_somebody_else_is(queue: Store) -> None:
    ana, bo = person(queue, "ana"), person(queue, "bo")
    found = propose(queue, ana, "q3", "c03")
    assert (queue_left(queue, ana).waiting, queue_left(queue, bo).waiting) == (11, 12)
    given = clear(queue, ana)
    assert found not in {one.item_id for one in given}
    assert len(given) == 11
    assert [one.item_id for one in clear(queue, bo)] == [found]


def test_it_waits_beside_the_item_that_was_judged(queue: Store) -> None:
    ana, bo = person(queue, "ana"), person(queue, "bo")
    first = claim(queue, ana, 1)[0]
    item, named = table(Item), table(Query)
    with queue.read() as connection:
        of = sa.select(named.c.external_id).join(item, item.c.query_id == named.c.id)
        query = connection.execute(of.where(item.c.id == first.item_id)).scalar_one()
    missing = {"q1": "c12", "q2": "c12", "q3": "c03"}[query]
    [found] = [one for one in search(queue, query, missing) if missing in one.passage]
    propose_evidence(queue, ana, "k", item_id=first.item_id, evidence_id=found.evidence_id)
    next_ones = claim(queue, bo, 1)
    with queue.read() as connection:
        evidence = sa.select(item.c.evidence_id).where(item.c.id == next_ones[0].item_id)
        assert connection.execute(evidence).scalar_one() == found.evidence_id


def test_what_is_known_cannot_be_proposed_and_a_replay_counts_once(queue: Store) -> None:
    ana, bo = person(queue, "ana"), person(queue, "bo")
    found = propose(queue, ana, "q3", "c03")
    item_id, evidence = item_of(queue, "q3"), search(queue, "q3", "c03")[0].evidence_id
    assert not propose_evidence(queue, ana, "k1", item_id=item_id, evidence_id=evidence)
    with pytest.raises(ConflictError, match="in the queue already, or was judged"):
        propose_evidence(queue, bo, "k2", item_id=item_id, evidence_id=evidence)
    with pytest.raises(ConflictError, match="no text"):
        propose_evidence(queue, bo, "k3", item_id=item_id, evidence_id=10**6)
    assert [one.item_id for one in clear(queue, bo)].count(found) == 1


def test_the_lead_sees_the_reason_and_the_finder_settles_no_dispute_on_it(queue: Store) -> None:
    ana, bo = person(queue, "ana"), person(queue, "bo")
    found = propose(queue, ana, "q3", "c03")
    with queue.read() as connection:
        assert count_queue(connection).by_reason["person_found"] == 1
        assert standings(connection, ana, [found])[found].is_party
        assert not standings(connection, bo, [found])[found].is_party
        assert not standings(connection, None, [found])[found].is_party


def test_a_pool_that_extends_takes_it_up_and_people_judge_it(queue: Store) -> None:
    """A judge's confident label doesn't take the place of somebody else's eyes."""
    ana = person(queue, "ana")
    found = propose(queue, ana, "q3", "c03")
    report = create_pool(queue, "p2", PoolOptions(3, default_rubric(), extends="p"))
    assert report.candidates == 13
    candidate = table(Candidate)
    with queue.read() as connection:
        source = sa.select(candidate.c.source).where(candidate.c.item_id == found)
        assert connection.execute(source).scalars().all() == ["person"]
    judge(queue, HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.999)}), "p2")
    routed = route_pool(queue, "p2", UNCALIBRATED)
    assert routed.reasons["person_found"] == 1
    assert found not in {one.item_id for one in clear(queue, ana)}
    again = create_pool(queue, "p3", PoolOptions(3, default_rubric()))
    assert again.candidates == 12


def test_found_for_another_snapshot_or_rubric_it_is_still_nobodys_own(
    queue: Store, own_folder: Path
) -> None:
    """The same fact for the same query under another rubric: another item, the same finder."""
    ana = person(queue, "ana")
    propose(queue, ana, "q3", "c03")
    rubric = default_rubric()
    other = replace(rubric, instructions="Other instructions.")
    create_pool(queue, "p2", PoolOptions(3, other, extends="p"))
    route_pool(queue, "p2", UNCALIBRATED)
    evidence, item = table(Evidence), table(Item)
    with queue.read() as connection:
        of = sa.select(item.c.id).join(evidence, evidence.c.id == item.c.evidence_id)
        own = set(connection.execute(of.where(evidence.c.external_id == "c03")).scalars())
        query = sa.select(item.c.query_id).where(item.c.id == item_of(queue, "q3"))
        of_query = sa.select(item.c.id).where(item.c.query_id == query.scalar_subquery())
        own &= set(connection.execute(of_query).scalars())
    assert len(own) == 2
    assert not own & {one.item_id for one in clear(queue, ana)}


def test_a_sitting_hands_it_on_and_tells_what_is_refused(queue: Store) -> None:
    desk = Desk(queue, "ana")
    fetched = desk.perform(Fetch(1, frozenset()))
    shown = fetched.items[0]  # type: ignore[union-attr]  # a fetch is answered by what it fetched
    found = EvidenceSearch(queue, lambda: None).find(shown.claim.item_id, "about fact c03 c12")
    fresh = next(one for one in found if not one.is_known)
    known = next(one for one in found if one.is_known)
    assert desk.perform(ProposeEvidence("k1", shown, fresh.evidence_id)) == Kept("k1")
    answer = desk.perform(ProposeEvidence("k2", shown, known.evidence_id))
    assert answer == TurnedDown("k2", "this passage is in the queue already, or was judged", None)
    with queue.read() as connection:
        assert votes_on(connection, [shown.claim.item_id]) == {}


class TwoDirections:
    """An embedder by hand: what holds 'c07' points one way, everything else the other."""

    name = "by-hand"
    digest = "d1"
    dimensions = 2
    cut: int | None = 800

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[1.0, 0.0] if "c07" in text else [0.0, 1.0] for text in texts]
        return np.array(rows, dtype=np.float32)


def test_meaning_is_searched_where_embeddings_are_there(queue: Store) -> None:
    embedder = TwoDirections()
    texts = [str(row["text"]) for row in passages()]
    assert EvidenceSearch(queue, lambda: embedder).find(item_of(queue, "q3"), "zeppelin") == ()
    with queue.work() as connection:
        for text, row in zip(texts, embedder.passages(texts), strict=True):
            values = {
                "text_digest": embedding_key("d1", "passage", text),
                "model_digest": "d1",
                "vector": row.astype("<f2").tobytes(),
            }
            connection.execute(sa.insert(table(Embedding)).values(**values))
    found = EvidenceSearch(queue, lambda: embedder).find(item_of(queue, "q3"), "zeppelin")
    assert found[0].passage == "passage c07 about fact 6"
    without_model = EvidenceSearch(queue, lambda: None)
    assert without_model.find(item_of(queue, "q3"), "zeppelin") == ()
