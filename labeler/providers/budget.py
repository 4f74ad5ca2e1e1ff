"""Money: what a call costs at most, and a purse that is never overdrawn.

The worst case of a call is set aside before it is sent. When its true cost is known, the rest goes
back. So the limit holds whatever happens in between.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from labeler.errors import BudgetReachedError, UsageError
from labeler.providers.chat import ChatRequest

__all__ = ["Counter", "LocalCounter", "Price", "Purse", "price_of"]

_NANO = 1_000_000_000
_POLL_SECONDS = 0.05

_PROMPT_RATES = ("input_cost_per_token", "cache_creation_input_token_cost")
_COMPLETION_RATES = ("output_cost_per_token", "output_cost_per_reasoning_token")
_ONLY_ON_REQUEST = ("_batches", "_flex", "above_1hr", "above_12hr")
_BESIDE_TOKENS = ("input_cost_per_request", "cost_per_second", "citation_cost_per_token")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a token; ``batch`` is what a provider's batch costs of it, as a share."""

    prompt: float
    completion: float
    batch: float | None = None

    def worst(self, request: ChatRequest) -> float | None:
        """What a call costs at most, in US dollars; None when nothing limits the answer."""
        most = request.most_completion_tokens
        if most is None:
            return None
        return request.most_prompt_tokens * self.prompt + most * self.completion

    def of(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """What a call with these tokens costs; None when the provider didn't count them."""
        if prompt_tokens is None or completion_tokens is None:
            return None
        return prompt_tokens * self.prompt + completion_tokens * self.completion

    @classmethod
    def parse(cls, text: str) -> Price:
        """Read ``IN,OUT``: US dollars for a million tokens of prompt and of answer.

        Raises:
            UsageError: When it isn't two numbers of 0 or more.
        """
        try:
            prompt, completion = (float(part) for part in text.split(","))
        except ValueError:
            prompt = completion = math.nan
        if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
            raise UsageError(
                f"'{text}' is no price",
                hint="--price takes US dollars for a million tokens in and out: 0.15,0.60",
            )
        return cls(prompt / 1e6, completion / 1e6)


def price_of(model: str, known: Mapping[str, Any]) -> Price | None:
    """Read a model's price from litellm's table; the dearest tier counts.

    None when it is unknown, and when a provider charges for more than tokens (requests, searches,
    citations).

    Args:
        model: The model, with or without its provider.
        known: The table: model to its entries, in US dollars a token.
    """
    entry = known.get(model) or known.get(model.split("/", 1)[-1])
    if not entry or _charges_otherwise(entry):
        return None
    prompt, completion = _dearest(entry, _PROMPT_RATES), _dearest(entry, _COMPLETION_RATES)
    if prompt is None or completion is None:
        return None
    batched, plain = entry.get("input_cost_per_token_batches"), entry.get("input_cost_per_token")
    return Price(prompt, completion, batch=batched / plain if batched and plain else None)


def _charges_otherwise(entry: Mapping[str, Any]) -> bool:
    always_searches = entry.get("litellm_provider") == "perplexity"
    return any(name.endswith(_BESIDE_TOKENS) and entry[name] for name in entry) or (
        always_searches and "search_context_cost_per_query" in entry
    )


def _dearest(entry: Mapping[str, Any], kinds: tuple[str, ...]) -> float | None:
    """Give the highest rate that a call may be charged at; the first kind has to be there."""
    rates = [
        (name, float(value))
        for tier in (entry, *(entry.get("tiered_pricing") or ()))
        for name, value in tier.items()
        if name.startswith(kinds)
        and isinstance(value, int | float)
        and not any(part in name for part in _ONLY_ON_REQUEST)
    ]
    if not any(name.startswith(kinds[0]) for name, _ in rates):
        return None
    return max(rate for _, rate in rates)


class Counter(Protocol):
    """Two whole numbers that one lock guards: what is spent and what is set aside."""

    spent: int
    held: int

    def lock(self) -> AbstractContextManager[Any]:
        """Guard both."""


class LocalCounter:
    """A counter for one process and one event loop."""

    def __init__(self) -> None:
        self.spent = 0
        self.held = 0

    def lock(self) -> AbstractContextManager[Any]:
        """Nothing runs between two statements of one event loop."""
        return nullcontext()


class Purse:
    """A limit on cost that is never passed.

    Args:
        limit: In US dollars.
        counter: Where the sums stand; several processes may share one.
    """

    def __init__(self, limit: float, counter: Counter | None = None) -> None:
        self.limit = limit
        self._limit = math.floor(limit * _NANO)
        self._counter = counter or LocalCounter()

    @property
    def spent(self) -> float:
        """US dollars spent, counting the worst case where the true cost stayed unknown."""
        return self._counter.spent / _NANO

    async def hold(self, worst: float) -> int:
        """Set the worst case of a call aside, waiting for other calls to settle if need be.

        Returns:
            What to give to `settle`.

        Raises:
            BudgetReachedError: When even with all calls settled it could pass the limit.
        """
        wanted = math.ceil(worst * _NANO)
        while True:
            with self._counter.lock():
                if self._counter.spent + self._counter.held + wanted <= self._limit:
                    self._counter.held += wanted
                    return wanted
                if self._counter.spent + wanted > self._limit or not self._counter.held:
                    raise BudgetReachedError(
                        f"the limit of ${self.limit:g} is reached: ${self.spent:.4f} spent, and "
                        f"the next call could cost ${worst:.4f}",
                        hint="the same command with a higher --max-cost goes on from here",
                    )
            await asyncio.sleep(_POLL_SECONDS)

    def settle(self, held: int, cost: float | None) -> None:
        """Book what a call cost; None books all that was set aside."""
        with self._counter.lock():
            self._counter.held -= held
            self._counter.spent += held if cost is None else math.ceil(cost * _NANO)
