"""Asking a language model: limits, budget, one layer of retries, a validated answer.

`ModelClient.ask` turns a request into a reply. Whatever happens is in the reply: what was tried,
how it ended, and whether going on makes sense at all.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from labeler.errors import BudgetReachedError, LabelerError, ProviderRefusedError
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import AnswerMode, ChatRequest, Ended, Reply, Try
from labeler.providers.failures import Action, Failure, classify
from labeler.providers.limits import Limiter
from labeler.providers.logprobs import code_logprobs
from labeler.providers.reading import CutOff, UnreadableAnswer, clean_text
from labeler.providers.redaction import redacted
from labeler.providers.seam import load_litellm, send, silence_loggers, wire_parameters
from labeler.providers.validation import fields_of, is_object

__all__ = ["ClientSettings", "ModelClient"]

_LONGEST_BACKOFF = 30.0
_LONGEST_RAW = 20_000
_LONGEST_REFUSAL = 400
_SURROGATE = re.compile(
    r"\\u[dD][89a-fA-F]|[\ud800-\udfff]"
)  # which the validator's parser refuses
_REFUSING = re.compile(
    r"(?:i(?:['’]m| am) (?:very )?sorry\b|sorry,"
    r"|i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t)"
    r" (?:\w+ ){0,2}(?:help|assist|comply|provide|fulfil|continue|do))",
    re.IGNORECASE,
)


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


class _TransportError(Exception):
    """One HTTP request failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.name)
        self.failure = failure


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
        self._create = {mode: _structured(self._send, mode) for mode in AnswerMode}

    async def ask(self, request: ChatRequest) -> Reply:
        """Ask until there is an answer that can be used, or none is to be had."""
        from instructor.core.exceptions import InstructorRetryException

        exchange = _Exchange(request)
        token = _EXCHANGE.set(exchange)
        why = "the answer doesn't fit the schema"
        try:
            answer = await self._create[request.mode](
                response_model=request.shape.model,
                max_retries=self._settings.reasks,
                messages=[
                    {"role": message.role, "content": message.content}
                    for message in request.messages
                ],
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
            if exchange.reply is None and exchange.stop is None:
                why = f"{why}: {_first_line(error.__cause__)}"
        finally:
            _EXCHANGE.reset(token)
        ended, said = exchange.reply or (Ended.FAILED, why)
        _mark_last(exchange.tries, ended)
        return Reply(ended, why=said, tries=tuple(exchange.tries), stop=exchange.stop)

    async def _send(self, **sent: Any) -> Any:
        """Send one request, again while its failures are of a kind that passes."""
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

        exchange = _EXCHANGE.get()
        if exchange.tries and exchange.tries[-1].outcome == Ended.ANSWERED:
            _mark_last(exchange.tries, "reasked")

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.failure.retry_after if isinstance(error, _TransportError) else None
            doubled: float = self._settings.backoff * 2 ** (state.attempt_number - 1)
            most = min(doubled, _LONGEST_BACKOFF)
            return (asked or 0.0) + most * self._jitter.uniform(0.5, 1.0)

        def passes(error: BaseException) -> bool:
            return isinstance(error, _TransportError) and error.failure.action is Action.RETRY

        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            retry=retry_if_exception(passes),
            wait=wait,
            sleep=self._sleep,
            reraise=True,
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
                raise _TransportError(failure) from None
            else:
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
            return await self._purse.hold(worst + more * self._price.prompt)
        except BudgetReachedError as error:
            exchange.stop = error
            raise

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
            exchange.stop = _refused(exchange.request.model, failure)

    def _received(
        self, exchange: _Exchange, response: Any, cost: float | None, seconds: float
    ) -> Any:
        """Note an answer, and end the request at once where no re-ask would help."""
        request = exchange.request
        exchange.reply = None
        raw, ended, why = _read(response, request)
        exchange.logprobs = code_logprobs(response, request.shape.key, request.shape.codes)
        usage = getattr(response, "usage", None)
        choices = getattr(response, "choices", None) or []
        exchange.tries.append(
            Try(
                at=self._clock(),
                outcome=ended or Ended.ANSWERED,
                failure=why or None,
                model=getattr(response, "model", None),
                fingerprint=getattr(response, "system_fingerprint", None),
                prompt_tokens=getattr(usage, "prompt_tokens", None),
                completion_tokens=getattr(usage, "completion_tokens", None),
                cost=cost,
                latency_ms=seconds * 1000,
                finish_reason=str(choices[0].finish_reason) if choices else None,
                raw=redacted(clean_text(raw))[:_LONGEST_RAW],
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


def _structured(send: Callable[..., Awaitable[Any]], mode: AnswerMode) -> Any:
    """Wrap the sending function in instructor. Text mode differs only in what `send` leaves out."""
    import instructor

    silence_loggers()
    load_litellm()
    kind = instructor.Mode.TOOLS if mode is AnswerMode.TOOLS else instructor.Mode.JSON_SCHEMA
    client = instructor.from_litellm(send, mode=kind, async_client=True)
    return client.chat.completions.create


def _refused(model: str, failure: Failure) -> ProviderRefusedError:
    hints = {
        "unauthorised": "check the key in the provider's environment variable",
        "no_such_model": "check the model's name, and --endpoint if the server is your own",
        "quota": "the account's quota is used up; the same command goes on where it stopped",
        "unsupported_parameter": f"`labeler doctor --model {model}` finds out what it supports",
    }
    hint = hints.get(failure.name, "the same command goes on where it stopped")
    return ProviderRefusedError(f"{model} takes no request: {failure}", hint=hint)


def _mark_last(tries: list[Try], outcome: str) -> None:
    if tries:
        tries[-1] = replace(tries[-1], outcome=str(outcome))


def _first_line(error: BaseException | None) -> str:
    if error is None:
        return "unknown"
    lines = [line.strip() for line in redacted(str(error)).splitlines() if line.strip()]
    return " ".join(lines[1:3] or lines[:1])[:200]


def _read(response: Any, request: ChatRequest) -> tuple[str, Ended | None, str]:
    """Tell what a response holds: its text, and how the request ended if no re-ask would help.

    An answer that is there but wrapped (fences, thoughts, a text in place of a tool call) is put
    in the place where the validator looks for it.
    """
    choices = getattr(response, "choices", None) or []
    if not choices:
        return "", Ended.FAILED, "empty_response: no choices"
    choice = choices[0]
    message = choice.message
    calls = getattr(message, "tool_calls", None) or []
    content = message.content if isinstance(message.content, str) else ""
    text = (calls[0].function.arguments or "") if calls else content
    if refusal := _refusal(message):
        return refusal, Ended.REFUSED, f"refused: {clean_text(refusal)[:200]}"
    if choice.finish_reason == "content_filter":
        return text, Ended.REFUSED, "content_filter: the provider withheld the answer"
    if choice.finish_reason == "length":
        return text, Ended.TRUNCATED, "truncated: the limit on output tokens was reached"
    if not text.strip():
        return text, Ended.FAILED, "empty_response: no text"
    in_place = bool(calls) == (request.mode is AnswerMode.TOOLS)
    if in_place and is_object(text) and not _SURROGATE.search(text):
        return text, None, ""
    try:
        fields = fields_of(text, request.shape)
    except CutOff as error:
        return text, Ended.TRUNCATED, f"cut off: {error}"
    except UnreadableAnswer:
        if _REFUSING.match(text.strip()) and len(text) < _LONGEST_REFUSAL:
            return text, Ended.REFUSED, f"refused: {clean_text(text)[:200]}"
        return text, None, ""  # the validator says what is wrong, and the model is asked again
    _put_back(message, fields, request)
    return text, None, ""


def _refusal(message: Any) -> str | None:
    refusal = getattr(message, "refusal", None)
    if refusal is None:
        refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return refusal if isinstance(refusal, str) and refusal.strip() else None


def _put_back(message: Any, fields: Mapping[str, Any], request: ChatRequest) -> None:
    answer = clean_text(json.dumps(fields, ensure_ascii=False))
    calls = getattr(message, "tool_calls", None)
    if request.mode is not AnswerMode.TOOLS:
        message.content = answer
    elif calls:
        calls[0].function.arguments = answer
    else:
        from litellm.types.utils import ChatCompletionMessageToolCall, Function

        call = Function(name=request.shape.model.__name__, arguments=answer)
        message.tool_calls = [ChatCompletionMessageToolCall(function=call, id="1", type="function")]
