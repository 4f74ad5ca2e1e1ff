"""What a token costs in a batch: by the table, or unknown."""

from __future__ import annotations

import pytest

from labeler.providers.batch_price import batch_cost, batch_price_of
from labeler.providers.budget import Price
from labeler.providers.seam import load_litellm


def test_the_price_in_a_batch() -> None:
    table = {
        "m": {
            "input_cost_per_token": 4e-6,
            "input_cost_per_token_batches": 2e-6,
            "input_cost_per_token_above_200k_tokens_batches": 3e-6,
            "output_cost_per_token_batches": 8e-6,
        },
        "half": {"input_cost_per_token_batches": 2e-6, "output_cost_per_token": 8e-6},
    }
    assert batch_price_of("openai/m", table) == Price(3e-6, 8e-6)
    assert batch_price_of("half", table) is None
    assert batch_price_of("unknown", table) is None


def test_the_cost_in_a_batch() -> None:
    usage = load_litellm().Usage(prompt_tokens=1_000_000, completion_tokens=1_000_000)
    assert batch_cost("openai/gpt-4o-mini")(usage) == pytest.approx(0.075 + 0.30)
    assert batch_cost("openai/gpt-4o-mini")(None) is None
    assert batch_cost("openai/plain")(usage) is None
