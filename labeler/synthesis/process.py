"""The process without the database, as the one that has it sees it."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import labeler
from labeler.errors import LabelerError
from labeler.synthesis.limits import GenerateLimits
from labeler.synthesis.orders import Order, read_line, write_line
from labeler.synthesis.rendering import Model

__all__ = ["WorkerProcess", "environment_without_database"]

_WORKER = "labeler.synthesis.worker"
_LAST_WORDS = 2_000


def environment_without_database(environment: Mapping[str, str]) -> dict[str, str]:
    """Give an environment in which nothing leads to the database; providers' keys stay."""
    kept = {
        name: value
        for name, value in environment.items()
        if name != "LABELER_DB" and not name.startswith("PG") and "postgres" not in value.lower()
    }
    home = str(Path(labeler.__file__).resolve().parents[1])
    paths = [home, *filter(None, [environment.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


class WorkerProcess:
    """A running process that asks the models; see `labeler.synthesis.worker`.

    It is in a session of its own, so that Ctrl-C reaches this process alone, which then tells it to
    begin nothing more.
    """

    def __init__(
        self,
        *,
        pack: Path,
        pack_digest: str,
        sealed: Path,
        journal: Path,
        models: Mapping[str, Model],
        limits: GenerateLimits,
        environment: Mapping[str, str],
        lock: int | None,
    ) -> None:
        """Start it.

        Args:
            pack: The safe pack.
            pack_digest: Its digest.
            sealed: The hashes of what is sealed.
            journal: Where it writes what models answer.
            models: Whom it asks, by role.
            limits: What it may take.
            environment: This process's environment.
            lock: A descriptor that it keeps open as long as it lives, or None.
        """
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._said = b""
        self._process = subprocess.Popen(  # noqa: S603 - this program, with nothing from outside
            [sys.executable, "-m", _WORKER],
            cwd=pack.parent,
            env=environment_without_database(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._send(
            {
                "pack": str(pack),
                "pack_digest": pack_digest,
                "sealed": str(sealed),
                "journal": str(journal),
                "models": {role: model.to_json() for role, model in models.items()},
                "limits": limits.to_json(),
            }
        )

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def order(self, orders: Mapping[int, Order]) -> None:
        """Order requests."""
        self._send({"orders": {str(key): one.to_json() for key, one in orders.items()}})

    def grant(self, keys: Iterable[int]) -> None:
        """Say that the exposures of these orders are on record."""
        self._send({"granted": list(keys)})

    def heard(self, timeout: float) -> list[dict[str, Any]]:
        """Give what it told since the last call, after waiting for the first of it.

        Raises:
            LabelerError: When the process died.
        """
        found: list[dict[str, Any]] = []
        try:
            found.append(self._lines.get(timeout=timeout))
            while True:
                found.append(self._lines.get_nowait())
        except queue.Empty:
            pass
        if not found and self._process.poll() is not None and self._lines.empty():
            raise self._died()
        return found

    def close_input(self) -> None:
        """Let it end what is under way and begin nothing more."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                return  # it has ended already

    def kill(self) -> None:
        """End it at once; what it wrote to its journal is kept."""
        self._process.kill()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it was opened with one
        try:
            self._process.stdin.write(write_line(message).encode())
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return  # it has ended; whoever listens next hears why

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was opened with one
        for line in self._process.stdout:
            message = read_line(line.decode("utf-8", "replace"))
            if message is not None:
                self._lines.put(message)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - it was opened with one
        for line in self._process.stderr:
            self._said = (self._said + line)[-_LAST_WORDS:]

    def _died(self) -> LabelerError:
        from labeler.providers.redaction import redacted

        said = self._said.decode("utf-8", "replace").strip().splitlines()
        last = f": {redacted(said[-1])[:200]}" if said else ""
        return LabelerError(
            f"the generating process died (exit {self._process.returncode}){last}",
            hint="what it had answered is kept; the same command goes on",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close_input()
        try:
            self._process.wait(timeout=None if kind is None else 5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
