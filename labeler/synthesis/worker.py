"""The process that asks the models: `python -m labeler.synthesis.worker`, orders on its input.

The first line says where a safe pack, the hashes of what is sealed and a journal are, and which
models to ask; `labeler.synthesis.orders` has the rest. There is no database here and no way to
one. In front of every request stand two gates: no message may hold a run of sealed
words, and the parent has to have recorded the exposure of each text first.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from labeler.errors import InterruptedRunError, LabelerError
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import ChatRequest, Ended, Reply
from labeler.providers.client import ClientSettings, ModelClient
from labeler.providers.limits import Limiter
from labeler.providers.seam import provider_connections
from labeler.synthesis.limits import GenerateLimits
from labeler.synthesis.mean_logprob import MEAN_TOKEN, question_log_probability
from labeler.synthesis.orders import Answered, Order, read_line, told_error, write_line
from labeler.synthesis.pack import SafePack, read_pack
from labeler.synthesis.rendering import Model
from labeler.synthesis.sealed import SealedSet

__all__ = ["main"]

_SEED = 0x1ABE1
_RESPONSES: ContextVar[list[Any]] = ContextVar("responses")


@dataclass
class _Worker:
    """One process while it runs."""

    pack: SafePack
    sealed: SealedSet
    models: Mapping[str, Model]
    clients: Mapping[str, ModelClient]
    limiter: Limiter
    slots: asyncio.Semaphore
    journal: TextIO
    out: TextIO
    granted: dict[int, asyncio.Future[bool]] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    stop: LabelerError | None = None

    def tell(self, message: Mapping[str, Any]) -> None:
        self.out.write(write_line(message))
        self.out.flush()

    def stop_because(self, reason: LabelerError) -> None:
        """Begin no request any more; those under way end, since they are paid for."""
        if self.stop is None:
            self.stop = reason
            self.limiter.stop()
            for waiting in self.granted.values():
                if not waiting.done():
                    waiting.set_result(False)
            self.tell({"stopped": told_error(reason)})


def main() -> int:
    """Work until the input ends."""
    settings = json.loads(sys.stdin.readline())
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not be taken for a message
    try:
        asyncio.run(_work(settings, out))
    except LabelerError as error:
        out.write(write_line({"stopped": told_error(error)}))
        out.flush()
        return int(error.exit_code)
    return 0


async def _work(settings: Mapping[str, Any], out: TextIO) -> None:
    pack = read_pack(Path(settings["pack"]), settings["pack_digest"])
    sealed = SealedSet.load(Path(settings["sealed"]), pack.sealed_digest)
    limits = GenerateLimits.from_json(settings["limits"])
    models = {role: Model.from_json(one) for role, one in settings["models"].items()}
    if any(model.is_embedded for model in models.values()):
        from labeler.providers import embedded_language_model

        embedded_language_model.register()
    limiter = Limiter(
        most=limits.max_concurrency,
        requests_per_minute=limits.requests_per_minute,
        monotonic=time.monotonic,
    )
    clients = _clients(limits, limiter, models)
    with Path(settings["journal"]).open("a", encoding="utf-8") as journal:
        slots = asyncio.Semaphore(limits.max_concurrency)
        worker = _Worker(pack, sealed, models, clients, limiter, slots, journal, out)
        async with provider_connections():
            worker.tell({"ready": True})
            await _listen(worker)
            if worker.tasks:
                await asyncio.wait(worker.tasks)
        os.fsync(journal.fileno())


def _clients(
    limits: GenerateLimits, limiter: Limiter, models: Mapping[str, Model]
) -> dict[str, ModelClient]:
    purse = None if limits.max_cost is None else Purse(limits.max_cost)
    prices: dict[str, Price | None] = {"generator": limits.price, "judge": limits.judge_price}
    return {
        role: ModelClient(
            limiter=limiter,
            settings=ClientSettings(attempts=limits.attempts, timeout=limits.timeout),
            purse=purse,
            price=prices[role],
            given_price=limits.price_is_given,
            clock=lambda: datetime.now(UTC),
            monotonic=time.monotonic,
            sleep=limiter.pause,
            jitter=random.Random(_SEED),  # noqa: S311 - spreads retries, hides nothing
            watch=lambda response: _RESPONSES.get().append(response),
        )
        for role in models
    }


async def _listen(worker: _Worker) -> None:
    """Take orders until the input ends; then begin nothing any more."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    # A thread, since no platform's event loop reads every kind of input.
    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        message = read_line(line) or {}
        for key, order in message.get("orders", {}).items():
            task = asyncio.create_task(_answer(worker, int(key), Order.from_json(order)))
            worker.tasks.add(task)
            task.add_done_callback(worker.tasks.discard)
        for key in message.get("granted", ()):
            waiting = worker.granted.get(int(key))
            if waiting is not None and not waiting.done():
                waiting.set_result(True)
    worker.stop_because(InterruptedRunError("stopped", hint="the same command goes on from here"))


async def _answer(worker: _Worker, key: int, order: Order) -> None:
    """Answer one order: through the gates, to the model, into the journal, back to the parent."""
    request = order.request(worker.pack, worker.models[order.role])
    hits = sum(worker.sealed.hits(message.content) for message in request.messages)
    if hits:
        worker.tell({"quarantined": key, "request": request.digest, "hits": hits})
        return
    # Only as many as can be under way ask for leave: what is never sent is never exposed.
    async with worker.slots:
        if not await _may_show(worker, key, order):
            worker.tell({"dropped": key})
            return
        reply = await _ask(worker.clients[order.role], request)
    if reply.tries:
        answered = Answered(request.digest, reply.ended, reply.why, tuple(reply.tries))
        worker.journal.write(write_line({"key": key, "role": order.role} | answered.to_json()))
        worker.journal.flush()
        worker.tell({"answered": key, "role": order.role} | answered.to_json())
    else:
        worker.tell({"dropped": key})
    if reply.stop is not None:
        worker.stop_because(reply.stop)


async def _may_show(worker: _Worker, key: int, order: Order) -> bool:
    """Ask the parent to record what will be shown, and wait until it has."""
    if worker.stop is not None:
        return False
    waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    worker.granted[key] = waiting
    worker.tell({"expose": key, "role": order.role, "chunks": list(order.shown)})
    return await waiting


async def _ask(client: ModelClient, request: ChatRequest) -> Reply:
    responses: list[Any] = []
    token = _RESPONSES.set(responses)
    try:
        reply = await client.ask(request)
    finally:
        _RESPONSES.reset(token)
    if reply.ended is not Ended.ANSWERED or not responses or not reply.tries:
        return reply
    value = question_log_probability(responses[-1])
    if value is None:
        return reply
    last = replace(reply.tries[-1], logprobs={**reply.tries[-1].logprobs, MEAN_TOKEN: value})
    return replace(reply, tries=(*reply.tries[:-1], last))


if __name__ == "__main__":
    sys.exit(main())
