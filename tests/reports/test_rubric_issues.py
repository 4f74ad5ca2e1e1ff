"""Where the rubric was marked as unclear, with levels, queries, words and notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.errors import NotFoundError
from labeler.queue.adjudication import decide, mark_rubric_unclear
from labeler.queue.dispute_access import look
from labeler.queue.sitting.session import ReviewSession
from labeler.reports.rubric_issues import RubricIssue, read_rubric_issues, summarize_rubrics
from labeler.store.database import Store
from tests.disputed import FULLY, NOT, NOTE, blind_vote, disputed_project, key, person
from tests.small import QUERIES


def issues(store: Store, pool: str | None = None) -> tuple[RubricIssue, ...]:
    with store.read() as connection:
        return read_rubric_issues(connection, pool)


@pytest.fixture
def marked(store: Store, own_folder: Path) -> list[int]:
    """Two disputes on which the lead marked the rubric; give their items."""
    items = disputed_project(store, own_folder, votes=3)
    lead = person(store, "lea")
    for item, words in zip(items, ("when is a rule partly met?", ""), strict=False):
        blind_vote(store, "lea", item, NOT)
        mark_rubric_unclear(store, lead, look(store, lead, item, key()), words, key())
    return items[:2]


def test_each_marked_item_with_levels_words_and_notes(store: Store, marked: list[int]) -> None:
    last, first = issues(store, "p")
    assert first.words == ("when is a rule partly met?",)
    assert last.words == ()
    for one in (first, last):
        assert dict(one.levels) == {"not_relevant": 2, "fully_relevant": 1}
        assert one.notes == (NOTE,)
        assert one.marked_by == ("lea",)
        assert one.is_disputed
        assert QUERIES[one.query] == one.query_text
        assert one.rubric == "relevance"


def test_rubrics_are_summed_up(store: Store, marked: list[int]) -> None:
    (one,) = summarize_rubrics(issues(store))
    assert one.items == 2
    assert one.queries == len({issue.query for issue in issues(store)})
    assert one.levels_confused == {"not_relevant / fully_relevant": 2}


def test_a_flag_of_a_reviewer_counts_too_and_other_flags_do_not(
    store: Store, own_folder: Path
) -> None:
    disputed_project(store, own_folder)
    session = ReviewSession(store, "ana")
    session.note("rubric unclear: what is a fact?", is_flag=True)
    session.vote(FULLY)
    session.note("rubric unclearness is no reason", is_flag=True)
    session.vote(FULLY)
    session.note("rubric unclear", is_flag=False)
    session.close()
    (one,) = issues(store)
    assert (one.words, one.marked_by, one.is_disputed) == (("what is a fact?",), ("ana",), False)


def test_what_was_decided_since_is_told_as_settled(store: Store, marked: list[int]) -> None:
    lead = person(store, "lea")
    decide(store, lead, look(store, lead, marked[0], key()), FULLY, key())
    assert sorted(one.is_disputed for one in issues(store)) == [False, True]


def test_nothing_is_marked(store: Store, own_folder: Path) -> None:
    assert issues(store) == ()
    assert summarize_rubrics(()) == ()
    disputed_project(store, own_folder)
    assert issues(store, "p") == ()
    with pytest.raises(NotFoundError):
        issues(store, "nowhere")
