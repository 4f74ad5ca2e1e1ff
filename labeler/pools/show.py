"""What a pool holds, and how far it is judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.labels import Outcome
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate, Contribution, Item, PoolQuery, PoolRun
from labeler.records.runs import Run
from labeler.records.scales import RubricRecord
from labeler.store.projections import judgments_in_force
from labeler.store.registry import pool_named

__all__ = ["ItemStatus", "PoolView", "RunShare", "show_pool"]


class ItemStatus(StrEnum):
    """How far an item is judged. Only ``decided`` has a label in force."""

    DECIDED = "decided"
    JUDGED = "judged"
    ABSTAINED = "abstained"
    FAILED = "failed"
    UNJUDGED = "unjudged"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class RunShare:
    """What one run brought to a pool, and how far that is judged."""

    run: str
    role: str
    depth: int
    candidates: int
    from_it_alone: int
    by_status: Mapping[ItemStatus, int]


@dataclass(frozen=True, slots=True)
class PoolView:
    """A pool in figures.

    Attributes:
        passages: Pairs of query and chunk before evidence was collapsed.
        candidates: Pairs of query and evidence after it.
        from_one_system: Candidates that just one run brought.
        by_status: Candidates by how far they are judged.
        by_role: The same, by the role of the runs that brought them.
    """

    name: str
    digest: str
    snapshot: str
    rubric: str
    depth: int
    order: str
    queries: int
    passages: int
    candidates: int
    from_one_system: int
    by_people: int
    by_status: Mapping[ItemStatus, int]
    by_role: Mapping[str, Mapping[ItemStatus, int]]
    runs: tuple[RunShare, ...]


def show_pool(connection: Connection, name: str) -> PoolView:
    """Count what a pool holds.

    Raises:
        NotFoundError: When there is no such pool.
    """
    pool = pool_named(connection, name)
    status = item_statuses(connection, pool.id)
    brought: dict[int, set[str]] = defaultdict(set)
    candidate, contribution, run = table(Candidate), table(Contribution), table(Run)
    rows = connection.execute(
        sa.select(candidate.c.item_id, run.c.name)
        .join(contribution, contribution.c.candidate_id == candidate.c.id)
        .join(run, run.c.id == contribution.c.run_id)
        .where(candidate.c.pool_id == pool.id)
    )
    for item, by in rows:
        brought[item].add(by)
    alone = [next(iter(runs)) for runs in brought.values() if len(runs) == 1]
    shares = _shares(connection, pool.id, brought, Counter(alone), status)
    by_role = {
        role: _counted(
            status[item]
            for item, runs in brought.items()
            if runs & {share.run for share in shares if share.role == role}
        )
        for role in sorted({share.role for share in shares})
    }
    asked = table(PoolQuery)
    return PoolView(
        name=pool.name,
        digest=pool.digest,
        snapshot=_name(connection, table(Snapshot), pool.snapshot_id),
        rubric=_name(connection, table(RubricRecord), pool.rubric_id),
        depth=pool.depth,
        order=pool.order_rule,
        queries=connection.execute(
            sa.select(sa.func.count()).where(asked.c.pool_id == pool.id)
        ).scalar_one(),
        passages=pool.passages,
        candidates=len(status),
        from_one_system=len(alone),
        by_people=len(status) - len(brought),
        by_status=_counted(status.values()),
        by_role=by_role,
        runs=shares,
    )


def _counted(statuses: Iterable[ItemStatus]) -> dict[ItemStatus, int]:
    """Count, in a plain dict: `dataclasses.asdict` would copy a Counter wrongly."""
    return dict(Counter(statuses))


def _name(connection: Connection, of: sa.Table, key: int) -> str:
    return str(connection.execute(sa.select(of.c.name).where(of.c.id == key)).scalar_one())


def item_statuses(connection: Connection, pool_id: int) -> dict[int, ItemStatus]:
    """Tell how far each item of a pool is judged."""
    item, candidate, judgment = table(Item), table(Candidate), table(Judgment)
    texts = connection.execute(
        sa.select(item.c.id, item.c.text_id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
        .order_by(item.c.id)
    )
    has_text = {int(key): text is not None for key, text in texts}
    outcomes: dict[int, set[Outcome]] = defaultdict(set)
    rows = connection.execute(
        sa.select(judgment.c.item_id, judgment.c.outcome)
        .join(candidate, candidate.c.item_id == judgment.c.item_id)
        .where(candidate.c.pool_id == pool_id, judgments_in_force())
        .distinct()
    )
    for key, outcome in rows:
        outcomes[key].add(Outcome(outcome))
    labels = labels_in_force(connection, items_of_pool(pool_id))
    return {
        key: _status(available, outcomes[key], labels.get(key))
        for key, available in has_text.items()
    }


def _status(has_text: bool, outcomes: set[Outcome], label: LabelInForce | None) -> ItemStatus:
    if label is not None:
        return ItemStatus.DECIDED if label.grade is not None else ItemStatus.ABSTAINED
    if Outcome.JUDGED in outcomes:
        return ItemStatus.JUDGED
    if Outcome.ABSTAINED in outcomes:
        return ItemStatus.ABSTAINED
    if outcomes:
        return ItemStatus.FAILED
    return ItemStatus.UNJUDGED if has_text else ItemStatus.UNAVAILABLE


def _shares(
    connection: Connection,
    pool_id: int,
    brought: Mapping[int, set[str]],
    alone: Mapping[str, int],
    status: Mapping[int, ItemStatus],
) -> tuple[RunShare, ...]:
    part, run = table(PoolRun), table(Run)
    rows = connection.execute(
        sa.select(run.c.name, run.c.role, part.c.depth)
        .join(part, part.c.run_id == run.c.id)
        .where(part.c.pool_id == pool_id)
        .order_by(run.c.name)
    ).all()
    by_run: dict[str, Counter[ItemStatus]] = defaultdict(Counter)
    for item, runs in brought.items():
        for name in runs:
            by_run[name][status[item]] += 1
    return tuple(
        RunShare(
            run=name,
            role=role,
            depth=depth,
            candidates=by_run[name].total(),
            from_it_alone=alone.get(name, 0),
            by_status=dict(by_run[name]),
        )
        for name, role, depth in rows
    )
