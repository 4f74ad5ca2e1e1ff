"""What a token costs in a provider's batch, by litellm's table; unknown stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labeler.providers.budget import Price
from labeler.providers.seam import load_litellm

__all__ = ["batch_cost", "batch_price_of"]

_SUFFIX = "_batches"
_PROMPT_RATES = ("input_cost_per_token", "cache_creation_input_token_cost")
_COMPLETION_RATES = ("output_cost_per_token",)


def batch_price_of(model: str, known: Mapping[str, Any]) -> Price | None:
    """Read what a model's tokens cost in a batch; the dearest tier counts. None when unknown.

    Args:
        model: The model, with or without its provider.
        known: litellm's table: model to its entries, in US dollars a token.
    """
    entry = known.get(model) or known.get(model.split("/", 1)[-1]) or {}
    prompt, completion = _dearest(entry, _PROMPT_RATES), _dearest(entry, _COMPLETION_RATES)
    if prompt is None or completion is None:
        return None
    return Price(prompt, completion)


def batch_cost(model: str) -> Callable[[Any], float | None]:
    """Make a function from the tokens that a response used to its cost in a batch.

    It gives None for a model whose rate in batches isn't known. litellm itself would take half of
    the usual rate then, which is a guess.
    """
    litellm = load_litellm()
    if batch_price_of(model, litellm.model_cost) is None:
        return lambda _: None
    from litellm.cost_calculator import batch_cost_calculator

    def cost(usage: Any) -> float | None:
        if getattr(usage, "prompt_tokens", None) is None:
            return None
        return float(sum(batch_cost_calculator(usage=usage, model=model)))

    return cost


def _dearest(entry: Mapping[str, Any], kinds: tuple[str, ...]) -> float | None:
    """Give the highest rate of a batch; the first kind has to be there."""
    if entry.get(f"{kinds[0]}{_SUFFIX}") is None:
        return None
    return max(
        float(value)
        for name, value in entry.items()
        if name.startswith(kinds) and name.endswith(_SUFFIX) and isinstance(value, int | float)
    )
