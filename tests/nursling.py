"""A process that has everything loaded and forks a `labeler` process for each line that it reads.

Loading a judge takes seconds, and one that is killed twenty times would load twenty times. Each
line is a JSON object:

- ``commands``: what `labeler` is called with, one call after the other; the last one's exit code is
  the process's, and the others' are printed;
- ``out``, ``err``: files that take what it prints;
- ``folder``, ``environment``: where it runs, and variables to set;
- ``point``: where the judge kills itself with SIGKILL;
- ``bug``: what a bug says that the last command meets when it stores answers.

The process answers with the ``pid``, and with the ``status`` when it has ended, as
`os.waitstatus_to_exitcode` gives it.

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
import tempfile
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


def meet_bug(message: str) -> None:
    """Let storing answers fail as nobody foresaw."""

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(message)

    target: Any = engine
    target.store_answers = broken


def be_told(order: dict[str, Any]) -> None:
    """Be a `labeler` process."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    targets = (
        os.open(os.devnull, os.O_RDONLY),
        *(os.open(order[n], flags) for n in ("out", "err")),
    )
    for number, descriptor in enumerate(targets):
        os.dup2(descriptor, number)
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    tempfile.tempdir = None
    if order["point"] != "none":
        kill_at(order["point"])
    *others, last = order["commands"]
    for command in others:
        print("exit", app.run(command), flush=True)
    if order["bug"]:
        meet_bug(order["bug"])
    code = app.run(last)
    sys.stdout.flush()
    os._exit(code)


def main() -> None:
    """Fork for each line of the input, one process at a time."""
    import instructor  # noqa: F401 - loaded before the fork

    load_litellm()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            be_told(json.loads(line))
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
