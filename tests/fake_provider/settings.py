"""What a fake provider can be told, at its start and while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Settings:
    """The behaviour that all scenarios share; what differs is told by the model's name."""

    latency: float = 0.0
    """Seconds between a request and its answer, in every scenario but ``slow``."""
    slow_latency: float = 3.0
    """The same for the scenario ``slow``."""
    retry_after: float = 0.05
    """Seconds that Retry-After names where the model's name doesn't say another number."""
    codes: tuple[str, ...] = ("0", "1", "2")
    """Codes of the levels, lowest first, for requests that carry no schema."""
    keep: int = 200
    """How many of the last requests are kept whole; 0 for measurements."""
    re_asks: tuple[str, ...] = (
        "Correct your JSON",
        "Recall the function",
        "Validation Error",
    )
    """How a user message begins that only asks again for what an earlier one asked."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What the scenario ``says:KEY`` answers, by key."""
    max_model_len: int | None = None
    """The context length that the list of models states, as vLLM's does; None for none."""
    batch_polls: int = 1
    """How many polls find a batch in progress before one finds it ended."""

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """Give these settings with some of them changed, as they come from JSON.

        Raises:
            ValueError: For a setting that there is not.
        """
        unknown = set(changes) - {known.name for known in fields(self)}
        if unknown:
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in changes.items()
        }
        return replace(self, **values)
