"""Openings: a record of everybody who looked at sealed results, and what reports say of it.

Whatever shows results, labels or texts of sealed queries, or texts of sealed documents (a report,
an export, a lead's screen, a gate), calls `open_sealed` with what it shows. Where no split is
frozen, or nothing of it is sealed, that writes nothing and says nothing. A reviewer's sitting and a
judge's run are no openings: what they show is blind.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.project import Revision
from labeler.records.splits import Opening, OpeningPurpose, OpeningScope, Split
from labeler.sealing.sealed import (
    TOPIC_UNMEASURED,
    sealed_documents,
    sealed_queries,
    topic_measured,
)
from labeler.store.database import Store

__all__ = [
    "OpenedBefore",
    "OpeningPurpose",
    "Seal",
    "development_queries",
    "open_sealed",
    "read_openings",
]

_OPENING, _SCOPE, _REVISION = table(Opening), table(OpeningScope), table(Revision)
_SPLIT = table(Split)


@dataclass(frozen=True, slots=True)
class OpenedBefore:
    """One opening.

    Attributes:
        number: Its number in the split, from 1.
        split: The split's name.
        through: What showed the results, such as ``report agreement``.
        runs: The runs whose results were shown; empty where labels alone were.
        by: Who looked.
        at: When.
        revision: The revision that records it.
        labels_revision: The revision of the labels that were shown.
        queries: The keys of the sealed queries that were shown.
        purpose: What for.
        reason: In words, or None.
    """

    number: int
    split: str
    through: str
    runs: tuple[str, ...]
    by: str
    at: datetime
    revision: int
    labels_revision: int
    queries: frozenset[int]
    purpose: OpeningPurpose
    reason: str | None

    def facts(self) -> dict[str, object]:
        """Say it in a form for JSON, beside the split; the queries are counted, not named."""
        return {
            "number": self.number,
            "through": self.through,
            "runs": list(self.runs),
            "by": self.by,
            "at": self.at.isoformat(timespec="seconds"),
            "revision": self.revision,
            "labels_revision": self.labels_revision,
            "queries": len(self.queries),
            "purpose": self.purpose.value,
        }


@dataclass(frozen=True, slots=True)
class Seal:
    """What a report has to say of the sealed results that it shows.

    Attributes:
        split: The split's name.
        sealed: How many sealed queries are shown.
        documents: The texts of how many sealed documents are shown.
        opening: The opening that was recorded for this look.
        before: The openings before it, of any split, that showed any of the same queries.
        development: How many of the queries shown count as development data, since tuning saw
            their labels.
        topic_measured: Whether leakage of topics into the sealed part can be told.
    """

    split: str
    sealed: int
    documents: int
    opening: OpenedBefore
    before: tuple[OpenedBefore, ...]
    development: int
    topic_measured: bool

    def lines(self) -> list[str]:
        """Say it in sentences, one a line."""
        opened = f"opening {self.opening.number} of the split '{self.split}'"
        queries = f"{self.sealed:,} sealed {'query' if self.sealed == 1 else 'queries'} shown"
        shown = [queries] if self.sealed else []
        shown += [self.opening.reason] if self.documents and self.opening.reason else []
        said = [f"{opened}: {', '.join(shown)}, recorded at revision {self.opening.revision}"]
        if self.before:
            first, times = self.before[0], len(self.before)
            said.append(
                f"not the first look: these queries were opened {times:,} "
                f"{'time' if times == 1 else 'times'} before, first by {first.by} on "
                f"{first.at:%Y-%m-%d} through {first.through}"
            )
        if self.development:
            tuned = "query" if self.development == 1 else "queries"
            are = "is" if self.development == 1 else "are"
            said.append(
                f"{self.development:,} {tuned} of the sealed part {are} development data: labels "
                "were opened during tuning"
            )
        if self.sealed and not self.topic_measured:
            said.append(TOPIC_UNMEASURED)
        return said

    def facts(self) -> dict[str, object]:
        """Say it in a form for JSON."""
        return {
            "split": self.split,
            "opening": self.opening.number,
            "revision": self.opening.revision,
            "sealed_queries": self.sealed,
            "sealed_documents": self.documents,
            "development_queries": self.development,
            "topic_leakage": "measured" if self.topic_measured else "unmeasured",
            "opened_before": [
                {
                    "number": one.number,
                    "through": one.through,
                    "by": one.by,
                    "at": one.at.isoformat(timespec="seconds"),
                    "revision": one.revision,
                    "labels_revision": one.labels_revision,
                    "runs": list(one.runs),
                    "purpose": one.purpose.value,
                }
                for one in self.before
            ],
        }


def open_sealed(
    store: Store,
    *,
    through: str,
    queries: Collection[int],
    documents: Collection[int] = (),
    runs: Sequence[str] = (),
    as_of: int | None = None,
    purpose: OpeningPurpose = OpeningPurpose.MEASURING,
    reason: str | None = None,
    actor: str | None = None,
) -> list[Seal]:
    """Record that sealed results are about to be seen, and give what the report has to say of it.

    Call it after the results were computed and before they are shown, outside of any transaction.

    Args:
        store: The open database.
        through: What shows them: ``report agreement``, ``export qrels``, ``gate``.
        queries: The keys of all queries whose results, labels or texts are shown, sealed or not.
        documents: The keys of all documents whose texts are shown, sealed or not.
        runs: The names of the runs whose results are shown.
        as_of: The revision of the labels that are shown; None is the present.
        purpose: Tuning makes the queries development data.
        reason: In words, where there is something to say.
        actor: Who looks; the login name by default.

    Returns:
        One seal for each frozen split of which something sealed is shown; none where nothing is.
    """
    with store.read() as connection:
        sealed = sealed_queries(connection, queries)
        texts = sealed_documents(connection, documents)
        splits = sorted({*sealed, *texts})
        if not splits:
            return []
        newest = connection.execute(sa.select(sa.func.max(_REVISION.c.id))).scalar_one()
    with store.write(f"open sealed results: {through}", actor=actor) as tx:
        for split in splits:
            shown = len(texts.get(split, ()))
            noun = "document" if shown == 1 else "documents"
            row = sa.insert(_OPENING).values(
                split_id=split,
                through=through,
                runs=json.dumps(sorted(runs), ensure_ascii=False),
                revision_id=tx.revision_id,
            )
            key = tx.connection.execute(row.returning(_OPENING.c.id)).scalar_one()
            scope = sa.insert(_SCOPE).values(
                opening_id=key,
                purpose=purpose.value,
                labels_revision=newest if as_of is None else as_of,
                queries=json.dumps(sorted(sealed.get(split, ()))),
                reason=reason or (f"texts of {shown:,} sealed {noun}" if shown else None),
            )
            tx.connection.execute(scope)
    with store.read() as connection:
        return [
            _seal(connection, split, sealed.get(split, frozenset()), len(texts.get(split, ())))
            for split in splits
        ]


def _seal(connection: Connection, split: int, shown: frozenset[int], documents: int) -> Seal:
    own = read_openings(connection, split)[-1]
    before = tuple(
        one
        for one in read_openings(connection)
        if one.revision < own.revision and one.queries & shown
    )
    tuned = development_queries(connection)
    scheme = connection.execute(sa.select(_SPLIT.c.scheme).where(_SPLIT.c.id == split)).scalar_one()
    return Seal(
        split=own.split,
        sealed=len(shown),
        documents=documents,
        opening=own,
        before=before,
        development=len(shown & tuned),
        topic_measured=topic_measured(json.loads(scheme)),
    )


def development_queries(connection: Connection) -> frozenset[int]:
    """Give the keys of sealed queries that tuning has seen: they count as development data."""
    statement = sa.select(_SCOPE.c.queries).where(_SCOPE.c.purpose == OpeningPurpose.TUNING.value)
    return frozenset(
        int(key) for (text,) in connection.execute(statement) for key in json.loads(text)
    )


def read_openings(connection: Connection, split_id: int | None = None) -> list[OpenedBefore]:
    """Read the openings of a split, or of all of them, in their order."""
    statement = (
        sa.select(
            _SPLIT.c.id,
            _SPLIT.c.name,
            _OPENING.c.through,
            _OPENING.c.runs,
            _OPENING.c.revision_id,
            _REVISION.c.actor,
            _REVISION.c.at,
            _SCOPE.c.labels_revision,
            _SCOPE.c.queries,
            _SCOPE.c.purpose,
            _SCOPE.c.reason,
        )
        .join(_SPLIT, _SPLIT.c.id == _OPENING.c.split_id)
        .join(_REVISION, _REVISION.c.id == _OPENING.c.revision_id)
        .join(_SCOPE, _SCOPE.c.opening_id == _OPENING.c.id)
        .order_by(_OPENING.c.id)
    )
    if split_id is not None:
        statement = statement.where(_SPLIT.c.id == split_id)
    counted: dict[int, int] = {}
    found = []
    for row in connection.execute(statement):
        counted[row.id] = counted.get(row.id, 0) + 1
        found.append(
            OpenedBefore(
                number=counted[row.id],
                split=row.name,
                through=row.through,
                runs=tuple(json.loads(row.runs)),
                by=row.actor,
                at=row.at,
                revision=row.revision_id,
                labels_revision=row.labels_revision,
                queries=frozenset(json.loads(row.queries)),
                purpose=OpeningPurpose(row.purpose),
                reason=row.reason,
            )
        )
    return found
