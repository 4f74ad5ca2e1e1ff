"""What a fake provider counts, so that tests can say who asked how often and what was paid."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fake_provider.asking import ChatRequest, number_of

TOO_MANY = 429


@dataclass(slots=True)
class ModelCounts:
    """One model's counts since the start or the last reset."""

    requests: int = 0
    in_flight: int = 0
    in_flight_peak: int = 0
    early: int = 0
    """Requests that came back sooner than Retry-After had told them."""
    batch_lines: int = 0
    """Requests that came in a batch; they are in no other count but those of what was paid."""
    statuses: Counter[str] = field(default_factory=Counter)
    paid: Counter[bytes] = field(default_factory=Counter)
    """Answers with usage, by the request's digest."""
    tokens_in: int = 0
    tokens_out: int = 0
    """Tokens of all answers that were sent, as their usage says."""
    tries: Counter[bytes] = field(default_factory=Counter)
    item_tries: Counter[int] = field(default_factory=Counter)
    lately: deque[float] = field(default_factory=deque)
    """When the requests of the last second that were not turned away came."""
    due: dict[bytes, float] = field(default_factory=dict)
    """When a request that was turned away may come again."""

    def as_json(self) -> dict[str, Any]:
        """Give the counts as tests read them."""
        return {
            "requests": self.requests,
            "answered": self.statuses["200"],
            "in_flight": self.in_flight,
            "in_flight_peak": self.in_flight_peak,
            "early": self.early,
            "batch_lines": self.batch_lines,
            "statuses": dict(self.statuses),
            "paid_total": self.paid.total(),
            "paid_distinct": len(self.paid),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }

    def answered(self, request: ChatRequest, payload: Mapping[str, Any]) -> None:
        """Count an answer that has to be paid."""
        usage = payload.get("usage")
        if usage is not None:
            self.paid[request.digest] += 1
            self.tokens_in += usage["prompt_tokens"]
            self.tokens_out += usage["completion_tokens"]


@dataclass(slots=True)
class Tally:
    """All counts of one provider, and the last requests whole."""

    clock: Callable[[], float]
    models: dict[str, ModelCounts] = field(default_factory=dict)
    endpoints: Counter[str] = field(default_factory=Counter)
    authorizations: Counter[str] = field(default_factory=Counter)
    kept: deque[dict[str, Any]] = field(default_factory=deque)

    def keep_last(self, number: int) -> None:
        """Keep that many of the last requests whole, from now on."""
        self.kept = deque(self.kept, maxlen=number)

    def of(self, model: str) -> ModelCounts:
        """Give a model's counts."""
        found = self.models.get(model)
        if found is None:
            found = self.models[model] = ModelCounts()
        return found

    def came(self, request: ChatRequest) -> tuple[ModelCounts, int, int]:
        """Count a try of a request; give how often its body and its item were tried before."""
        counts = self.of(request.model)
        item = number_of(request.item)
        before, item_before = counts.tries[request.digest], counts.item_tries[item]
        counts.tries[request.digest] = before + 1
        counts.item_tries[item] = item_before + 1
        return counts, before, item_before

    def opened(self, counts: ModelCounts, request: ChatRequest) -> None:
        """Count a request over HTTP that now waits for its answer."""
        counts.requests += 1
        counts.in_flight += 1
        counts.in_flight_peak = max(counts.in_flight_peak, counts.in_flight)
        now = self.clock()
        # A client's timer may end a little early; a thousandth of a second is no offence.
        if counts.due and now < counts.due.pop(request.digest, 0.0) - 0.001:
            counts.early += 1
        while counts.lately and counts.lately[0] <= now - 1.0:
            counts.lately.popleft()

    def closed(
        self, counts: ModelCounts, request: ChatRequest, status: str, wait: float | None
    ) -> None:
        """Count how a request ended: with a status, ``dropped`` or ``hung``."""
        counts.in_flight -= 1
        counts.statuses[status] += 1
        if status != str(TOO_MANY):
            counts.lately.append(self.clock())
        if wait:
            counts.due[request.digest] = self.clock() + wait
