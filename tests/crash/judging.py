"""A process that has everything loaded and forks a judge for each line that it reads.

python judging.py

Each line is a JSON object: ``point``, where the judge kills itself with SIGKILL; ``log``, a file
that takes what it prints; ``arguments``, what `labeler` is called with. The process answers with
the judge's ``pid``, and with its ``status`` when it has ended, as `os.waitstatus_to_exitcode` gives
it. Loading takes seconds, and a judge that is killed twenty times would load twenty times.

Points: ``none``; ``before-commit:N`` and ``after-commit:N``, at the Nth commit that changes
anything; ``middle:N``, inside of the Nth one, when what was tried is written and what was judged is
not; ``asked``, when all is asked and the last commit isn't made. Nothing else differs from
``labeler``, but that with a point commits follow one another five times as fast.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from typing import Any

from sqlalchemy.engine.default import DefaultDialect

from labeler.cli import app, judge, judge_llm  # noqa: F401 - loaded before the fork
from labeler.judges.llm import run as engine
from labeler.judges.llm import session, setup, store  # noqa: F401 - likewise
from labeler.providers.seam import load_litellm

SECONDS_BETWEEN_COMMITS = 0.2


def kill_at(point: str) -> None:
    """End this process where it was told to."""
    if point == "none":
        return
    engine._SECONDS_BETWEEN_COMMITS = SECONDS_BETWEEN_COMMITS
    seen: Counter[str] = Counter()

    def reached(place: str) -> None:
        seen[place] += 1
        if point in {place, f"{place}:{seen[place]}"}:
            os.kill(os.getpid(), signal.SIGKILL)

    commit: Any = DefaultDialect.do_commit
    changes: dict[int, int] = {}

    def watched(self: DefaultDialect, dbapi_connection: Any) -> None:
        raw: sqlite3.Connection = dbapi_connection.driver_connection
        changed = raw.total_changes != changes.get(id(raw), 0)
        changes[id(raw)] = raw.total_changes
        if changed:
            reached("before-commit")
        commit(self, dbapi_connection)
        if changed:
            reached("after-commit")

    store_judgments, go_through = store._store_judgments, engine._go_through

    def storing(*given: Any, **more: Any) -> None:
        reached("middle")
        store_judgments(*given, **more)

    async def going_through(run: Any) -> None:
        await go_through(run)
        reached("asked")

    DefaultDialect.do_commit = watched  # type: ignore[method-assign]
    store._store_judgments = storing
    engine._go_through = going_through


def judge_as_told(order: dict[str, Any]) -> None:
    """Be a `labeler` process."""
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for target, descriptor in ((0, null), (1, log), (2, log)):
        os.dup2(descriptor, target)
    kill_at(order["point"])
    code = app.run(order["arguments"])
    sys.stdout.flush()
    os._exit(code)


def main() -> None:
    """Fork for each line of the input, one judge at a time."""
    import instructor  # noqa: F401 - loaded before the fork

    load_litellm()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            judge_as_told(json.loads(line))
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
