"""Asking a language model: limits, budget, one layer of retries, a validated answer.

`ModelClient.ask` turns a request into a reply. Whatever happens is in the reply: what was tried,
how it ended, and whether going on makes sense at all.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from labeler.errors import (
    BudgetReachedError,
    InterruptedRunError,
    LabelerError,
    ProviderRefusedError,
)
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import AnswerMode, ChatRequest, Ended, Reply, Try
from labeler.providers.failures import Action, Failure, classify
from labeler.providers.limits import Limiter, StoppedError
from labeler.providers.logprobs import code_logprobs
from labeler.providers.receiving import read_response, try_of, what_is_wrong
from labeler.providers.redaction import secrets_in
from labeler.providers.retrying import TransportError, retrying
from labeler.providers.seam import send, structured, wire_messages, wire_parameters

__all__ = ["ClientSettings", "ModelClient", "refused"]

_GOES_ON = "the same command goes on where it stopped"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How persistent a client is.

    Attributes:
        attempts: HTTP requests for one answer, while failures are of a kind that passes.
        reasks: How often a model is asked again for an answer that can be used.
        timeout: Seconds for one HTTP request.
        backoff: Seconds before the second attempt; doubled each time, with jitter, 30 at most.
    """

    attempts: int = 5
    reasks: int = 1
    timeout: float = 60.0
    backoff: float = 0.5


@dataclass
class _Exchange:
    """What is known of a request while it is under way."""

    request: ChatRequest
    tries: list[Try] = field(default_factory=list)
    logprobs: Mapping[str, float] = field(default_factory=dict)
    reply: tuple[Ended, str] | None = None
    stop: LabelerError | None = None


class _EndedError(Exception):
    """The request ended without an answer; the exchange says how."""


_EXCHANGE: ContextVar[_Exchange] = ContextVar("exchange")


