"""What the lead's screens read: one view for each tab, read in a thread of its own.

The database is loaded where it is used, so that the first paint doesn't wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from labeler.pools.show import PoolView
    from labeler.queue.counts import QueueCounts
    from labeler.queue.disputes import DisputedItem
    from labeler.queue.forecast import Forecast
    from labeler.queue.holdings import Holding
    from labeler.queue.progress import Progress
    from labeler.queue.repeats import ReviewerSteadiness
    from labeler.reports.pairs import PairAgreement
    from labeler.reports.reliability import ConfidenceReliability
    from labeler.store.database import Store

__all__ = [
    "AgreementView",
    "ConfidenceView",
    "CoverageView",
    "DisputesView",
    "HeldView",
    "ProgressView",
    "QueueView",
    "Tab",
    "View",
    "read_view",
]

_POOLS = 5
"""Without a pool that is asked for, coverage is shown of so many pools, the newest first."""


class Tab(StrEnum):
    """What a tab shows."""

    QUEUE = "queue"
    PROGRESS = "progress"
    AGREEMENT = "agreement"
    CONFIDENCE = "confidence"
    COVERAGE = "coverage"
    HELD = "held"
    DISPUTES = "disputes"


@dataclass(frozen=True, slots=True)
class QueueView:
    """What waits, and why."""

    counts: QueueCounts


@dataclass(frozen=True, slots=True)
class ProgressView:
    """How fast the queue empties."""

    progress: Progress
    forecasts: tuple[Forecast, ...] = ()


@dataclass(frozen=True, slots=True)
class AgreementView:
    """How far assessors agree on blind votes.

    Attributes:
        reviewers: Each two reviewers.
        judges: Each judge with what people together say.
        reviewers_and_judges: Each reviewer with each judge.
        repeats: Each reviewer with their own first answers, by hidden repeats.
        why_not: Why there is nothing to compare, or empty.
        notices: What should be known beside the numbers.
    """

    reviewers: tuple[PairAgreement, ...] = ()
    judges: tuple[PairAgreement, ...] = ()
    reviewers_and_judges: tuple[PairAgreement, ...] = ()
    repeats: tuple[ReviewerSteadiness, ...] = ()
    why_not: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """Whether judges' confidence keeps its word."""

    judges: tuple[ConfidenceReliability, ...]


@dataclass(frozen=True, slots=True)
class CoverageView:
    """How far what each run returned is judged."""

    pools: tuple[PoolView, ...]


@dataclass(frozen=True, slots=True)
class HeldView:
    """Who holds what, as of a time in UTC."""

    held: tuple[Holding, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class DisputesView:
    """What is disputed."""

    items: tuple[DisputedItem, ...]


View = (
    QueueView
    | ProgressView
    | AgreementView
    | ConfidenceView
    | CoverageView
    | HeldView
    | DisputesView
)


def read_view(store: Store, tab: Tab, *, lead: str, pool: str | None) -> View:
    """Read what a tab shows, in a transaction that writes nothing.

    Args:
        store: The project.
        tab: What is asked for.
        lead: Who asks: the list of disputes says which are the person's own.
        pool: Look at this pool only.

    Raises:
        NotFoundError: When there is no such pool.
        StoreError: When the database can't be read.
    """
    from labeler.store.registry import pool_named

    now = store.clock()
    with store.read() as connection:
        key = None if pool is None else int(pool_named(connection, pool).id)
        match tab:
            case Tab.QUEUE:
                from labeler.queue.counts import count_queue

                return QueueView(count_queue(connection, key))
            case Tab.PROGRESS:
                from labeler.queue.forecast import read_forecasts
                from labeler.queue.progress import read_progress

                return ProgressView(
                    read_progress(connection, now=now, pool_id=key),
                    read_forecasts(connection, pool_id=key, calibrated_only=True),
                )
            case Tab.AGREEMENT:
                return _agreement(connection, pool, key)
            case Tab.CONFIDENCE:
                from labeler.reports.reliability import read_reliability

                return ConfidenceView(read_reliability(connection, pool))
            case Tab.COVERAGE:
                return _coverage(connection, pool)
            case Tab.HELD:
                from labeler.queue.holdings import read_holdings

                return HeldView(read_holdings(connection, key), now)
            case Tab.DISPUTES:
                from labeler.queue.disputes import list_disputes

                who = _person(connection, lead)
                return DisputesView(list_disputes(connection, who, now=now, pool_id=key))


def _person(connection: Connection, name: str) -> int | None:
    import sqlalchemy as sa

    from labeler.records import table
    from labeler.records.scales import Assessor, AssessorKind

    assessor = table(Assessor)
    statement = sa.select(assessor.c.id).where(
        assessor.c.kind == AssessorKind.PERSON.value, assessor.c.name == name
    )
    return connection.execute(statement).scalar()


def _agreement(connection: Connection, pool: str | None, pool_id: int | None) -> AgreementView:
    from labeler.errors import NotFoundError
    from labeler.queue.repeats import read_steadiness
    from labeler.records.scales import AssessorKind
    from labeler.reports.agreement import report_agreement
    from labeler.reports.answers import PEOPLE

    repeats = read_steadiness(connection, pool_id)
    try:
        every = report_agreement(connection, pool=pool)
    except NotFoundError as error:
        return AgreementView(repeats=repeats, why_not=error.message)
    people = {one.name for one in every.assessors if one.kind == AssessorKind.PERSON.value}
    shared = [pair for pair in every.pairs if pair.common]
    try:
        judges = report_agreement(connection, against=PEOPLE, pool=pool)
    except NotFoundError:  # no judge has labelled anything
        with_people: tuple[PairAgreement, ...] = ()
        notices: tuple[str, ...] = ()
    else:
        with_people, notices = judges.pairs, judges.notices
    return AgreementView(
        reviewers=tuple(pair for pair in shared if {pair.first, pair.second} <= people),
        judges=tuple(pair for pair in with_people if pair.common),
        reviewers_and_judges=tuple(
            pair for pair in shared if len({pair.first, pair.second} & people) == 1
        ),
        repeats=repeats,
        notices=tuple(dict.fromkeys((*every.notices, *notices))),
    )


def _coverage(connection: Connection, pool: str | None) -> CoverageView:
    import sqlalchemy as sa

    from labeler.pools.show import show_pool
    from labeler.records import table
    from labeler.records.pools import Pool

    named = table(Pool)
    newest = sa.select(named.c.name).order_by(named.c.id.desc()).limit(_POOLS)
    names = [pool] if pool is not None else [name for (name,) in connection.execute(newest)]
    return CoverageView(tuple(show_pool(connection, name) for name in names))
