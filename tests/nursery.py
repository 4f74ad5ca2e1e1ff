"""`labeler` processes that start at once, because another process has loaded all that they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHILD = Path(__file__).with_name("nursling.py")


@dataclass(frozen=True)
class Ended:
    """What a process ended with and printed. Below 0 the code is a signal's number."""

    code: int
    out: str
    err: str


class Nursery:
    """Starts processes by forking one that is ready, one at a time; see nursling.py."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._out, self._err = folder / "out", folder / "err"

    def start(
        self,
        commands: Sequence[Sequence[str]],
        *,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        point: str = "none",
        bug: str = "",
    ) -> int:
        """Let a process begin; give its id."""
        for printed in (self._out, self._err):
            printed.unlink(missing_ok=True)
        order = {
            "commands": commands,
            "folder": str(folder),
            "environment": dict(environment or {}),
            "point": point,
            "bug": bug,
            "out": str(self._out),
            "err": str(self._err),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._heard()["pid"])

    def wait(self) -> Ended:
        """Wait until the process has ended."""
        code = int(self._heard()["status"])
        return Ended(code, self._out.read_text("utf-8"), self._err.read_text("utf-8"))

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that forks others has died"
        heard: dict[str, Any] = json.loads(line)
        return heard


@contextmanager
def running_nursery(folder: Path) -> Iterator[Nursery]:
    """Start the process that forks others, and kill it at the end."""
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, str(_CHILD)],
        env={**os.environ, "PYTHONPATH": str(root), "OPENAI_API_KEY": "sk-test-0123456789"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Nursery(process, folder)
        finally:
            process.kill()