class ModelClient:
    """Asks models, within limits.

    Args:
        limiter: Grants slots.
        settings: How persistent it is.
        purse: The limit on cost, or None.
        price: The price of a token, or None to take what litellm tells.
        clock: Tells the time of each try.
        monotonic: A clock for durations, in seconds.
        sleep: Waits between attempts.
        jitter: Spreads the waiting of many requests.
        watch: Told of each response as it came, before anything is read from it or mended.
    """

    def __init__(
        self,
        *,
        limiter: Limiter,
        settings: ClientSettings,
        purse: Purse | None = None,
        price: Price | None = None,
        given_price: bool = False,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        jitter: random.Random,
        watch: Callable[[Any], None] = lambda _: None,
    ) -> None:
        self.limiter = limiter
        self.retries = 0
        self._settings = settings
        self._purse = purse
        self._price = price
        self._given_price = given_price
        self._clock = clock
        self._monotonic = monotonic
        self._sleep = sleep
        self._jitter = jitter
        self._watch = watch
        self._secrets = secrets_in(os.environ)
        self._prepared: dict[str, Any] = {}
        self._create = {mode: structured(self._send, mode) for mode in AnswerMode}

    async def ask(self, request: ChatRequest) -> Reply:
        """Ask until there is an answer that can be used, or none is to be had."""
        from instructor.core.exceptions import InstructorRetryException, ResponseParsingError

        exchange = _Exchange(request)
        token = _EXCHANGE.set(exchange)
        why = "the answer doesn't fit the schema"
        try:
            answer = await self._create[request.mode](
                response_model=self._prepare(request),
                max_retries=self._settings.reasks,
                messages=wire_messages(request),
                **wire_parameters(request),
            )
            return Reply(
                Ended.ANSWERED,
                fields=answer.model_dump(),
                tries=tuple(exchange.tries),
                logprobs=exchange.logprobs,
            )
        except InstructorRetryException as error:
            # It holds what was sent, so nothing of it may go on.
            if isinstance(error.__cause__, StoppedError):
                exchange.stop = InterruptedRunError("stopped", hint=_GOES_ON)
            if exchange.reply is None and exchange.stop is None:
                cause = error.__cause__
                if not isinstance(cause, ValueError | ResponseParsingError):
                    raise (cause or error) from None  # ours: a bug is no answer of a model
                why = f"{why}: {what_is_wrong(cause)}"
        finally:
            _EXCHANGE.reset(token)
        ended, said = exchange.reply or (Ended.FAILED, str(exchange.stop or why))
        if exchange.reply is None and exchange.stop is None:
            _mark_last(exchange.tries, ended, said)
        return Reply(ended, why=said, tries=tuple(exchange.tries), stop=exchange.stop)

    def _prepare(self, request: ChatRequest) -> Any:
        """Prepare a shape for instructor once; it would make a new class for each request."""
        shape = request.shape
        if shape.digest not in self._prepared:
            from instructor import openai_schema

            self._prepared[shape.digest] = openai_schema(shape.model)
        return self._prepared[shape.digest]

    async def _send(self, **sent: Any) -> Any:
        """Send one request, again while its failures are of a kind that passes."""
        exchange = _EXCHANGE.get()
        if exchange.tries and exchange.tries[-1].outcome == Ended.ANSWERED:
            _mark_last(exchange.tries, "reasked")

        async for attempt in retrying(
            attempts=self._settings.attempts,
            backoff=self._settings.backoff,
            sleep=self._sleep,
            jitter=self._jitter,
        ):
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    self.retries += 1
                return await self._once(exchange, sent)
        raise AssertionError  # tenacity either returns or raises

    async def _once(self, exchange: _Exchange, sent: Mapping[str, Any]) -> Any:
        request = exchange.request
        tokens = request.most_prompt_tokens // 4 + (request.most_completion_tokens or 0)
        async with self.limiter.slot(tokens) as granted:
            held = await self._hold(exchange, sent)
            cost: float | None = None
            try:
                response = await send(request, sent, timeout=self._settings.timeout)
            except Exception as error:  # noqa: BLE001 - classified below; litellm raises anything
                failure = classify(error)
                cost = None if failure.may_be_billed else 0.0
                self._failed(exchange, failure, granted)
                raise TransportError(failure) from None
            else:
                self._watch(response)
                cost = self._cost(response)
                self.limiter.succeeded()
                seconds = self._monotonic() - granted
                return self._received(exchange, response, cost, seconds)
            finally:
                if self._purse is not None:
                    self._purse.settle(held, cost)

    async def _hold(self, exchange: _Exchange, sent: Mapping[str, Any]) -> int:
        if self._purse is None:
            return 0
        worst = self._price.worst(exchange.request) if self._price is not None else None
        if worst is None or self._price is None:
            raise AssertionError("a purse without a price")
        # A re-ask carries the answer before it.
        more = len(json.dumps(sent.get("messages", ()), default=str)) if exchange.tries else 0
        try:
            held = await self._purse.hold(worst + more * self._price.prompt)
        except BudgetReachedError as error:
            exchange.stop = error
            raise
        if self.limiter.is_stopped:
            self._purse.settle(held, 0.0)
            raise StoppedError
        return held

    def _failed(self, exchange: _Exchange, failure: Failure, granted: float) -> None:
        if failure.name == "throttled" or failure.retry_after:
            self.limiter.throttled(granted, failure.retry_after)
        exchange.tries.append(
            Try(
                at=self._clock(),
                outcome=failure.ended if failure.action is Action.FAIL else Ended.FAILED,
                failure=str(failure),
                latency_ms=(self._monotonic() - granted) * 1000,
            )
        )
        exchange.reply = (failure.ended, str(failure))
        if failure.action is Action.ABORT:
            exchange.stop = refused(exchange.request.model, failure)

    def _received(
        self, exchange: _Exchange, response: Any, cost: float | None, seconds: float
    ) -> Any:
        """Note an answer, and end the request at once where no re-ask would help."""
        request = exchange.request
        exchange.reply = None
        raw, ended, why = read_response(response, request.shape, request.mode, self._secrets)
        exchange.logprobs = code_logprobs(response, request.shape.key, request.shape.codes)
        exchange.tries.append(
            try_of(
                response,
                raw,
                at=self._clock(),
                outcome=ended or Ended.ANSWERED,
                failure=why or None,
                cost=cost,
                latency_ms=seconds * 1000,
                logprobs=exchange.logprobs,
            )
        )
        if ended is not None:
            exchange.reply = (ended, why)
            raise _EndedError
        return response

    def _cost(self, response: Any) -> float | None:
        usage = getattr(response, "usage", None)
        if self._given_price and self._price is not None:
            return self._price.of(
                getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
            )
        hidden = getattr(response, "_hidden_params", None) or {}
        cost = hidden.get("response_cost")
        return float(cost) if isinstance(cost, int | float) else None


def refused(model: str, failure: Failure) -> ProviderRefusedError:
    """Make the error that says why a model takes no request, and what helps."""
    hints = {
        "unauthorised": "check the key in the provider's environment variable",
        "no_such_model": "check the model's name, and --endpoint if the server is your own",
        "quota": f"the account's quota is used up; {_GOES_ON}",
        "unsupported_parameter": f"`labeler doctor --model {model}` finds out what it supports",
    }
    hint = hints.get(failure.name, _GOES_ON)
    return ProviderRefusedError(f"{model} takes no request: {failure}", hint=hint)


def _mark_last(tries: list[Try], outcome: str, failure: str | None = None) -> None:
    if tries:
        tries[-1] = replace(tries[-1], outcome=str(outcome), failure=failure)
