"""Samples of logged queries: which of what users ask is worth an evaluation, and with what weight.

Rare queries, short ones, and those that left users without a click are few in any plain sample and
most of what goes wrong; so they are strata of their own, and every drawn query keeps its
probability.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.evaluation.allocation import next_units
from labeler.evaluation.sampling import keyed_draw
from labeler.records import table
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.records.query_log import LoggedQuery, QueryDraw, QuerySample
from labeler.store.bulk import insert_rows
from labeler.store.database import Store, WriteTransaction

__all__ = [
    "DrawnQuery",
    "LoggedFacts",
    "QuerySampleOptions",
    "QuerySampleReport",
    "QueryStratum",
    "draw_queries",
    "query_strata",
]

_OFTEN = 10
_SHORT = 3
_QUERIES_A_STRATUM = 5
_LOWEST_SHARE = 0.25

_LOGGED, _SAMPLE, _DRAW = table(LoggedQuery), table(QuerySample), table(QueryDraw)


@dataclass(frozen=True, slots=True)
class QuerySampleOptions:
    """How queries are drawn.

    Attributes:
        name: What the draw is called.
        count: How many queries.
        seed: Decides what is drawn.
        domains: Only queries of these; none means all.
        low_score: Below this a mean score is low; None is the lowest quarter of those stated.
    """

    name: str
    count: int
    seed: str = "1"
    domains: tuple[str, ...] = ()
    low_score: float | None = None


@dataclass(frozen=True, slots=True)
class LoggedFacts:
    """What the logs say of one query.

    Attributes:
        key: The query's id.
        text: Its text.
        domain: Its domain, or empty.
        asked: How often it was asked.
        click_known: How many of these say whether there was a click.
        clicked: How many had one.
        mean_score: The mean of the scores that were stated, or None.
    """

    key: str
    text: str
    domain: str
    asked: int
    click_known: int = 0
    clicked: int = 0
    mean_score: float | None = None


@dataclass(frozen=True, slots=True)
class QueryStratum:
    """A stratum: its name, its queries, how often they were asked, how many are drawn."""

    name: str
    size: int
    asked: int
    drawn: int


@dataclass(frozen=True, slots=True)
class DrawnQuery:
    """A drawn query.

    Attributes:
        id: The query's id.
        text: Its text.
        domain: Its domain, or empty.
        asked: How often it was asked.
        stratum: Its stratum.
        probability: Its inclusion probability, in (0, 1].
        weight: How many asked queries it stands for: ``asked / probability``.
    """

    id: str
    text: str
    domain: str
    asked: int
    stratum: str
    probability: float
    weight: float


@dataclass(frozen=True, slots=True)
class QuerySampleReport:
    """What was drawn from the logs."""

    name: str
    frame: str
    seed: str
    strata: tuple[QueryStratum, ...]
    queries: tuple[DrawnQuery, ...]
    revision: int | None


def draw_queries(store: Store, options: QuerySampleOptions) -> QuerySampleReport:
    """Draw queries from all imported logs; the same draw again changes nothing.

    Raises:
        NotFoundError: When no log was imported, or none of its queries has such a domain.
        ConflictError: When there is another draw of that name.
        UsageError: When no query is asked for.
    """
    if options.count < 1:
        raise UsageError("--n is 1 or more")
    with store.write(f"sample queries --n {options.count} --name {options.name}") as tx:
        keys, facts = _read(tx.connection, options.domains)
        if not facts:
            raise NotFoundError(
                "there is no logged query to draw from"
                if not options.domains
                else f"no logged query has the domain {', '.join(options.domains)}",
                hint="`labeler import queries FILE --from-log`",
            )
        strata = query_strata(facts, options.count, low_score=options.low_score)
        counts = next_units(
            [len(members) for members in strata.values()], [0.5] * len(strata), options.count
        )
        drawn = [
            _drawn(members, name, options.seed, count)
            for (name, members), count in zip(strata.items(), counts, strict=True)
        ]
        report_strata = tuple(
            QueryStratum(name, len(members), sum(one.asked for one in members), count)
            for (name, members), count in zip(strata.items(), counts, strict=True)
        )
        chosen = tuple(one for part in drawn for one in part)
        where = f" of the domains {', '.join(options.domains)}" if options.domains else ""
        frame = f"{len(facts)} logged queries{where}, near duplicates taken together"
        _store(tx, options, frame, len(facts), chosen, report_strata, keys)
    return QuerySampleReport(
        options.name, frame, options.seed, report_strata, chosen, tx.made_revision
    )


def query_strata(
    facts: Sequence[LoggedFacts], count: int, *, low_score: float | None = None
) -> dict[str, list[LoggedFacts]]:
    """Part logged queries into strata, as finely as leaves 5 queries of the sample for each.

    What left users unsatisfied (never a click where clicks are known, or a low score) and how
    often it was asked part them first; then domain, then whether a query is of three words or
    fewer, which may mean several things.

    Args:
        facts: The queries.
        count: How many will be drawn.
        low_score: Below this a mean score is low; None is the lowest quarter of those stated.

    Returns:
        The queries of each stratum, by its name.
    """
    limit = low_score if low_score is not None else _lowest_quarter(facts)

    def unsatisfied(one: LoggedFacts) -> str:
        no_click = one.click_known > 0 and one.clicked == 0
        low = limit is not None and one.mean_score is not None and one.mean_score < limit
        return "no click or low score" if no_click or low else ""

    def frequency(one: LoggedFacts) -> str:
        if one.asked == 1:
            return "asked once"
        return "asked often" if one.asked >= _OFTEN else f"asked 2 to {_OFTEN - 1} times"

    def length(one: LoggedFacts) -> str:
        return "short" if len(one.text.split()) <= _SHORT else ""

    def domain(one: LoggedFacts) -> str:
        return f"domain {one.domain}" if one.domain else ""

    levels: Sequence[Sequence[Callable[[LoggedFacts], str]]] = (
        (frequency, unsatisfied, domain, length),
        (frequency, unsatisfied, domain),
        (frequency, unsatisfied),
        (frequency,),
        (),
    )
    most = max(1, count // _QUERIES_A_STRATUM)
    parts: dict[str, list[LoggedFacts]] = {}
    for level in levels:
        parts = _parted(facts, level)
        if len(parts) <= most:
            break
    return parts


def _parted(
    facts: Sequence[LoggedFacts], words: Sequence[Callable[[LoggedFacts], str]]
) -> dict[str, list[LoggedFacts]]:
    parts: dict[str, list[LoggedFacts]] = defaultdict(list)
    for one in facts:
        named = [said for word in words if (said := word(one))]
        parts["; ".join(named) or "all queries"].append(one)
    return dict(sorted(parts.items()))


def _lowest_quarter(facts: Sequence[LoggedFacts]) -> float | None:
    scores = sorted(one.mean_score for one in facts if one.mean_score is not None)
    return scores[int(len(scores) * _LOWEST_SHARE)] if scores else None


def _drawn(members: Sequence[LoggedFacts], name: str, seed: str, count: int) -> list[DrawnQuery]:
    by_key = {one.key: one for one in members}
    probability = count / len(members)
    return [
        DrawnQuery(
            key,
            by_key[key].text,
            by_key[key].domain,
            by_key[key].asked,
            name,
            probability,
            by_key[key].asked / probability,
        )
        for key in keyed_draw(seed, sorted(by_key), count)
    ]


def _read(
    connection: Connection, domains: Sequence[str]
) -> tuple[dict[str, int], list[LoggedFacts]]:
    """Give the keys of logged queries by their ids, and what all logs together say of each."""
    query, version, text = table(Query), table(QueryVersion), table(Text)
    later = version.alias("later")
    newer = sa.exists().where(
        later.c.query_id == version.c.query_id, later.c.version > version.c.version
    )
    totals = (
        sa.select(
            _LOGGED.c.query_id,
            sa.func.sum(_LOGGED.c.asked).label("asked"),
            sa.func.sum(_LOGGED.c.click_known).label("click_known"),
            sa.func.sum(_LOGGED.c.clicked).label("clicked"),
            sa.func.sum(_LOGGED.c.score_known).label("score_known"),
            sa.func.sum(_LOGGED.c.mean_score * _LOGGED.c.score_known).label("score_sum"),
        )
        .group_by(_LOGGED.c.query_id)
        .subquery()
    )
    statement = (
        sa.select(query.c.id, query.c.external_id, text.c.body, version.c.domain, totals)
        .join(totals, totals.c.query_id == query.c.id)
        .join(version, version.c.query_id == query.c.id)
        .join(text, text.c.id == version.c.text_id)
        .where(~newer)
        .order_by(query.c.external_id)
    )
    keys: dict[str, int] = {}
    facts: list[LoggedFacts] = []
    for row in connection.execute(statement):
        domain = row.domain or ""
        if row.body is None or (domains and domain not in domains):
            continue
        keys[row.external_id] = int(row.id)
        facts.append(
            LoggedFacts(
                row.external_id,
                row.body,
                domain,
                int(row.asked),
                int(row.click_known),
                int(row.clicked),
                row.score_sum / int(row.score_known) if row.score_known else None,
            )
        )
    return keys, facts


def _store(
    tx: WriteTransaction,
    options: QuerySampleOptions,
    frame: str,
    size: int,
    chosen: Sequence[DrawnQuery],
    strata: Sequence[QueryStratum],
    keys: Mapping[str, int],
) -> None:
    sizes = {one.name: one.size for one in strata}
    known = tx.connection.execute(sa.select(_SAMPLE).where(_SAMPLE.c.name == options.name)).first()
    if known is not None:
        rows = tx.connection.execute(
            sa.select(_DRAW.c.query_id, _DRAW.c.probability).where(_DRAW.c.sample_id == known.id)
        )
        before = {(int(query), float(chance)) for query, chance in rows}
        if before != {(keys[one.id], one.probability) for one in chosen}:
            raise ConflictError(
                f"there is another draw of queries called '{options.name}'",
                hint="choose another --name; the logs or the options differ from then",
            )
        return
    words = json.dumps({"frame": frame, "low_score": options.low_score}, ensure_ascii=False)
    statement = sa.insert(_SAMPLE).values(
        name=options.name,
        description=words,
        size=size,
        seed=options.seed,
        revision_id=tx.revision_id,
    )
    sample_id = int(tx.connection.execute(statement.returning(_SAMPLE.c.id)).scalar_one())
    insert_rows(
        tx.connection,
        _DRAW,
        ["sample_id", "query_id", "stratum", "stratum_size", "probability"],
        [
            (sample_id, keys[one.id], one.stratum, sizes[one.stratum], one.probability)
            for one in chosen
        ],
    )
