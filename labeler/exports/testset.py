"""A test set: each query with the passages that are known to be relevant."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.exports.assessed import chunks_of_evidence, read_assessed
from labeler.exports.scope import Scope
from labeler.formats.atomic import replacing
from labeler.formats.parquet import write_parquet
from labeler.labels import State
from labeler.records import table
from labeler.records.queries import Query, QueryVersion

__all__ = ["TestSetReport", "export_testset"]


@dataclass(frozen=True, slots=True)
class TestSetReport:
    """What was written and what was left out.

    Attributes:
        queries: Queries written.
        chunks: Relevant passages written, over all queries.
        without_relevant: Queries of the scope with no known relevant passage.
        without_text: Queries that the project has no text for.
        unknown: Items whose relevance is unknown: the test set says nothing of them.
    """

    __test__ = False  # pytest would take the name for that of a test

    queries: int
    chunks: int
    without_relevant: int
    without_text: int
    unknown: int


def export_testset(
    connection: Connection, path: Path, scope: Scope, *, only_people: bool = False
) -> TestSetReport:
    """Write ``{query, relevant_chunk_ids, domain, source}`` as JSON, or Parquet by the name.

    The source is the query's origin: historical, synthetic or manual.

    Raises:
        MissingExtraError: When Parquet is asked for and the extra is not installed.
    """
    items = read_assessed(connection, scope, only_people=only_people)
    chunks = chunks_of_evidence(connection, scope.snapshot_id)
    relevant: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, str | None] = {}
    for item in items:
        texts[item.query] = item.query_text
        if item.state is State.RELEVANT:
            relevant[item.query].update(chunks.get(item.evidence, [item.evidence]))
    about = _domains(connection)
    rows = [
        {
            "query": texts[query],
            "relevant_chunk_ids": sorted(found),
            "domain": about.get(query, (None, None))[0],
            "source": about.get(query, (None, None))[1],
        }
        for query, found in sorted(relevant.items())
        if texts[query]
    ]
    with replacing(path) as file:
        if path.suffix == ".parquet":
            columns = {"query": str, "relevant_chunk_ids": list, "domain": str, "source": str}
            write_parquet(file, rows, columns)
        else:
            text = json.dumps(rows, ensure_ascii=False, allow_nan=False, indent=2)
            file.write(text.encode("utf-8") + b"\n")
    return TestSetReport(
        queries=len(rows),
        chunks=sum(len(found) for query, found in relevant.items() if texts[query]),
        without_relevant=len(texts.keys() - relevant.keys()),
        without_text=sum(not texts[query] for query in relevant),
        unknown=sum(item.state is State.UNKNOWN for item in items),
    )


def _domains(connection: Connection) -> dict[str, tuple[str | None, str]]:
    query, version = table(Query), table(QueryVersion)
    statement = (
        sa.select(query.c.external_id, version.c.domain, version.c.origin)
        .join(version, version.c.query_id == query.c.id)
        .order_by(version.c.version)
    )
    return {str(name): (domain, origin) for name, domain, origin in connection.execute(statement)}
