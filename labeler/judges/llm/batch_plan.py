"""Which requests go into a provider's batches, and the files that hold them."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import IO

from labeler.errors import BudgetReachedError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import Demand, PoolToJudge, demands
from labeler.judges.llm.session import JudgeLimits
from labeler.providers.batch_lines import line_of
from labeler.providers.bodies import BodyWriter
from labeler.providers.chat import ChatRequest
from labeler.store.database import Store

__all__ = ["BatchSize", "PlannedBatch", "planned_batches"]


@dataclass(frozen=True, slots=True)
class BatchSize:
    """How large one batch may be; by default what OpenAI and Azure take."""

    lines: int = 50_000
    bytes: int = 200_000_000


@dataclass
class PlannedBatch:
    """The lines of one batch.

    Attributes:
        file: They as they are uploaded.
        lines: The digest and the sample number of each.
        size: The file's length in bytes.
    """

    file: IO[bytes]
    lines: list[tuple[str, int]] = field(default_factory=list)
    size: int = 0

    def add(self, key: tuple[str, int], line: bytes) -> None:
        """Append a line."""
        self.file.write(line)
        self.lines.append(key)
        self.size += len(line)

    def has_room(self, line: bytes, most: BatchSize) -> bool:
        """Tell whether a line more fits."""
        return len(self.lines) < most.lines and self.size + len(line) <= most.bytes


@dataclass
class _Purse:
    """What the lines of a run cost at most."""

    limits: JudgeLimits
    spent: float = 0.0

    def pay(self, request: ChatRequest) -> None:
        """Set a line's worst case aside.

        Raises:
            BudgetReachedError: When it could pass the limit.
        """
        price, limit = self.limits.price, self.limits.max_cost
        if limit is None or price is None:
            return
        worst = price.worst(request)
        if worst is None:
            raise AssertionError("a limit on cost without a limit on an answer's length")
        if self.spent + worst > limit:
            raise BudgetReachedError(
                f"the limit of ${limit:g} is reached: the lines submitted cost at most "
                f"${self.spent:.4f}, and the next could cost ${worst:.4f}",
                hint="the same command with a higher --max-cost goes on from here",
            )
        self.spent += worst


async def planned_batches(
    store: Store, pool: PoolToJudge, judge: LlmJudge, limits: JudgeLimits, most: BatchSize
) -> AsyncIterator[PlannedBatch]:
    """Go through a pool and give batches of what is to be asked, each as soon as it is full.

    A batch's file is closed when the next one is asked for.

    Raises:
        BudgetReachedError: After the last batch, when lines were left out for their cost.
        ProviderRefusedError: When the model takes no such request.
    """
    bodies, purse = BodyWriter(), _Purse(limits)
    given: set[tuple[str, int]] = set()
    stop: BudgetReachedError | None = None
    wanted = _wanted(store, pool, judge, limits)
    request_at = next(wanted, None)
    while request_at is not None and stop is None:
        # In a file, since passages of 200 MB needn't be in memory; it has no name on disk.
        with tempfile.TemporaryFile() as file:
            batch = PlannedBatch(file)
            while request_at is not None:
                request, place = request_at
                key = (request.digest, place)
                if key not in given:
                    line = line_of(*key, await bodies.body(request))
                    if batch.lines and not batch.has_room(line, most):
                        break
                    try:
                        purse.pay(request)
                    except BudgetReachedError as error:
                        stop = error
                        break
                    batch.add(key, line)
                    given.add(key)
                request_at = next(wanted, None)
            if batch.lines:
                yield batch
    if stop is not None:
        raise stop


def _wanted(
    store: Store, pool: PoolToJudge, judge: LlmJudge, limits: JudgeLimits
) -> Iterator[tuple[ChatRequest, int]]:
    """Give the requests that have no answer yet, each with the number of the sample."""
    for part in demands(store, pool, judge, retry=limits.retry):
        for demand in part:
            yield from _lacking(demand)


def _lacking(demand: Demand) -> Iterator[tuple[ChatRequest, int]]:
    first = demand.standing.asked
    for place in range(first, first + demand.wanted):
        for request in demand.question.requests:
            if place >= len(demand.known.get(request.digest, ())):
                yield request, place
