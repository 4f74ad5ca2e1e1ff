"""What a sitting takes: the items of a pool, of a domain, in a language."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, FromClause

from labeler.errors import NotFoundError
from labeler.records import table
from labeler.records.pools import Candidate
from labeler.store.registry import pool_named
from labeler.store.slices import Slice, known_slices

__all__ = ["EVERYTHING", "QueueFilter", "queue_filter"]

_CANDIDATE = table(Candidate)


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which of the items that wait are taken.

    Attributes:
        pool_id: The items of this pool only; None takes all.
        slices: Those of these domains and languages only; None takes all.
    """

    pool_id: int | None = None
    slices: tuple[Slice, ...] | None = None

    def takes(self, wanted: FromClause) -> list[ColumnElement[bool]]:
        """Make the conditions that a wanted vote is one of these.

        Args:
            wanted: The table of assignments, or another name of it.
        """
        conditions: list[ColumnElement[bool]] = []
        if self.pool_id is not None:
            items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == self.pool_id)
            conditions.append(wanted.c.item_id.in_(items))
        if self.slices is not None:
            conditions.append(sa.or_(sa.false(), *(_of_slice(wanted, one) for one in self.slices)))
        return conditions


EVERYTHING = QueueFilter()


def _of_slice(wanted: FromClause, one: Slice) -> ColumnElement[bool]:
    """Make the condition that a wanted vote is of a domain and language."""
    return sa.and_(wanted.c.domain == one[0], wanted.c.language == one[1])


def queue_filter(
    connection: Connection,
    *,
    pool: str | None = None,
    domain: str | None = None,
    language: str | None = None,
) -> QueueFilter:
    """Find what is asked for.

    Letter case doesn't matter where a name is known in one way only. A language takes its regional
    forms in: ``pt`` is ``pt-BR`` too (basic filtering, RFC 4647, section 3.3.1).

    Raises:
        NotFoundError: When the project knows no such pool, or no query of such a domain or
            language; the hint lists those that it knows.
    """
    key = int(pool_named(connection, pool).id) if pool is not None else None
    if domain is None and language is None:
        return QueueFilter(key)
    slices = known_slices(connection)
    if domain is not None:
        domains = {one for one, _ in slices if one}
        wanted = {domain} if domain in domains else {one for one in domains if _same(one, domain)}
        if not wanted:
            raise _unknown("domain", domain, domains)
        slices = {one for one in slices if one[0] in wanted}
    if language is not None:
        languages = {one for _, one in known_slices(connection) if one}
        wanted = {one for one in languages if _same(one, language) or _is_form_of(one, language)}
        if not wanted:
            raise _unknown("language", language, languages)
        slices = {one for one in slices if one[1] in wanted}
    return QueueFilter(key, tuple(sorted(slices)))


def _same(known: str, given: str) -> bool:
    return known.casefold() == given.strip().casefold()


def _is_form_of(tag: str, wider: str) -> bool:
    return tag.casefold().startswith(wider.strip().casefold() + "-")


def _unknown(what: str, given: str, known: set[str]) -> NotFoundError:
    listed = ", ".join(sorted(known))
    return NotFoundError(
        f"no query is of the {what} '{given}'",
        hint=f"known: {listed}" if known else f"no query has a {what}; a queries file can state it",
    )
