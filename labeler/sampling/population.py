"""The population of a sample: a pool's unknown items, and what is known of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.item_scores import latest_scores
from labeler.assessment.label_states import is_of_people, state_at
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.samples import JudgeAnswer, latest_answers
from labeler.errors import NotFoundError, UsageError
from labeler.labels import Grade, Outcome, State
from labeler.records import table
from labeler.records.pools import Candidate, Contribution, Item, PoolQuery, PoolRun
from labeler.records.queries import QueryVersion
from labeler.records.runs import Run
from labeler.retrieval.query_facts import one_origin, read_query_facts
from labeler.sampling.strata import FrameUnit
from labeler.store.registry import pool_named
from labeler.store.slices import slices_of_items

__all__ = [
    "MOST_RUNS",
    "Comparison",
    "Population",
    "judgeable_items",
    "ranks_of",
    "read_population",
    "sampled_queries",
]

MOST_RUNS = 4
"""More runs would part the frame into more groups than a sample can fill."""

_CANDIDATE, _ITEM = table(Candidate), table(Item)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a sample is to tell.

    Attributes:
        pool: The pool's name.
        runs: The runs that are compared, one to four; the first is compared with each other one.
        k: The cutoff.
        least: The least grade that counts as relevant, fully or partially.
    """

    pool: str
    runs: tuple[str, ...]
    k: int
    least: Grade = Grade.PARTIALLY_RELEVANT

    def state(self, grade: Grade | None) -> State:
        """Tell what a grade comes to."""
        return state_at(grade, self.least)


@dataclass(frozen=True, eq=False)
class Population:
    """A pool, parted into what is known, what a sample can be drawn from, and the rest.

    Attributes:
        pool_id: The pool's key.
        comparison: What is to be told; its runs are all there.
        queries: Queries of the pool, all of them people's or all of them generated.
        depth: To which depth the pool was made.
        units: The unknown items that people can judge: the frame.
        known: Labelled items, by the runs that have them in their top k.
        known_relevant: Those that are relevant, likewise.
        abstained: Items of which people said that they can't be judged.
        without_text: Items that nobody can judge.
        score_version: The digest of the scores behind the probabilities, or None.
        is_calibrated: Whether those are calibrated on people's labels.
        other_queries: The pool's queries of the other kind, which no sample mixes with them.
    """

    pool_id: int
    comparison: Comparison
    queries: int
    depth: int
    units: tuple[FrameUnit, ...]
    known: Mapping[tuple[str, ...], int]
    known_relevant: Mapping[tuple[str, ...], int]
    abstained: int
    without_text: int
    score_version: str | None
    is_calibrated: bool
    other_queries: int = 0

    @property
    def rates(self) -> dict[tuple[str, ...], float]:
        """The share of relevant items among the known, by who retrieved them, drawn to a half."""
        return {
            who: (self.known_relevant.get(who, 0) + 0.5) / (count + 1)
            for who, count in self.known.items()
        }


def read_population(connection: Connection, comparison: Comparison) -> Population:
    """Read the population of a sample.

    Raises:
        NotFoundError: When there is no such pool, or a run isn't in it.
        UsageError: When the runs can't be compared at k within the pool.
    """
    pool = pool_named(connection, comparison.pool)
    runs = _runs(connection, pool, comparison)
    comparison = Comparison(comparison.pool, tuple(runs), comparison.k, comparison.least)
    ranks = ranks_of(connection, pool.id, runs)
    labels = labels_in_force(connection, items_of_pool(pool.id))
    queries, others = sampled_queries(connection, pool.id)
    known: Counter[tuple[str, ...]] = Counter()
    relevant: Counter[tuple[str, ...]] = Counter()
    unknown: list[int] = []
    abstained = without_text = 0
    for item, can_be_judged in judgeable_items(connection, pool.id, queries).items():
        label = labels.get(item)
        if label is not None and is_of_people(label):
            who = _retrieved(ranks.get(item, {}), comparison)
            judged = label.outcome is Outcome.JUDGED
            abstained += not judged
            known[who] += judged
            relevant[who] += comparison.state(label.grade) is State.RELEVANT
        elif can_be_judged:
            unknown.append(item)
        else:
            without_text += 1
    scores = latest_scores(connection, pool.id)
    return Population(
        pool_id=int(pool.id),
        comparison=comparison,
        queries=len(queries),
        depth=int(pool.depth),
        units=_units(connection, pool.id, unknown, ranks, comparison),
        known=known,
        known_relevant=relevant,
        abstained=abstained,
        without_text=without_text,
        score_version=None if scores is None else scores.digest,
        is_calibrated=scores is not None and scores.is_calibrated,
        other_queries=len(others),
    )


def _is_run(connection: Connection, pool: Any, name: str) -> bool:
    run = table(Run)
    statement = sa.select(run.c.id).where(run.c.snapshot_id == pool.snapshot_id, run.c.name == name)
    return connection.execute(statement).first() is not None


