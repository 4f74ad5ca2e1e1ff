"""Start a fake provider for a test or a measurement, and ask it what it saw."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Provider:
    """A running fake provider; every method asks the server."""

    address: str
    """The base address of its interface: ``http://127.0.0.1:PORT/v1``."""
    pid: int

    @property
    def host(self) -> str:
        """The host and port of the address."""
        return self.address.removeprefix("http://").removesuffix("/v1")

    def counts(self) -> dict[str, dict[str, Any]]:
        """Give the counts of each model that was asked; see ``ModelCounts.as_json``."""
        found: dict[str, dict[str, Any]] = self._ask("GET", "counts")["models"]
        return found

    def count(self, model: str, name: str) -> int:
        """Give one count of a model, 0 where it never was asked; a status by its number."""
        found = self.counts().get(model, {})
        value: int = found.get(name, found.get("statuses", {}).get(name, 0))
        return value

    def endpoints(self) -> dict[str, int]:
        """Give how often each endpoint was asked, such as ``POST /v1/files``."""
        found: dict[str, int] = self._ask("GET", "counts")["endpoints"]
        return found

    def authorizations(self) -> dict[str, int]:
        """Give how often each Authorization header came, over all endpoints."""
        found: dict[str, int] = self._ask("GET", "counts")["authorizations"]
        return found

    def requests(self, model: str | None = None) -> list[dict[str, Any]]:
        """Give the last requests of a model or of all, oldest first: model, headers, body."""
        path = "requests" if model is None else f"requests?model={quote(model, safe='')}"
        found: list[dict[str, Any]] = self._ask("GET", path)
        return found

    def reset(self) -> None:
        """Let the server forget what it saw, files and batches too; its settings stay."""
        self._ask("POST", "reset")

    def configure(self, **settings: Any) -> None:
        """Change settings while the server runs; see ``Settings``."""
        self._ask("POST", "configure", settings)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            connection.request(method, f"/control/{path}", json.dumps(body or {}))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"]["message"])
        return answer


@contextmanager
def running_provider(**settings: Any) -> Iterator[Provider]:
    """Start a fake provider in a process of its own, and kill it at the end.

    Args:
        settings: Fields of ``Settings``: latency, keep, codes ...
    """
    command = [sys.executable, "-m", "tests.fake_provider.server", "--until-input-ends"]
    with subprocess.Popen(
        [*command, "--settings", json.dumps(settings)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the fake provider did not start")
            started = json.loads(line)
            yield Provider(started["address"], started["pid"])
        finally:
            process.kill()
