"""What all records share: metadata, the kinds of table, UTC times, enumerated columns."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Index, MetaData, String, Table
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel

__all__ = ["Kind", "Record", "UtcDateTime", "enumerated", "keyed", "table"]


class Kind(StrEnum):
    """What may happen to the rows of a table."""

    LOG = "log"
    """Append-only: the database refuses to update or delete them."""
    TEXT = "text"
    """Append-only, but a text with a tombstone may lose its body."""
    PROJECTION = "projection"
    """Derived from the log; `labeler db rebuild` makes them again."""
    WORK = "work"
    """Work in progress: assignments, jobs, drafts."""
    CACHE = "cache"
    """May be thrown away at any time."""


class Record(SQLModel):
    """Base of all tables."""

    metadata: ClassVar[MetaData] = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC. Naive values are refused, since nobody can tell what they mean."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; SQLite stores it without the offset."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone: {value.isoformat()}")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the signature is given
    ) -> datetime | None:
        """Give the zone back that SQLite dropped."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def enumerated(name: str, kind: type[StrEnum], *, nullable: bool = False) -> Column[Any]:
    """Make a text column that holds only the values of an enumeration."""
    values = ", ".join(f"'{member.value}'" for member in kind)
    return Column(
        name,
        String,
        CheckConstraint(f"{name} IN ({values})", name=name),
        nullable=nullable,
    )


def keyed(
    *unique: str, kind: Kind = Kind.LOG, index: tuple[tuple[str, ...], ...] = ()
) -> tuple[SchemaItem | dict[str, Any], ...]:
    """Make the arguments of a table: its natural key, its indexes, and its kind."""
    items: list[SchemaItem] = [Unique(*unique)] if unique else []
    items += [Index(None, *columns) for columns in index]
    return (*items, {"info": {"kind": kind}})


def table(model: type[Record]) -> Table:
    """Give the table of a record, for statements."""
    return Record.metadata.tables[str(model.__tablename__)]
