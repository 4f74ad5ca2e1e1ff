"""What is known of queries, now or at a revision: slices, weight, groups, what an answer needs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.queries import Origin, Query, QueryVersion

__all__ = [
    "GROUP_KEYS",
    "SINGLE_POSITIVE",
    "AskedBy",
    "QueryFacts",
    "one_origin",
    "read_query_facts",
]

GROUP_KEYS = ("conversation", "template", "entity", "source_document")
"""The four keys that tell where a query comes from."""


class AskedBy(StrEnum):
    """Who wrote queries: figures of the two are never pooled."""

    PEOPLE = "people"
    GENERATOR = "synthetic"


SINGLE_POSITIVE = "single-positive"
"""The slice of generated queries with one known relevant evidence; nobody looked for others."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """One query as it stands.

    Attributes:
        key: The query's key.
        name: Its id in files.
        domain: Its domain, or None.
        language: Its language, or None.
        slices: The slices that it was put in.
        weight: Its share of production, 0 or more, on any scale.
        origin: Where it comes from; None when only a run or a label named it.
        group_keys: Its provenance, by the names of `GROUP_KEYS`.
        required_evidence: Groups of evidence ids, of each of which an answer needs one.
    """

    key: int
    name: str
    domain: str | None = None
    language: str | None = None
    slices: tuple[str, ...] = ()
    weight: float = 1.0
    origin: Origin | None = None
    group_keys: Mapping[str, str] = field(default_factory=dict)
    required_evidence: tuple[tuple[str, ...], ...] = ()

    @property
    def asked_by(self) -> AskedBy:
        """Who wrote it; what only a run or a label named is taken for a person's."""
        return AskedBy.GENERATOR if self.origin is Origin.SYNTHETIC else AskedBy.PEOPLE

    @property
    def all_slices(self) -> tuple[str, ...]:
        """The slices it belongs to: its own by name, ``domain:NAME`` and ``language:TAG``."""
        domain = [f"domain:{self.domain}"] if self.domain else []
        language = [f"language:{self.language}"] if self.language else []
        return tuple(sorted({*self.slices, *domain, *language}))


def read_query_facts(connection: Connection, as_of: int | None = None) -> dict[int, QueryFacts]:
    """Read every query of the project, by key; the version in force counts.

    Args:
        connection: An open connection.
        as_of: A revision; None is the present.
    """
    query, version = table(Query), table(QueryVersion)
    names = connection.execute(sa.select(query.c.id, query.c.external_id).order_by(query.c.id))
    found = {int(key): QueryFacts(int(key), str(name)) for key, name in names}
    statement = sa.select(version).order_by(version.c.query_id, version.c.version)
    if as_of is not None:
        statement = statement.where(version.c.revision_id <= as_of)
    for row in connection.execute(statement):
        found[row.query_id] = QueryFacts(
            key=row.query_id,
            name=found[row.query_id].name,
            domain=row.domain,
            language=row.language,
            slices=tuple(json.loads(row.slices)),
            weight=row.weight,
            origin=Origin(row.origin),
            group_keys=json.loads(row.group_keys),
            required_evidence=tuple(tuple(group) for group in json.loads(row.required_evidence)),
        )
    return found


def one_origin(
    queries: Collection[int], facts: Mapping[int, QueryFacts], wanted: AskedBy | None = None
) -> AskedBy:
    """Tell whose queries a figure is over, since those of people and of generators never mix.

    Args:
        queries: The keys of all that could count.
        facts: What is known of each.
        wanted: Whose are asked for; by default those of people, or a generator's where there are
            no others.
    """
    if wanted is not None:
        return wanted
    generated = queries and all(facts[key].asked_by is AskedBy.GENERATOR for key in queries)
    return AskedBy.GENERATOR if generated else AskedBy.PEOPLE
