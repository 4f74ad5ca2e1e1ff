"""A labeler process that kills itself with SIGKILL at a named point; run by the tests beside it.

python child.py POINT LOG COMMAND...

Points: ``none``; ``row:TABLE:N``, when the Nth row for a table is asked for; ``answer:N``, when
the judge has given its Nth answer; ``before-commit:N`` and ``after-commit:N``, at the Nth commit
that changes anything; ``before-vote:N`` and ``after-vote:N``, at the Nth commit that waits for the
disk, as votes do. The judge answers at once, and LOG takes the text of each query that it was asked
about. Nothing else differs from ``labeler COMMAND...``.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.engine.default import DefaultDialect

from labeler.assessment.blind import Block
from labeler.assessment.verdict import Judge, Verdict
from labeler.judges import by_name, run
from labeler.labels import Outcome
from labeler.records.scales import AssessorKind
from labeler.store import bulk

POINT, LOG = sys.argv[1], Path(sys.argv[2])
FULL = 2
"""What PRAGMA synchronous answers when a commit waits for the disk."""

seen: Counter[str] = Counter()


def reached(place: str) -> None:
    """End the process here when this is the point that was named."""
    seen[place] += 1
    if f"{place}:{seen[place]}" == POINT:
        os.kill(os.getpid(), signal.SIGKILL)


class QuickJudge:
    """A judge that takes the last level for every item and notes what it was asked."""

    name = "quick"
    digest = "0" * 64
    models = frozenset({"quick"})

    def judge(self, block: Block) -> list[Verdict]:
        with LOG.open("a", encoding="utf-8") as log:
            log.write(block.query.text + "\n")
        level = block.rubric.scale.levels[-1]
        verdicts = [Verdict(item.item_id, Outcome.JUDGED, level=level) for item in block.items]
        reached("answer")
        return verdicts


def quick_judge(*_: object, **__: object) -> tuple[Judge, AssessorKind]:
    return QuickJudge(), AssessorKind.LLM


def watch_rows() -> None:
    insert = bulk.insert_rows

    def watched(
        connection: Connection, into: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> int:
        def each() -> Iterator[Sequence[Any]]:
            for row in rows:
                reached(f"row:{into.name}")
                yield row

        return insert(connection, into, columns, each())

    bulk.insert_rows = watched


def watch_commits() -> None:
    commit: Any = DefaultDialect.do_commit
    changes: dict[int, int] = {}

    def watched(self: DefaultDialect, dbapi_connection: Any) -> None:
        raw: sqlite3.Connection = dbapi_connection.driver_connection
        changed = raw.total_changes != changes.get(id(raw), 0)
        changes[id(raw)] = raw.total_changes
        (level,) = raw.execute("PRAGMA synchronous").fetchone()
        what = ("commit", "vote") if level == FULL else ("commit",)
        for kind in what if changed else ():
            reached(f"before-{kind}")
        commit(self, dbapi_connection)
        for kind in what if changed else ():
            reached(f"after-{kind}")

    DefaultDialect.do_commit = watched  # type: ignore[method-assign]


if __name__ == "__main__":
    # The commands' modules take these functions when they are imported, which is further below.
    watch_rows()
    watch_commits()
    by_name.judge_named = quick_judge
    run._SECONDS_BETWEEN_COMMITS = 0.0

    from labeler.cli.app import main

    main(sys.argv[3:])
