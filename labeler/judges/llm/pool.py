"""A pool as a language model is asked about it: read in parts, with what is known of each item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.reading import blocks_of
from labeler.judges.llm.judge import LlmJudge, Question
from labeler.labels import Outcome
from labeler.providers.batch_ledger import lines_under_way
from labeler.providers.ledger import KnownAnswer, answers_to
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.pools import Candidate, Item
from labeler.records.project import Text
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force
from labeler.store.registry import pool_named

__all__ = ["PART", "Demand", "PoolToJudge", "Standing", "demands", "pool_to_judge"]

_CLOSED = (Outcome.JUDGED, Outcome.ABSTAINED)
PART = 100
"""Items in a part."""


@dataclass(frozen=True, slots=True)
class PoolToJudge:
    """Which items of which pool: keys only, so that a pool of any size fits in memory."""

    pool_id: int
    name: str
    digest: str
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an item stands with a judge.

    Attributes:
        closed: Answers in force: judged or abstained.
        lost: How its other answers in force ended.
        asked: All closed answers, withdrawn ones too: so many samples are used up.
        numbered: The next free sample number.
    """

    closed: int = 0
    lost: tuple[Outcome, ...] = ()
    asked: int = 0
    numbered: int = 0

    def missing(self, samples: int) -> int:
        """Tell how many answers the item lacks, whatever came of those it was asked for."""
        return max(samples - self.closed, 0)

    def wanted(self, samples: int, retry: frozenset[Outcome]) -> int:
        """Tell how many answers are to be asked for.

        Args:
            samples: How many the judge is to give.
            retry: Take up only what ended so; empty takes up what was never asked.
        """
        missing = self.missing(samples)
        if retry:
            return missing if any(outcome in retry for outcome in self.lost) else 0
        return max(missing - len(self.lost), 0)


@dataclass(frozen=True, slots=True)
class Demand:
    """An item to be judged.

    Attributes:
        question: What is asked.
        standing: Where it stands.
        wanted: How many answers are to be asked for; 0 for an item that is known.
        known: Answers to its requests that are in the ledger, by digest.
        waits: Whether a request of it is a line of a provider's batch that is under way; then
            nothing is asked for.
    """

    question: Question
    standing: Standing
    wanted: int
    known: Mapping[str, Sequence[KnownAnswer]] = field(default_factory=dict)
    waits: bool = False


def pool_to_judge(connection: Connection, name: str) -> PoolToJudge:
    """Read which items of a pool can be judged, query by query: those that have a text.

    Raises:
        NotFoundError: When there is no such pool.
    """
    item, candidate, text = table(Item), table(Candidate), table(Text)
    row = pool_named(connection, name)
    statement = (
        sa.select(item.c.id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .join(text, text.c.id == item.c.text_id)
        .where(candidate.c.pool_id == row.id, text.c.body != "")
        .order_by(item.c.query_id, item.c.id)
    )
    items = tuple(int(key) for (key,) in connection.execute(statement))
    return PoolToJudge(int(row.id), name, row.digest, items)


def demands(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    *,
    retry: frozenset[Outcome] = frozenset(),
    share: tuple[int, int] = (0, 1),
    collecting: bool = False,
) -> Iterator[list[Demand]]:
    """Go through a pool in parts of a hundred items.

    Items without a text are left out.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        retry: Take up only items that ended so.
        share: Which share of how many: by the digest of the request, so that one request is never
            in two shares.
        collecting: Want whatever an item lacks, since what is at hand costs nothing.
    """
    number, shares = share
    for start in range(0, len(pool.items), PART):
        part = pool.items[start : start + PART]
        with store.read() as connection:
            questions = [
                judge.question(block.query, item, block.rubric)
                for block in blocks_of(connection, part, seed=pool.digest)
                for item in block.items
            ]
            questions = [one for one in questions if int(one.digest[:8], 16) % shares == number]
            standings = _standings(connection, judge, questions)
            unasked = Standing(numbered=0 if judge.occasion == 1 else judge.occasion)
            found = [standings.get(one.item.item_id, unasked) for one in questions]
            wanted = [
                one.missing(judge.samples) if collecting else one.wanted(judge.samples, retry)
                for one in found
            ]
            open_digests = sorted(
                {
                    request.digest
                    for one, count in zip(questions, wanted, strict=True)
                    if count
                    for request in one.requests
                }
            )
            known = answers_to(connection, open_digests)
            in_batch = frozenset() if collecting else lines_under_way(connection, open_digests)
        yield [
            Demand(question, standing, 0 if waits else count, known, waits)
            for question, standing, count in zip(questions, found, wanted, strict=True)
            for waits in [any(one.digest in in_batch for one in question.requests)]
        ]


def _standings(
    connection: Connection, judge: LlmJudge, questions: Sequence[Question]
) -> dict[int, Standing]:
    judgment, assessor = table(Judgment), table(Assessor)
    digests = {one.item.item_id: one.digest for one in questions}
    statement = (
        sa.select(
            judgment.c.item_id,
            judgment.c.request_digest,
            judgment.c.outcome,
            judgment.c.sample,
            judgment.c.occasion,
            judgments_in_force().label("stands"),
        )
        .join(assessor, assessor.c.id == judgment.c.assessor_id)
        .where(
            is_one_of(connection, judgment.c.item_id, list(digests)),
            assessor.c.kind == AssessorKind.LLM.value,
            assessor.c.name == judge.name,
            assessor.c.digest == judge.digest,
        )
    )
    rows: dict[int, list[_Given]] = defaultdict(list)
    for item, digest, *given in connection.execute(statement):
        if digests[item] == digest:
            rows[item].append(_Given(*given))
    return {item: _standing(found, judge.occasion) for item, found in rows.items()}


class _Given(NamedTuple):
    """An answer of the judge on an item."""

    outcome: str
    sample: int
    occasion: str
    stands: int


def _standing(given: Sequence[_Given], occasion: int) -> Standing:
    """Tell where an item stands on an occasion.

    After the first, an answer's sample number is that of its occasion. The answers of all
    occasions use up those in the ledger, so that what is asked again is asked anew.
    """
    first = [one for one in given if one.occasion == Occasion.FIRST.value]
    asked = sum(one.outcome in _CLOSED for one in given)
    if occasion > 1:
        known = [one for one in given if one not in first and one.sample == occasion]
        closed = sum(bool(one.stands) for one in known)
        return Standing(closed=closed, asked=asked, numbered=occasion)
    return Standing(
        closed=sum(bool(one.stands) and one.outcome in _CLOSED for one in first),
        lost=tuple(Outcome(o.outcome) for o in first if o.stands and o.outcome not in _CLOSED),
        asked=asked,
        numbered=1 + max((one.sample for one in first), default=-1),
    )
