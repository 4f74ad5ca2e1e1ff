"""The diagram of the tables: `python -m labeler.records.diagram > docs/records.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table, UniqueConstraint
from sqlalchemy.types import TypeDecorator, TypeEngine

from labeler.records import AREAS, Kind, Record, table

__all__ = ["render"]

_KINDS = {
    Kind.LOG: "append-only",
    Kind.TEXT: "append-only; a text with a tombstone may lose its body",
    Kind.PROJECTION: "derived from the log",
    Kind.WORK: "work in progress",
    Kind.CACHE: "a cache",
}


def render() -> str:
    """Write the tables as Markdown with one Mermaid diagram an area."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Records"
    yield ""
    yield "Generated from `labeler/records` by `python -m labeler.records.diagram`; a test compares"
    yield "the two. Keys are integers; beside them stands a unique natural key (UK). Tables of the"
    yield "log are append-only, and the database itself refuses to change them."
    for area in AREAS:
        models = [table(model) for model in _models(area.__name__)]
        yield ""
        yield f"## {area.__name__.rpartition('.')[2]}"
        yield ""
        yield (area.__doc__ or "").strip()
        yield ""
        yield "```mermaid"
        yield "erDiagram"
        for one in models:
            yield from _entity(one)
        yield from _relations(models)
        yield "```"
        yield ""
        for one in models:
            yield f"- `{one.name}`: {_KINDS[one.info['kind']]}"


def _models(module: str) -> list[type[Record]]:
    found = [model for model in Record.__subclasses__() if model.__module__ == module]
    return sorted(found, key=lambda model: list(vars(sys.modules[module])).index(model.__name__))


def _entity(one: Table) -> Iterator[str]:
    unique = {
        column.name
        for constraint in one.constraints
        if isinstance(constraint, UniqueConstraint)
        for column in constraint.columns
    }
    yield f"    {one.name} {{"
    for column in one.columns:
        marks = [
            mark
            for mark, holds in (
                ("PK", column.primary_key),
                ("FK", bool(column.foreign_keys)),
                ("UK", column.name in unique),
            )
            if holds
        ]
        kind = _kind(column.type)
        tail = f" {', '.join(marks)}" if marks else ""
        yield f"        {kind} {column.name}{tail}"
    yield "    }"


def _kind(of: TypeEngine[Any]) -> str:
    plain = of.impl_instance if isinstance(of, TypeDecorator) else of
    name = plain.python_type.__name__
    return {"str": "text", "datetime": "time", "bytes": "blob"}.get(name, name)


def _relations(models: list[Table]) -> Iterator[str]:
    """Draw references, those to revisions aside: nearly every table has one."""
    for one in models:
        for column in one.columns:
            for key in column.foreign_keys:
                target = key.column.table.name
                if target != "revision":
                    yield f"    {target} ||--o{{ {one.name} : {column.name.removesuffix('_id')}"


if __name__ == "__main__":
    sys.stdout.write(render())
