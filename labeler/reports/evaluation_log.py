"""The log of evaluations: every number that a report or a gate gave, with what it stood on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from labeler.records import table
from labeler.records.evaluations import Evaluation, EvaluationValue
from labeler.store.bulk import insert_rows
from labeler.store.database import WriteTransaction

__all__ = ["LoggedValue", "NewEvaluation", "log_evaluation"]


@dataclass(frozen=True, slots=True)
class LoggedValue:
    """One number of an evaluation.

    Attributes:
        run_id: The run that it is of.
        metric: Its name, which says what it is.
        slice: The queries that it is over.
        value: The number, or None where it is undefined.
        low: The lower limit of its interval, or None.
        high: The upper limit, or None.
        queries: Queries that count.
        coverage: The share of judged places, or None.
    """

    run_id: int
    metric: str
    slice: str
    value: float | None
    low: float | None
    high: float | None
    queries: int
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """An evaluation that is about to be logged.

    Attributes:
        command: What made it: ``report compare``, ``gate``.
        snapshot_id: The snapshot that its runs stand on; None where it is of no runs.
        pool_id: The pool, or None.
        label_source: Whose labels counted.
        label_revision: The revision of the labels.
        settings: What was asked, as plain values.
        result: What came out, as plain values.
        values: Its numbers, each run, metric and slice once.
    """

    command: str
    snapshot_id: int | None
    pool_id: int | None
    label_source: str
    label_revision: int
    settings: Mapping[str, object]
    result: Mapping[str, object]
    values: Sequence[LoggedValue]


def log_evaluation(tx: WriteTransaction, new: NewEvaluation) -> int:
    """Append an evaluation and give its key."""
    evaluation, value = table(Evaluation), table(EvaluationValue)
    statement = sa.insert(evaluation).values(
        command=new.command,
        snapshot_id=new.snapshot_id,
        pool_id=new.pool_id,
        label_source=new.label_source,
        label_revision=new.label_revision,
        settings=_canonical(new.settings),
        result=_canonical(new.result),
        revision_id=tx.revision_id,
    )
    key = int(tx.connection.execute(statement.returning(evaluation.c.id)).scalar_one())
    columns = ["run_id", "metric", "slice", "value", "low", "high", "queries", "coverage"]
    rows = [(key, *(getattr(one, column) for column in columns)) for one in new.values]
    insert_rows(tx.connection, value, ["evaluation_id", *columns], rows)
    return key


def _canonical(content: Mapping[str, object]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
