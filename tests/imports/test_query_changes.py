"""Queries corrected: proposals gathered, applied as next versions, declined, overtaken."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind import BlindQuery
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.query_changes import QueryChange
from labeler.assessment.reading import blocks_of
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import ConflictError, InputError, NotFoundError, UsageError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.query_changes import (
    QueryCorrection,
    correct_query,
    decline_proposal,
    plan_query,
)
from labeler.labels import Grade
from labeler.queue.query_proposals import propose_query_change
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.queries import Query, QueryVersion
from labeler.records.queue import Assignment
from labeler.records.scales import AssessorKind
from labeler.reports.query_issues import ProposalState, read_query_issues
from labeler.store.database import Store
from labeler.store.projections import rebuild
from labeler.store.registry import assessor_key
from tests.small import QUERIES, HandJudge, judge, pooled, write_jsonl


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A pool that was judged: of q1's four candidates one is surely relevant, the rest is not."""
    pooled(store, own_folder)
    judge(store, HandJudge({"c01": (Grade.FULLY_RELEVANT, 0.99)}))
    route_pool(store, "p", UNCALIBRATED)
    return store


def item_of(store: Store, query: str) -> int:
    item, named = table(Item), table(Query)
    statement = (
        sa.select(sa.func.min(item.c.id))
        .join(named, named.c.id == item.c.query_id)
        .where(named.c.external_id == query)
    )
    with store.read() as connection:
        return int(connection.execute(statement).scalar_one())


def shown(store: Store, query: str) -> BlindQuery:
    with store.read() as connection:
        return blocks_of(connection, [item_of(store, query)], seed="")[0].query


def propose(
    store: Store, name: str, key: str, change: QueryChange, *, query: str = "q1", words: str = ""
) -> bool:
    with store.write("review start", actor=name) as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, name)
    return propose_query_change(
        store,
        reviewer,
        key,
        item_id=item_of(store, query),
        shown=shown(store, query),
        change=change,
        words=words,
    )


def states(store: Store) -> list[ProposalState]:
    with store.read() as connection:
        return [one.state for issue in read_query_issues(connection) for one in issue.proposals]


def versions(store: Store, query: str = "q1") -> int:
    version, named = table(QueryVersion), table(Query)
    statement = (
        sa.select(sa.func.count())
        .select_from(version)
        .join(named, named.c.id == version.c.query_id)
        .where(named.c.external_id == query)
    )
    with store.read() as connection:
        return int(connection.execute(statement).scalar_one())


def labels(store: Store) -> int:
    with store.read() as connection:
        return len(labels_in_force(connection, items_of_pool(1)))


EU = QueryChange("support", {"region": "EU"})


def test_a_proposal_changes_nothing_and_a_replay_counts_once(queue: Store) -> None:
    before = labels(queue)
    assert propose(queue, "ana", "k1", EU, words="it says so")
    assert not propose(queue, "ana", "k1", EU)
    assert (versions(queue), labels(queue)) == (1, before)
    assert shown(queue, "q1").conditions == {}
    with queue.read() as connection:
        [issue] = read_query_issues(connection)
    [proposal] = issue.proposals
    assert (issue.query, issue.text, issue.reviewers) == ("q1", QUERIES["q1"], ("ana",))
    assert proposal.differences == (("domain", None, "support"), ("region", None, "EU"))
    assert (proposal.words, proposal.state) == ("it says so", ProposalState.OPEN)


def test_what_was_shown_must_still_be_so_and_something_must_change(queue: Store) -> None:
    was = shown(queue, "q1")
    with pytest.raises(ConflictError, match="like that already"):
        propose(queue, "ana", "k0", QueryChange(None, {}))
    correct_query(queue, QueryCorrection("q1", domain="support"), "filed wrong")
    with pytest.raises(ConflictError, match="changed while it was on the screen"):
        propose_query_change(queue, 1, "k", item_id=item_of(queue, "q1"), shown=was, change=EU)


