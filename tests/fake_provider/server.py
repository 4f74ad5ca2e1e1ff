"""A fake provider of language models on loopback, with the interface of OpenAI.

python -m tests.fake_provider.server --port 0 --state FILE

prints its address as one line of JSON, and writes the same to FILE where one is named. What it
does with a request is told by the name of the model: see ``scenarios``, ``failures`` and
``oddities``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.fake_provider.asking import ChatRequest
from tests.fake_provider.batches import Shelf
from tests.fake_provider.behaviour import behave
from tests.fake_provider.counting import Tally
from tests.fake_provider.scenarios import SCENARIOS, Call, Reply
from tests.fake_provider.settings import Settings
from tests.fake_provider.wire import DROP, HEAD_LIMIT, HttpAnswer, HttpRequest, read_request


class FakeProvider:
    """The server's state and its endpoints."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forget all requests, counts, files and batches; the settings stay."""
        self.tally = Tally(time.monotonic)
        self.tally.keep_last(self.settings.keep)
        self.shelf = Shelf()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after another."""
        try:
            while (request := await read_request(reader)) is not None:
                answer = await self.answer(request, reader)
                if answer is DROP:
                    break
                writer.write(answer.render())
                await writer.drain()
                if not request.keeps_alive:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client went away: that is its right.
        finally:
            writer.close()

    async def answer(self, request: HttpRequest, reader: asyncio.StreamReader) -> HttpAnswer:
        """Find the endpoint of a request and let it answer."""
        if request.path.startswith("/control/"):
            return self.control(request)
        authorization = request.headers.get("authorization", "")
        self.tally.endpoints[f"{request.method} {request.path}"] += 1
        self.tally.authorizations[authorization] += 1
        if request.method == "POST" and request.path == "/v1/chat/completions":
            return await self.chat(request, reader)
        if request.path == "/v1/models":
            length = self.settings.max_model_len
            more = {} if length is None else {"max_model_len": length}
            models = [
                {"id": name, "object": "model", "created": 0, **more} for name in sorted(SCENARIOS)
            ]
            return HttpAnswer(200, {"object": "list", "data": models})
        found = self.shelf.answer(request, self.settings, self.run_line)
        return _not_found(request) if found is None else found

    async def chat(self, http: HttpRequest, reader: asyncio.StreamReader) -> HttpAnswer:
        """Answer a chat completion as its model's scenario says."""
        settings = self.settings
        authorization = http.headers.get("authorization", "")
        try:
            request = ChatRequest(dict(json.loads(http.body)), authorization, settings)
        except (TypeError, ValueError):
            message = "We could not parse the JSON body of your request."
            return HttpAnswer(400, {"error": {"message": message, "type": "invalid_request_error"}})
        tally = self.tally
        if settings.keep:
            headers = dict(http.headers)
            tally.kept.append({"model": request.model, "headers": headers, "body": request.body})
        counts, tries, item_tries = tally.came(request)
        tally.opened(counts, request)
        call = Call(
            request,
            settings,
            tries=tries,
            item_tries=item_tries,
            in_flight=counts.in_flight,
            lately=len(counts.lately),
        )
        status, wait = "hung", None
        try:
            reply = behave(call)
            delay = settings.latency if reply.delay is None else reply.delay
            if reply.does == "hang":
                while await reader.read(HEAD_LIMIT):
                    pass
                return DROP
            if delay:
                await asyncio.sleep(delay)
            if reply.does == "drop":
                status = "dropped"
                return DROP
            status = str(reply.status)
            wait = float(reply.headers.get("retry-after", 0))
            counts.answered(request, reply.payload)
            return HttpAnswer(reply.status, reply.payload, reply.headers)
        finally:
            tally.closed(counts, request, status, wait)

    def run_line(self, body: dict[str, Any], authorization: str) -> Reply:
        """Answer a request that came in a batch, at once."""
        request = ChatRequest(body, authorization, self.settings)
        counts, tries, item_tries = self.tally.came(request)
        counts.batch_lines += 1
        reply = behave(Call(request, self.settings, tries=tries, item_tries=item_tries))
        counts.answered(request, reply.payload)
        return reply

    def control(self, request: HttpRequest) -> HttpAnswer:
        """Answer the tests themselves: counts, requests, another behaviour."""
        tally = self.tally
        if request.path == "/control/counts":
            counts = {
                "models": {name: counts.as_json() for name, counts in tally.models.items()},
                "endpoints": tally.endpoints,
                "authorizations": tally.authorizations,
            }
            return HttpAnswer(200, counts)
        if request.path == "/control/requests":
            wanted = request.query.get("model")
            kept = [one for one in tally.kept if wanted in (None, one["model"])]
            return HttpAnswer(200, kept)
        if request.path == "/control/reset":
            self.reset()
            return HttpAnswer(200, {})
        if request.path == "/control/configure":
            try:
                self.settings = self.settings.changed(json.loads(request.body))
            except (TypeError, ValueError) as problem:
                return HttpAnswer(400, {"error": {"message": str(problem)}})
            tally.keep_last(self.settings.keep)
            return HttpAnswer(200, {})
        return _not_found(request)


def _not_found(request: HttpRequest) -> HttpAnswer:
    message = f"Invalid URL ({request.method} {request.path})"
    return HttpAnswer(404, {"error": {"message": message, "type": "invalid_request_error"}})


async def _run(provider: FakeProvider, port: int, state: Path | None, *, watch: bool) -> None:
    server = await asyncio.start_server(
        provider.serve, "127.0.0.1", port, limit=HEAD_LIMIT, backlog=1024
    )
    port = server.sockets[0].getsockname()[1]
    line = json.dumps({"address": f"http://127.0.0.1:{port}/v1", "pid": os.getpid()})
    if state is not None:
        part = state.with_name(state.name + ".part")
        part.write_text(line + "\n", encoding="utf-8")
        part.replace(state)
    print(line, flush=True)
    if watch:
        await _end_of_input()
        return
    await server.serve_forever()


async def _end_of_input() -> None:
    """Wait until whoever started the server closes its input, or is gone."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


def main(arguments: list[str]) -> None:
    """Start the server from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 for any that is free")
    parser.add_argument("--state", type=Path, help="a file that takes the address")
    parser.add_argument("--latency", type=float, help="seconds until an answer")
    parser.add_argument("--keep", type=int, help="how many requests to keep whole")
    parser.add_argument("--settings", default="{}", help="any settings, as JSON")
    parser.add_argument("--until-input-ends", action="store_true", help="end with the starter")
    given = parser.parse_args(arguments)
    changes = json.loads(given.settings)
    changes |= {
        name: getattr(given, name)
        for name in ("latency", "keep")
        if getattr(given, name) is not None
    }
    provider = FakeProvider(Settings().changed(changes))
    asyncio.run(_run(provider, given.port, given.state, watch=given.until_input_ends))


if __name__ == "__main__":
    main(sys.argv[1:])
