"""One behaviour a model name: what the provider does with a request, as a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.fake_provider.answers import Payload, chosen_level, completion, judge, written
from tests.fake_provider.asking import ChatRequest, number_of
from tests.fake_provider.settings import Settings


@dataclass(frozen=True, slots=True)
class Call:
    """A request, and what the provider remembers about those before it."""

    request: ChatRequest
    settings: Settings
    arguments: tuple[str, ...] = ()
    """What stands after the scenario's name, taken apart at ``:``."""
    tries: int = 0
    """How often the same body was sent before."""
    item_tries: int = 0
    """How often the same item was asked before, in whatever body."""
    in_flight: int = 1
    """Requests of this model that wait for their answers, with this one."""
    lately: int = 0
    """Requests of this model in the last second that were not turned away."""

    def number(self, place: int, default: int) -> int:
        """Read a whole number out of the scenario's name."""
        return int(self.arguments[place]) if len(self.arguments) > place else default


@dataclass(frozen=True, slots=True)
class Reply:
    """What the provider does: it sends an answer, closes the connection, or does nothing."""

    status: int = 200
    payload: Payload = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    does: Literal["send", "drop", "hang"] = "send"
    delay: float | None = None
    """Seconds until the answer; None for what the settings say."""


Scenario = Callable[[Call], Reply]
SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    """Register the behaviour of a model name."""

    def register(behaviour: Scenario) -> Scenario:
        SCENARIOS[name] = behaviour
        return behaviour

    return register


def scenario_of(model: str) -> tuple[str, tuple[str, ...]]:
    """Take a model's name apart: the scenario's name and its arguments."""
    name, *arguments = model.rpartition("/")[2].split(":")
    return name, tuple(arguments)


def error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
    wait: float | None = None,
    delay: float | None = None,
    more: Mapping[str, Any] | None = None,
) -> Reply:
    """Refuse in the form that OpenAI uses."""
    content = {"message": message, "type": kind, "param": param, "code": code, **(more or {})}
    headers = {} if wait is None else {"retry-after": f"{wait:g}"}
    return Reply(status, {"error": content}, headers, delay=delay)


def answer(call: Call, level: Any, confidence: float | None = None) -> Reply:
    """Judge properly."""
    judged = judge(call.request, level, confidence=confidence)
    return Reply(payload=completion(call.request, written(judged.fields), judged=judged))


@scenario("plain")
def plain(call: Call) -> Reply:
    """Give a level that the item's text decides."""
    return answer(call, chosen_level(call.request))


@scenario("slow")
def slow(call: Call) -> Reply:
    """Do the same after a while: ``slow`` or ``slow:SECONDS``."""
    delay = float(call.arguments[0]) if call.arguments else call.settings.slow_latency
    return replace(plain(call), delay=delay)


@scenario("level")
def one_level(call: Call) -> Reply:
    """``level:CODE``: give always the same level."""
    code = call.arguments[0]
    known = next((level for level in call.request.allowed if str(level) == code), code)
    return answer(call, known, 0.99)


@scenario("noisy")
def noisy(call: Call) -> Reply:
    """``noisy:SEED``: another level for each seed, so that a panel disagrees."""
    return answer(call, chosen_level(call.request, ":".join(call.arguments)))


@scenario("wavering")
def wavering(call: Call) -> Reply:
    """``wavering:SEED``: another level at each try of the same request, as when sampling."""
    seed = (*call.arguments, call.tries)
    return answer(call, chosen_level(call.request, seed))


@scenario("marked")
def marked(call: Call) -> Reply:
    """Do what the item says by ``[[scenario=NAME]]``, so that one pool holds many behaviours."""
    name, arguments = scenario_of(call.request.marked_scenario or "plain")
    return SCENARIOS[name](replace(call, arguments=arguments))


@scenario("squeamish")
def squeamish(call: Call) -> Reply:
    """``squeamish:SCENARIO``: do that where the item speaks of poison, else answer properly."""
    name, *arguments = call.arguments or ("refusal",)
    if "poison" not in call.request.item.lower():
        return plain(call)
    return SCENARIOS[name](replace(call, arguments=tuple(arguments)))


def chance(*parts: object) -> float:
    """Turn texts into a number in [0, 1)."""
    return number_of(*parts) / 2**64