def test_applying_takes_labels_that_were_given_under_other_conditions_out_of_force(
    queue: Store,
) -> None:
    propose(queue, "ana", "k1", EU)
    propose(queue, "bo", "k2", EU)
    propose(queue, "cy", "k3", QueryChange("sales", {}))
    before = labels(queue)
    done = correct_query(queue, QueryCorrection("q1", proposal=1), "ana is right")
    assert done.differences == (("domain", None, "support"), ("region", None, "EU"))
    assert (done.version, versions(queue)) == (2, 2)
    assert len(done.judgments) == len(done.decisions) == len(done.items) == before - labels(queue)
    assert shown(queue, "q1") == BlindQuery(QUERIES["q1"], None, {"region": "EU"}, None, "support")
    assert states(queue) == [
        ProposalState.APPLIED,
        ProposalState.APPLIED,
        ProposalState.OVERTAKEN,
    ]
    assert len(set(rebuild(queue))) == 1
    routed = route_pool(queue, "p", UNCALIBRATED)
    assert routed.reasons["not_judged"] == len(done.items)


def test_a_domain_changes_where_an_item_is_found_and_no_label(queue: Store) -> None:
    before = labels(queue)
    done = correct_query(queue, QueryCorrection("q1", domain="billing"), "filed wrong")
    assert (done.judgments, done.decisions, labels(queue)) == ((), (), before)
    place = table(Assignment)
    of_query = sa.select(place.c.domain).where(place.c.item_id.in_([*range(1, 40)]))
    with queue.read() as connection:
        assert set(connection.execute(of_query).scalars()) <= {"", "billing"}
    kept = correct_query(
        queue, QueryCorrection("q1", conditions={"region": "EU"}, keep_labels=True), "spelt out"
    )
    assert (kept.version, kept.judgments, labels(queue)) == (3, (), before)


def test_conditions_are_taken_away_and_nothing_else_of_a_query_changes(
    queue: Store, own_folder: Path
) -> None:
    rich: dict[str, object] = {
        "_id": "q1",
        "text": QUERIES["q1"],
        "need": "the rule",
        "language": "en",
        "slices": ["hard", "asked"],
        "weight": 2.5,
        "origin": "manual",
        "conversation": "c7",
        "required_evidence": [["return-30"], ["c03", "c04"]],
        "region": "EU",
        "date": "2026-07-01",
    }
    file = write_jsonl(own_folder / "rich.jsonl", [rich])
    import_queries(queue, [file], QueryOptions(update=True))
    correct_query(queue, QueryCorrection("q1", conditions={"region": ""}), "anywhere")
    del rich["region"]
    again = write_jsonl(own_folder / "again.jsonl", [rich])
    report = import_queries(queue, [again], QueryOptions())
    assert report.counts["updated"] == 0
    with pytest.raises(InputError):
        import_queries(queue, [file], QueryOptions())


def test_a_proposal_is_declined_and_answered_once(queue: Store) -> None:
    propose(queue, "ana", "k1", EU)
    decline_proposal(queue, "q1", 1, "the EU is meant anyway")
    assert (states(queue), versions(queue)) == ([ProposalState.DECLINED], 1)
    for again in (QueryCorrection("q1", proposal=1),):
        with pytest.raises(ConflictError, match="answered or overtaken"):
            correct_query(queue, again, "after all")
    with pytest.raises(ConflictError, match="answered or overtaken"):
        decline_proposal(queue, "q1", 1, "again")


def test_what_cannot_be_corrected_is_told(queue: Store) -> None:
    propose(queue, "ana", "k1", EU)
    with queue.read() as connection:
        with pytest.raises(UsageError, match="nothing would change"):
            plan_query(connection, QueryCorrection("q1", domain=""))
        with pytest.raises(UsageError, match="YYYY-MM-DD"):
            plan_query(connection, QueryCorrection("q1", conditions={"date": "July"}))
        with pytest.raises(NotFoundError, match="no query 'q9'"):
            plan_query(connection, QueryCorrection("q9", domain="x"))
        with pytest.raises(NotFoundError, match="no proposal 1 for this query"):
            plan_query(connection, QueryCorrection("q2", proposal=1))
        planned = plan_query(connection, QueryCorrection("q1", proposal=1))
    assert (planned.version, versions(queue)) == (2, 1)
    with pytest.raises(UsageError, match="needs a reason"):
        correct_query(queue, QueryCorrection("q1", proposal=1), " ")
