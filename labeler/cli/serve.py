"""`labeler serve`: the review app in a browser, for one reviewer."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from labeler.cli.output import tell
from labeler.cli.project import Database, open_project
from labeler.errors import MissingExtraError, UsageError

__all__ = ["review_command", "serve"]

_MOST = 65_535


def serve(
    *,
    reviewer: Annotated[str, Parameter(name=["--as", "--reviewer"])],
    port: int = 8000,
    pool: str | None = None,
    domain: str | None = None,
    language: str | None = None,
    limit: int | None = None,
    minutes: float | None = None,
    host: str = "127.0.0.1",
    public_url: str | None = None,
    db: Database = None,
) -> None:
    """Let one reviewer work in a browser, on this machine.

    Whoever reaches the port reviews under this name: there is no login. docs/serve.md tells how to
    put it behind a proxy that has one. A further reviewer needs a further `labeler serve`.

    Parameters
    ----------
    reviewer
        Who reviews.
    port
        The port.
    pool
        Take items of one pool only.
    domain
        Take items of one domain only.
    language
        Take items in one language only, by its tag.
    limit
        End a sitting after so many votes.
    minutes
        End a sitting after so many minutes.
    host
        The address to listen on. Any other than this machine's own lets everybody in who reaches
        it.
    public_url
        The address under which a proxy shows it, such as https://labels.example.org.
    """
    _check(reviewer, port, public_url)
    if find_spec("textual_serve") is None:
        raise MissingExtraError("labeler serve", extra="serve")
    from tui.serving import ReviewServer, is_loopback

    with open_project(db):
        pass  # said now, and not in the browser, when it can't be opened
    if not is_loopback(host):
        tell(
            f"warning: {host} is not this machine alone, and there is no authentication: whoever "
            f"reaches port {port} reviews as {reviewer}"
        )
    asked = {
        "--as": reviewer,
        "--pool": pool,
        "--domain": domain,
        "--language": language,
        "--limit": limit,
        "--minutes": minutes,
        "--db": db,
    }
    server = ReviewServer(
        review_command(asked),
        host=host,
        port=port,
        title=f"labeler review: {reviewer}",
        public_url=public_url,
        told=lambda url: tell(f"{reviewer} reviews at {url} (Ctrl-C ends)"),
    )
    try:
        server.serve()
    except OSError as error:
        raise UsageError(
            f"can't listen on {host}, port {port}: {error.strerror}", hint="--port 8001, say"
        ) from None


def _check(reviewer: str, port: int, public_url: str | None) -> None:
    if not reviewer.strip() or not reviewer.isprintable():
        raise UsageError("--as takes a name")
    if not 0 < port <= _MOST:
        raise UsageError(f"--port is from 1 to {_MOST:,}")
    if public_url is not None:
        parts = urlsplit(public_url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise UsageError("--public-url is such as https://labels.example.org")


def review_command(asked: Mapping[str, object]) -> str:
    """Write the command that runs the app, as the system's shell takes it.

    Args:
        asked: Options with their values; those that are None are left out.
    """
    start = [sys.executable, "-c", "from labeler.cli.app import main; main()", "review"]
    words = start + [f"{name}={value}" for name, value in asked.items() if value is not None]
    return subprocess.list2cmdline(words) if os.name == "nt" else f"exec {shlex.join(words)}"
