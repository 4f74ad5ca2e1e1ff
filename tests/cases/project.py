"""A project as its user meets it: commands in, what they print out, and what the database holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.assessment.labels_in_force import labels_in_force
from labeler.cli.app import run
from labeler.evaluation.ranking import (
    JudgedRanking,
    judged_coverage_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from labeler.labels import State, StateCode
from labeler.records import Record, table
from labeler.records.corpus import Chunk, Evidence, SnapshotChunk
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.records.runs import Hit, Run
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.judged import judged

CODES = {
    State.RELEVANT: StateCode.RELEVANT,
    State.NOT_RELEVANT: StateCode.NOT_RELEVANT,
    State.UNKNOWN: StateCode.UNKNOWN,
}


@dataclass(frozen=True)
class Told:
    """What a command ended with and printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Metrics:
    """One run's ranking for one query as state codes, and how many relevant ones are known."""

    states: list[int]
    known_relevant: int

    def precision(self, cutoff: int) -> float:
        return float(precision_at(self._ranking, cutoff).value[0])

    def recall(self, cutoff: int) -> float | None:
        value = float(recall_at(self._ranking, cutoff).value[0])
        return None if isnan(value) else value

    @property
    def reciprocal_rank(self) -> float:
        return float(reciprocal_rank(self._ranking).value[0])

    def judged(self, cutoff: int) -> float:
        return float(judged_coverage_at(self._ranking, cutoff)[0])

    @property
    def _ranking(self) -> JudgedRanking:
        missed = self.known_relevant - self.states.count(1)
        return judged([self.states], missed=[missed])


class Project:
    """A database and the commands over it."""

    def __init__(self, capsys: pytest.CaptureFixture[str], database: str = "queue.db") -> None:
        self._capsys = capsys
        self.database = database

    def another(self, name: str) -> Project:
        """Give a project of its own, empty until something is imported."""
        return Project(self._capsys, f"{name}.db")

    def run(self, *words: str | Path) -> Told:
        """Run a command."""
        self._capsys.readouterr()
        code = run([*map(str, words), "--db", self.database])
        told = self._capsys.readouterr()
        assert "Traceback" not in told.err
        assert "bug in Labeler" not in told.err, told.err
        return Told(code, told.out, told.err)

    def do(self, *words: str | Path) -> Told:
        """Run a command that has to succeed."""
        told = self.run(*words)
        assert told.code == 0, told.err
        return told

    def json(self, *words: str | Path) -> dict[str, Any]:
        """Run a command that has to succeed; give the one JSON object that it prints."""
        read = json.loads(self.do(*words, "--json").out)
        assert isinstance(read, dict)
        return read

    def refused(self, *words: str | Path, code: int = 1) -> str:
        """Run a command that has to fail: not one row may be new; give what it tells."""
        before = self.row_counts()
        told = self.run(*words)
        assert told.code == code, told
        assert told.out == ""
        assert "labeler: " in told.err
        assert code != 1 or "hint: " in told.err
        assert self.row_counts() == before
        return told.err

    def store(self) -> Store:
        """Open the database."""
        return open_store(Location(self.database))

    def row_counts(self) -> Mapping[str, int]:
        """Count the rows of every table; those that hold none are left out."""
        if not Path(self.database).exists():
            return {}
        with self.store() as store, store.read() as connection:
            counts = {
                one.name: connection.execute(sa.select(sa.func.count()).select_from(one)).scalar()
                for one in Record.metadata.sorted_tables
            }
        return {name: count for name, count in counts.items() if count}

    def rows(self, statement: sa.Select[Any]) -> list[tuple[Any, ...]]:
        """Read rows."""
        with self.store() as store, store.read() as connection:
            return [tuple(row) for row in connection.execute(statement)]

    def ranking(self, name: str, query: str, *, by: str = "rank") -> list[str]:
        """Give the documents of a run for a query: as stored, or by the file's rank column."""
        run_, hit, chunk, asked = table(Run), table(Hit), table(Chunk), table(Query)
        statement = (
            sa.select(chunk.c.external_id)
            .join(hit, hit.c.chunk_id == chunk.c.id)
            .join(run_, run_.c.id == hit.c.run_id)
            .join(asked, asked.c.id == hit.c.query_id)
            .where(run_.c.name == name, asked.c.external_id == query)
            .order_by(hit.c[by])
        )
        return [document for (document,) in self.rows(statement)]

    def labels(self) -> dict[tuple[str, str], StateCode]:
        """Give the state of every item of the project, by query and evidence."""
        item, query, evidence = table(Item), table(Query), table(Evidence)
        names = (
            sa.select(item.c.id, query.c.external_id, evidence.c.external_id)
            .join(query, query.c.id == item.c.query_id)
            .join(evidence, evidence.c.id == item.c.evidence_id)
        )
        with self.store() as store, store.read() as connection:
            found = labels_in_force(connection, sa.select(item.c.id))
            return {
                (asked, carried): CODES[found[key].state if key in found else State.UNKNOWN]
                for key, asked, carried in connection.execute(names)
            }

    def metrics(self, name: str, query: str, *, by: str = "rank") -> Metrics:
        """Hold a run's ranking against the labels in force."""
        labels = self.labels()
        states = [
            int(labels.get((query, document), StateCode.UNKNOWN))
            for document in self.ranking(name, query, by=by)
        ]
        relevant = sum(
            code is StateCode.RELEVANT for (asked, _), code in labels.items() if asked == query
        )
        return Metrics(states, relevant)

    def queries(self) -> dict[str, str]:
        """Give the text in force of every query that has one."""
        query, version, text = table(Query), table(QueryVersion), table(Text)
        statement = (
            sa.select(query.c.external_id, text.c.body)
            .join(version, version.c.query_id == query.c.id)
            .join(text, text.c.id == version.c.text_id)
            .order_by(version.c.version)
        )
        return {str(name): str(body) for name, body in self.rows(statement)}

    def passages(self) -> dict[str, str]:
        """Give the text of every passage of the project's one snapshot."""
        chunk, there, text = table(Chunk), table(SnapshotChunk), table(Text)
        statement = (
            sa.select(chunk.c.external_id, text.c.body)
            .join(there, there.c.chunk_id == chunk.c.id)
            .join(text, text.c.id == there.c.text_id)
        )
        return {str(name): str(body) for name, body in self.rows(statement)}


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a JSON lines file as a strict parser does."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line, parse_constant=refuse) for line in lines if line]
