"""What a run would ask, without asking: chunks, tasks and the most that they could cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

from labeler.synthesis.rendering import question_request
from labeler.synthesis.setup import GenerateOptions, Ground, domains_of
from labeler.synthesis.tasks import coverage_plan, eligible

__all__ = ["DomainPreview", "preview"]

_RATE = 0.4
"""The share of accepted questions that a first round reckons with."""


@dataclass(frozen=True, slots=True)
class DomainPreview:
    """What would be asked for one domain.

    Attributes:
        domain: The domain; None for documents without one.
        wanted: How many accepted questions are wanted.
        documents: Documents of train and dev with a chunk that can be asked about.
        chunks: These chunks.
        tasks: Questions that can be asked for at the most.
        first_requests: Requests that are reckoned with, earlier answers left aside.
        most_cost: What these requests cost at the most, in US dollars, without the judge's; None
            where the price is unknown.
    """

    domain: str | None
    wanted: int
    documents: int
    chunks: int
    tasks: int
    first_requests: int
    most_cost: float | None


def preview(ground: Ground, options: GenerateOptions) -> list[DomainPreview]:
    """Tell what would be asked for each domain.

    Raises:
        NotFoundError: When the pack has no such domain.
    """
    found = []
    for domain in domains_of(ground.pack, options.domains):
        chunks = eligible(ground.pack, domain)
        wanted = options.plan(domain)
        tasks = list(coverage_plan(ground.pack, wanted, {}))
        first = list(islice(tasks, math.ceil(options.per_domain / _RATE)))
        price = options.limits.price
        worst = [
            None
            if price is None
            else price.worst(question_request(ground.pack, task, options.generator))
            for task in first
        ]
        known = [cost for cost in worst if cost is not None]
        found.append(
            DomainPreview(
                domain=domain,
                wanted=options.per_domain,
                documents=len({chunk.document for chunk in chunks}),
                chunks=len(chunks),
                tasks=len(tasks),
                first_requests=len(first),
                most_cost=sum(known) if len(known) == len(worst) else None,
            )
        )
    return found
