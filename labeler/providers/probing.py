"""Finding out what a model does, with a handful of cheap calls.

Six answers are enough as a rule: a plain one, one with temperature 0, one in each further mode,
one with log-probabilities, one to a question that many models refuse. The plain request comes
first, so that a wrong key or name costs one call, and what a later request is turned away for is
what it added. From then on the temperature is 0 where it can be, as in judging.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from labeler.errors import LabelerError, ProviderDownError, ProviderRefusedError
from labeler.providers.chat import AnswerMode, ChatRequest, Reply, Try
from labeler.providers.client import ClientSettings, ModelClient
from labeler.providers.context_length import context_at, context_in_error, context_in_table
from labeler.providers.findings import Finding, Rating
from labeler.providers.limits import Limiter
from labeler.providers.probe_question import BAIT, HARMLESS, question
from labeler.providers.probe_reading import (
    Answer,
    Held,
    Seen,
    brief,
    held,
    logprobs_finding,
    mode_finding,
    refusal_finding,
    refusal_form,
)
from labeler.providers.profiles import Profile
from labeler.providers.seam import load_litellm, provider_connections

__all__ = ["Probed", "Spent", "probe_model"]

_ATTEMPTS = 3
_SEED = 0xD0C
_TOKENS, _MORE_TOKENS = 800, 4_000
"""What one answer may have: as much as a judge allows by default; more for a model that thinks."""
_TOP_LOGPROBS = 5

_HOLDING = (AnswerMode.JSON_SCHEMA, AnswerMode.TOOLS)
_CHOICE = (
    (AnswerMode.JSON_SCHEMA, {Held.HELD}),
    (AnswerMode.TOOLS, {Held.HELD}),
    (AnswerMode.TEXT, {Held.HELD, Held.READABLE}),
    (AnswerMode.JSON_SCHEMA, {Held.READABLE}),
    (AnswerMode.TOOLS, {Held.READABLE}),
)
"""The best mode first."""

_NEVER = frozenset({"unauthorised", "payment_required", "quota"})
_NOT_NOW = frozenset({"timeout", "throttled", "not_now"})


@dataclass(frozen=True, slots=True)
class Spent:
    """What the probes took.

    Attributes:
        cost: US dollars, of the answers whose cost is known.
        unpriced: How many answers have no known cost.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced: int


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found out; the profile is None when no answer could be used."""

    profile: Profile | None
    findings: tuple[Finding, ...]
    spent: Spent


def probe_model(
    model: str, endpoint: str | None, *, timeout: float, clock: Callable[[], datetime]
) -> Probed:
    """Find out what a model does; runs an event loop of its own.

    Args:
        model: The model as litellm names it; one in this process must be registered.
        endpoint: The provider's address where it isn't the usual one.
        timeout: Seconds for one HTTP request.
        clock: Tells the time.

    Raises:
        ProviderRefusedError: When the provider takes no request: key, rights, model, quota.
        ProviderDownError: When it doesn't answer.
    """
    seen: list[Seen] = []
    client = ModelClient(
        limiter=Limiter(most=1, monotonic=time.monotonic),
        settings=ClientSettings(attempts=_ATTEMPTS, reasks=0, timeout=timeout),
        clock=clock,
        monotonic=time.monotonic,
        sleep=asyncio.sleep,
        jitter=random.Random(_SEED),  # noqa: S311 - spreads retries, hides nothing
        watch=lambda response: seen.append(Seen.of(response)),
    )

    async def work() -> Probed:
        async with provider_connections():
            return await _Probe(model, endpoint, client.ask, seen).run()

    return asyncio.run(work())


@dataclass
class _Probe:
    """One model that is probed, and what is known so far."""

    model: str
    endpoint: str | None
    ask_client: Callable[[ChatRequest], Awaitable[Reply]]
    seen: list[Seen]
    parameters: dict[str, Any] = field(default_factory=lambda: {"max_tokens": _TOKENS})
    tries: list[Try] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    takes_temperature: bool | None = None
    without_temperature: str = ""

    async def run(self) -> Probed:
        answers = await self._modes()
        mode = _best(answers)
        if mode is None:
            return await self._unusable(answers)
        self._tell_mode(mode)
        if self.takes_temperature is None:
            await self._temperature(mode)
        self._tell_temperature()
        logprobs = await self._logprobs(mode)
        context = await self._context()
        bait = await self._ask(mode, about=BAIT)
        self.findings.append(refusal_finding(bait))
        profile = Profile(
            mode=mode,
            logprobs=logprobs,
            temperature=bool(self.takes_temperature),
            context_length=context,
            refusal=refusal_form(bait),
            origin="probed",
        )
        return Probed(profile, tuple(self.findings), self._spent())

    async def _modes(self) -> dict[AnswerMode, Answer]:
        """Ask in every mode; once more with room to think where all that came was cut off."""
        text = await self._ask(AnswerMode.TEXT, is_plain=True)
        if text.seen is not None:
            answer = await self._temperature(AnswerMode.TEXT)
            text = answer if self.takes_temperature else text
        answers = {AnswerMode.TEXT: text}
        answers |= {mode: await self._ask(mode) for mode in _HOLDING}
        became = {mode: held(answer, mode) for mode, answer in answers.items()}
        if _best(answers) is None and Held.TRUNCATED in became.values():
            self.parameters["max_tokens"] = _MORE_TOKENS
            answers = {mode: await self._ask(mode) for mode in AnswerMode}
            enough = _best(answers) is not None
            self.findings.append(
                Finding(
                    "length of an answer",
                    Rating.WARN if enough else Rating.BAD,
                    f"more than {_TOKENS if enough else _MORE_TOKENS:,} tokens: the model thinks",
                    f"give `labeler judge run` --max-output-tokens {_MORE_TOKENS}"
                    if enough
                    else None,
                )
            )
        for mode in (*_HOLDING, AnswerMode.TEXT):
            self.findings.append(mode_finding(mode, answers[mode], held(answers[mode], mode)))
        return answers

    def _tell_mode(self, mode: AnswerMode) -> None:
        loose = mode is AnswerMode.TEXT
        self.findings.append(
            Finding(
                "mode",
                Rating.WARN if loose else Rating.OK,
                f"{mode.value} is used",
                "nothing holds the model to the shape: some answers will be asked for twice"
                if loose
                else None,
            )
        )

    async def _temperature(self, mode: AnswerMode) -> Answer:
        """Ask with temperature 0, and keep to it where it is taken."""
        answer = await self._ask(mode, {"temperature": 0.0})
        self.takes_temperature = answer.seen is not None
        if self.takes_temperature:
            self.parameters["temperature"] = 0.0
        else:
            self.without_temperature = brief(answer.reply.why)
        return answer

    def _tell_temperature(self) -> None:
        self.findings.append(
            Finding("temperature 0", Rating.OK, "taken")
            if self.takes_temperature
            else Finding(
                "temperature 0",
                Rating.WARN,
                f"not taken: {self.without_temperature}",
                "none is sent: the same item may get another level when it is asked again",
            )
        )

    async def _logprobs(self, mode: AnswerMode) -> bool:
        wanted = {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
        finding = logprobs_finding(await self._ask(mode, wanted))
        self.findings.append(finding)
        return finding.rating is Rating.OK

    async def _context(self, stated: int | None = None) -> int | None:
        """Read the context length: the server's own word, else the table's, else an error's."""
        served = None
        if self.endpoint is not None:
            served = await asyncio.to_thread(context_at, self.endpoint, self.model)
        listed = context_in_table(self.model, load_litellm().model_cost)
        for tokens, where in (
            served or (None, ""),
            (listed, "litellm's table"),
            (stated, "what the provider said"),
        ):
            if tokens is not None:
                found = f"{tokens:,} tokens ({where})"
                self.findings.append(Finding("context length", Rating.OK, found))
                return tokens
        hint = "--max-passage keeps passages short; a prompt that is too long fails, and says so"
        if self.model.startswith("ollama"):
            hint = (
                "Ollama cuts a prompt that is too long without a word: see `ollama ps`, and "
                "OLLAMA_CONTEXT_LENGTH"
            )
        self.findings.append(Finding("context length", Rating.NOTE, "unknown", hint))
        return None

    async def _unusable(self, answers: Mapping[AnswerMode, Answer]) -> Probed:
        said = [answer.reply.why for answer in answers.values()]
        stated = [context_in_error(why) for why in said if why.startswith("context_overflow")]
        if stated:
            await self._context(stated[0])
        found = "no mode gives an answer that can be used"
        self.findings.append(
            Finding("mode", Rating.BAD, found, "choose another model; nothing can be judged by it")
        )
        return Probed(None, tuple(self.findings), self._spent())

    async def _ask(
        self,
        mode: AnswerMode,
        more: Mapping[str, Any] | None = None,
        *,
        about: tuple[str, str] = HARMLESS,
        is_plain: bool = False,
    ) -> Answer:
        self.seen.clear()
        parameters = {**self.parameters, **(more or {})}
        reply = await self.ask_client(question(self.model, self.endpoint, mode, parameters, about))
        self.tries.extend(reply.tries)
        answer = Answer(reply, self.seen[-1] if self.seen else None)
        if error := _end(self.model, answer, is_plain=is_plain):
            raise error from None
        return answer

    def _spent(self) -> Spent:
        answered = [one for one in self.tries if one.has_response]
        return Spent(
            calls=len(self.tries),
            prompt_tokens=sum(one.prompt_tokens or 0 for one in answered),
            completion_tokens=sum(one.completion_tokens or 0 for one in answered),
            cost=sum(one.cost or 0.0 for one in answered),
            unpriced=sum(one.cost is None for one in answered),
        )


def _best(answers: Mapping[AnswerMode, Answer]) -> AnswerMode | None:
    """Choose the mode that holds a model best, or None when no answer can be used."""
    for mode, enough in _CHOICE:
        if held(answers[mode], mode) in enough:
            return mode
    return None


def _end(model: str, answer: Answer, *, is_plain: bool) -> LabelerError | None:
    """Tell why probing can't go on, or None.

    Some services say "no such model" or fail when just a parameter isn't to their liking, so such
    an answer ends it only where the request was plain.
    """
    if answer.seen is not None:
        return None
    stop, failure = answer.reply.stop, answer.failure
    if stop is not None and (is_plain or failure in _NEVER):
        if failure == "unsupported_parameter":
            return ProviderRefusedError(
                f"{model} takes no plain request: {brief(answer.reply.why)}",
                hint="the message says what it doesn't take; every judge would send that",
            )
        return stop
    if failure in _NOT_NOW or (is_plain and failure == "server_error"):
        return ProviderDownError(
            f"{model} doesn't answer: {brief(answer.reply.why)}",
            hint="see that it runs, and --endpoint; a slow one needs more than --timeout allows",
        )
    return None