def _runs(connection: Connection, pool: Any, comparison: Comparison) -> dict[str, int]:
    """Give the compared runs' keys, in the order in which they are named."""
    run, part = table(Run), table(PoolRun)
    statement = (
        sa.select(run.c.name, run.c.id, part.c.depth)
        .join(part, part.c.run_id == run.c.id)
        .where(part.c.pool_id == pool.id)
        .order_by(run.c.name)
    )
    pooled = {
        str(name): (int(key), int(depth)) for name, key, depth in connection.execute(statement)
    }
    wanted = comparison.runs or tuple(pooled)
    for name in wanted:
        if name not in pooled:
            if not _is_run(connection, pool, name):
                raise NotFoundError(
                    f"no run is called '{name}'",
                    hint=f"the pool '{comparison.pool}' has {', '.join(pooled)}",
                )
            raise NotFoundError(
                f"the pool '{comparison.pool}' was not made from the run '{name}'",
                hint=f"it has {', '.join(pooled)}; what another run found needs a pool with it: "
                f"labeler pool create NAME --runs {name} --extends {comparison.pool}",
            )
    if not 1 <= len(set(wanted)) <= MOST_RUNS or len(set(wanted)) < len(wanted):
        raise UsageError(
            f"a sample compares 1 to {MOST_RUNS} different runs, not {len(wanted)}",
            hint=f"name them: --runs A --runs B; the pool has {', '.join(pooled)}",
        )
    for name in wanted:
        if not 1 <= comparison.k <= pooled[name][1]:
            raise UsageError(
                f"the pool holds the top {pooled[name][1]} of '{name}', so k can't be "
                f"{comparison.k}",
                hint=f"--k {pooled[name][1]}, or a deeper pool",
            )
    return {name: pooled[name][0] for name in wanted}


def ranks_of(
    connection: Connection, pool_id: int, runs: Mapping[str, int]
) -> dict[int, dict[str, int]]:
    """Give each item's rank in some runs, as the pool holds them."""
    part = table(Contribution)
    names = {key: name for name, key in runs.items()}
    statement = (
        sa.select(_CANDIDATE.c.item_id, part.c.run_id, part.c.rank)
        .join(part, part.c.candidate_id == _CANDIDATE.c.id)
        .where(_CANDIDATE.c.pool_id == pool_id, part.c.run_id.in_(list(names)))
    )
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for item, run, rank in connection.execute(statement):
        found[int(item)][names[int(run)]] = int(rank)
    return dict(found)


def _retrieved(ranks: Mapping[str, int], comparison: Comparison) -> tuple[str, ...]:
    return tuple(name for name in comparison.runs if 0 < ranks.get(name, 0) <= comparison.k)


def sampled_queries(connection: Connection, pool_id: int) -> tuple[frozenset[int], frozenset[int]]:
    """Give the queries of a pool that a sample of it speaks of, and those that it leaves out.

    Those of people; generated ones where there are no others.
    """
    asked = sa.select(table(PoolQuery).c.query_id).where(table(PoolQuery).c.pool_id == pool_id)
    pooled = {int(key) for key in connection.execute(asked).scalars()}
    facts = read_query_facts(connection)
    whose = one_origin(pooled, facts)
    counted = frozenset(key for key in pooled if facts[key].asked_by is whose)
    return counted, frozenset(pooled - counted)


def judgeable_items(
    connection: Connection, pool_id: int, queries: Collection[int]
) -> dict[int, bool]:
    """Tell for each item of some queries whether people can judge it: both have texts."""
    with_text = sa.select(table(QueryVersion).c.query_id)
    statement = (
        sa.select(
            _ITEM.c.id,
            _ITEM.c.text_id.is_not(None) & _ITEM.c.query_id.in_(with_text),
            _ITEM.c.query_id,
        )
        .join(_CANDIDATE, _CANDIDATE.c.item_id == _ITEM.c.id)
        .where(_CANDIDATE.c.pool_id == pool_id)
        .order_by(_ITEM.c.id)
    )
    rows = connection.execute(statement)
    return {int(key): bool(available) for key, available, query in rows if query in queries}


def _units(
    connection: Connection,
    pool_id: int,
    items: Sequence[int],
    ranks: Mapping[int, Mapping[str, int]],
    comparison: Comparison,
) -> tuple[FrameUnit, ...]:
    domains = slices_of_items(connection, items)
    answers = latest_answers(connection, pool_id)
    scores = latest_scores(connection, pool_id)
    by_item = {} if scores is None else scores.by_item()
    found = []
    for item in items:
        retrieved = _retrieved(ranks.get(item, {}), comparison)
        worst = by_item.get(item)
        chance = None
        if worst is not None:
            full = comparison.least is Grade.FULLY_RELEVANT
            chance = worst[2] if full else worst[1] + worst[2]
        found.append(
            FrameUnit(
                item_id=item,
                retrieved=retrieved,
                is_deeper=not retrieved and item in ranks,
                domain=domains[item][0],
                probability=chance,
                is_disputed=_is_disputed(answers.get(item, ()), comparison),
            )
        )
    return tuple(found)


def _is_disputed(answers: Sequence[JudgeAnswer], comparison: Comparison) -> bool:
    states = {comparison.state(one.grade) for one in answers if one.grade is not None}
    return len(states) > 1
