"""`labeler serve`: the app behind a websocket on loopback, and who is kept out."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.app import run
from labeler.cli.serve import review_command
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, ReviewEvent
from labeler.records.scales import Assessor
from labeler.store.database import Store
from tests.small import pooled

pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")
import aiohttp

PATIENCE = 60.0

_SERVERS: dict[str, subprocess.Popen[str]] = {}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(sqlite_store: Store, own_folder: Path, tmp_path: Path) -> Iterator[str]:
    """A server for a reviewer whose name a shell would take apart; gives its address."""
    pooled(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", UNCALIBRATED)
    port = free_port()
    start = "from labeler.cli.app import main; main()"
    command = [sys.executable, "-c", start, "serve", "--as", "ana; $(id)", "--pool", "p"]
    command += ["--port", str(port), "--db", str(tmp_path / "queue.db")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=own_folder) as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        try:
            assert told == f"ana; $(id) reviews at http://127.0.0.1:{port} (Ctrl-C ends)\n"
            _SERVERS[f"http://127.0.0.1:{port}"] = process
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


class Browser:
    """What a page does with its websocket."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        self._websocket = websocket
        self.seen = ""

    async def until(self, text: str) -> None:
        """Read what the app draws until a text is among it."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.seen:
                message = await self._websocket.receive()
                assert message.type in {aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT}, self.seen
                if message.type is aiohttp.WSMsgType.BINARY:
                    self.seen += message.data.decode()

    async def press(self, key: str) -> None:
        await self._websocket.send_str(json.dumps(["stdin", key]))

    async def ended(self) -> None:
        """Read until the other side closes."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self._websocket:
                pass


@asynccontextmanager
async def browsing(address: str) -> AsyncIterator[Browser]:
    async with aiohttp.ClientSession() as session:
        url = f"{address.replace('http', 'ws')}/ws?width=100&height=30"
        async with session.ws_connect(url, headers={"Origin": address}) as websocket:
            yield Browser(websocket)


def end_server(address: str) -> None:
    """Send the server the signal of Ctrl-C."""
    _SERVERS[address].send_signal(signal.SIGINT)


def held(store: Store) -> int:
    place = table(Assignment)
    statement = sa.select(sa.func.count()).where(place.c.state == AssignmentState.HELD.value)
    with store.read() as connection:
        return int(connection.execute(statement).scalar_one())


def voters(store: Store) -> list[str]:
    event, who = table(ReviewEvent), table(Assessor)
    statement = sa.select(who.c.name).join(event, event.c.assessor_id == who.c.id)
    with store.read() as connection:
        return [str(name) for (name,) in connection.execute(statement)]


@pytest.mark.asyncio
async def test_the_app_runs_in_the_page_and_gives_back_what_it_held(
    served: str, sqlite_store: Store
) -> None:
    async with aiohttp.ClientSession() as session, session.get(served) as page:
        assert page.status == 200
        assert "labeler review: ana; $(id)" in await page.text()
        policy = page.headers["Content-Security-Policy"]
        assert f"connect-src 'self' {served.replace('http', 'ws')}" in policy
    async with browsing(served) as browser:
        await browser.until("passage c")
        assert held(sqlite_store) == 3
        # A vote counts once its item has been on the screen for a quarter of a second.
        while not voters(sqlite_store):
            await asyncio.sleep(0.3)
            await browser.press("d")
        await browser.press("q")
        await browser.ended()
    assert voters(sqlite_store)[0] == "ana; $(id)"
    assert held(sqlite_store) == 0


@pytest.mark.asyncio
async def test_a_second_tab_takes_over_and_a_closed_one_gives_back(
    served: str, sqlite_store: Store
) -> None:
    async with browsing(served) as first:
        await first.until("passage c")
        async with browsing(served) as second:
            await first.ended()
            await second.until("passage c")
            assert held(sqlite_store) == 3
    async with asyncio.timeout(PATIENCE):
        while held(sqlite_store):
            await asyncio.sleep(0.1)


@pytest.mark.asyncio
async def test_ending_the_server_ends_the_sitting(served: str, sqlite_store: Store) -> None:
    async with browsing(served) as browser:
        await browser.until("passage c")
        assert held(sqlite_store) == 3
        end_server(served)
        await browser.ended()
    async with asyncio.timeout(PATIENCE):
        while held(sqlite_store):
            await asyncio.sleep(0.1)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
    ],
)
async def test_other_web_pages_are_kept_out(served: str, headers: dict[str, str]) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(served, headers=headers) as page:
            assert page.status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{served.replace('http', 'ws')}/ws", headers=headers)
        assert refused.value.status == 403


def test_the_command_is_one_word_a_value() -> None:
    asked = {"--as": "o'brien; rm -rf /", "--pool": None, "--limit": 5}
    words = shlex.split(review_command(asked))
    assert words[-2:] == ["--as=o'brien; rm -rf /", "--limit=5"]
    assert words[0] == "exec"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as", " "], "--as takes a name"),
        (["--as", "ana", "--port", "0"], "--port is from 1 to 65,535"),
        (["--as", "ana", "--public-url", "labels.example.org"], "--public-url is such as https"),
        (["--as", "ana"], "no database"),
    ],
)
def test_what_is_wrong_is_said_at_once(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *arguments]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("host", ["203.0.113.7", "127.0.0.1"])
def test_another_host_is_warned_of_and_what_cannot_be_bound_is_told(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = ["--as", "ana", "--host", host, "--port", port]
        assert run(["serve", *arguments, "--db", str(tmp_path / "queue.db")]) == 2
    told = capsys.readouterr().err
    assert f"can't listen on {host}, port {port}" in told
    assert ("there is no authentication: whoever reaches port" in told) is (host != "127.0.0.1")
