"""What generating may take: requests at once, requests a minute, money."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from labeler.errors import UsageError
from labeler.providers.budget import Price

__all__ = ["GenerateLimits"]


@dataclass(frozen=True, slots=True)
class GenerateLimits:
    """What a run may take; the limit on cost is for generator and judge together.

    Attributes:
        max_concurrency: The most requests in flight.
        requests_per_minute: None for no limit.
        max_cost: US dollars, or None.
        price: The price of the generator's tokens, where known.
        judge_price: The price of the judge's tokens, where known.
        price_is_given: Whether the user stated them.
        timeout: Seconds for one HTTP request.
        attempts: HTTP requests for one answer, while failures pass.
    """

    max_concurrency: int = 16
    requests_per_minute: float | None = None
    max_cost: float | None = None
    price: Price | None = None
    judge_price: Price | None = None
    price_is_given: bool = False
    timeout: float = 60.0
    attempts: int = 5

    def __post_init__(self) -> None:
        if self.max_cost is not None and not 0 <= self.max_cost < math.inf:
            raise UsageError("--max-cost is a number of US dollars, 0 or more")
        positive = {
            "--max-concurrency": self.max_concurrency,
            "--attempts": self.attempts,
            "--timeout": self.timeout,
            "--rpm": 1.0 if self.requests_per_minute is None else self.requests_per_minute,
        }
        wrong = [name for name, value in positive.items() if not 0 < value < math.inf]
        if wrong:
            raise UsageError(f"{' and '.join(wrong)}: a number above 0 is needed")

    def refuse_unknown_price(self, *, judged: bool) -> None:
        """Refuse a limit on cost that can't be kept.

        Raises:
            UsageError: When a model that will be asked has no known price.
        """
        unknown = self.price is None or (judged and self.judge_price is None)
        if self.max_cost is not None and unknown:
            raise UsageError(
                "the price of a model is unknown, so --max-cost can't be kept",
                hint="state it in US dollars for a million tokens in and out: --price 0.15,0.60",
            )

    def to_json(self) -> dict[str, Any]:
        """Write them as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> GenerateLimits:
        """Read what `to_json` wrote."""
        prices = {
            name: None if content[name] is None else Price(**content[name])
            for name in ("price", "judge_price")
        }
        return cls(**{**content, **prices})
