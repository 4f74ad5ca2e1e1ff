"""What generated questions come to: by filter, by kind, by what people said."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.ledger import Attempt, Job, Response
from labeler.records.questions import FindingOutcome, Quarantine, QuestionEventKind
from labeler.records.runs import Run
from labeler.records.splits import Exposure
from labeler.sealing.exposures import broken_exposures
from labeler.synthesis.reading import QuestionState, Stands
from labeler.synthesis.refit import Judged, judged_of

__all__ = [
    "FilterCount",
    "GenerationSummary",
    "blind_sample",
    "generation_cost",
    "judged_questions",
    "retriever_models",
    "safety_facts",
    "summarize",
]

_SCORES = {
    "log-probability": "log_probability",
    "evidence-similarity": "window_similarity",
    "answerable": "answerable",
}


@dataclass(frozen=True, slots=True)
class FilterCount:
    """What one filter did.

    Attributes:
        name: The filter.
        looked: Questions about which it said something.
        failed: How many of these it turned down.
        alone: How many of these no other filter turned down.
    """

    name: str
    looked: int
    failed: int
    alone: int


@dataclass(frozen=True)
class GenerationSummary:
    """What generated questions come to.

    Attributes:
        questions: How many there are.
        stands: How many stand where.
        passed: How many passed every filter.
        filters: What each filter did, in their order.
        tags: How many questions have each tag with something to say.
        by_kind: Questions and passed ones of each kind.
        by_domain: Questions and passed ones of each domain.
        documents: Documents, or chunks where that isn't known, that passed questions come from.
        people: What people said, of passed and of turned-down questions.
    """

    questions: int
    stands: dict[str, int]
    passed: int
    filters: tuple[FilterCount, ...]
    tags: dict[str, int]
    by_kind: dict[str, tuple[int, int]]
    by_domain: dict[str, tuple[int, int]]
    chunks: int
    people: dict[str, dict[str, int]] = field(default_factory=dict)


def summarize(states: Sequence[QuestionState]) -> GenerationSummary:
    """Count questions by what became of them."""
    looked: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    people: dict[str, Counter[str]] = defaultdict(Counter)
    order: dict[str, None] = {}
    for one in states:
        names = [each.name for each in one.failed]
        for each in one.findings:
            if each.outcome is FindingOutcome.TAG:
                tags[each.name] += bool(each.detail)
                continue
            order.setdefault(each.name)
            looked[each.name] += each.outcome is not FindingOutcome.UNMEASURED
        failed.update(names)
        if len(names) == 1:
            alone[names[0]] += 1
        if one.verdict is not None:
            people["turned down" if names else "passed"][one.verdict.kind.value] += 1
    passed = [one for one in states if not one.failed]
    return GenerationSummary(
        questions=len(states),
        stands={kind.value: sum(one.stands is kind for one in states) for kind in Stands},
        passed=len(passed),
        filters=tuple(FilterCount(name, looked[name], failed[name], alone[name]) for name in order),
        tags=dict(tags),
        by_kind=_pairs(states, lambda one: one.kind.value),
        by_domain=_pairs(states, lambda one: one.domain or ""),
        chunks=len({source.chunk for one in passed for source in one.sources}),
        people={name: dict(counts) for name, counts in people.items()},
    )


def _pairs(states: Iterable[QuestionState], key: Any) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for one in states:
        every, passed = found.get(key(one), (0, 0))
        found[key(one)] = (every + 1, passed + (not one.failed))
    return dict(sorted(found.items()))


def judged_questions(states: Iterable[QuestionState]) -> list[Judged]:
    """List what people said of questions, with what thresholds looked at."""
    return [
        judged_of(
            one.verdict.kind is QuestionEventKind.ACCEPT,
            {
                _SCORES[each.name]: each.score
                for each in one.findings
                if each.name in _SCORES and each.outcome is not FindingOutcome.UNMEASURED
            },
            one.probability or 1.0,
        )
        for one in states
        if one.verdict is not None
    ]


def blind_sample(
    states: Sequence[QuestionState], accepted: int, rejected: int, seed: int
) -> list[QuestionState]:
    """Draw passed and turned-down questions, in an order that tells nothing of which is which.

    Args:
        states: The questions.
        accepted: How many that passed every filter.
        rejected: How many that a filter turned down.
        seed: Decides the draw and the order.
    """

    def place(one: QuestionState) -> bytes:
        return hashlib.sha256(f"{seed}\n{one.digest}".encode()).digest()

    ordered = sorted((one for one in states if one.text is not None), key=place)
    passed = [one for one in ordered if not one.failed][:accepted]
    turned = [one for one in ordered if one.failed][:rejected]
    return sorted([*passed, *turned], key=place)


def safety_facts(connection: Connection, split_id: int) -> dict[str, int]:
    """Count exposures and what is quarantined, and check the chain of exposures."""
    exposure, quarantine = table(Exposure), table(Quarantine)
    counts = connection.execute(
        sa.select(sa.func.count(), sa.func.count(exposure.c.document_id.distinct())).where(
            exposure.c.split_id == split_id
        )
    ).one()
    kinds = connection.execute(
        sa.select(quarantine.c.kind, sa.func.count())
        .where(quarantine.c.split_id == split_id)
        .group_by(quarantine.c.kind)
    )
    withheld = {str(kind): int(count) for kind, count in kinds}
    return {
        "texts_exposed": int(counts[0]),
        "documents_exposed": int(counts[1]),
        "broken_exposures": len(broken_exposures(connection)),
        "chunks_quarantined": withheld.get("chunk", 0),
        "queries_quarantined": withheld.get("query", 0),
        "requests_quarantined": withheld.get("request", 0),
    }


def generation_cost(connection: Connection) -> dict[str, Any]:
    """Add up what all jobs of generating took."""
    job, attempt, response = table(Job), table(Attempt), table(Response)
    row = connection.execute(
        sa.select(
            sa.func.count(attempt.c.id.distinct()),
            sa.func.sum(response.c.prompt_tokens),
            sa.func.sum(response.c.completion_tokens),
            sa.func.sum(response.c.cost),
            sa.func.count(response.c.id) - sa.func.count(response.c.cost),
        )
        .select_from(attempt)
        .join(job, job.c.id == attempt.c.job_id)
        .outerjoin(response, response.c.attempt_id == attempt.c.id)
        .where(job.c.kind == "generate")
    ).one()
    return {
        "http_requests": int(row[0]),
        "prompt_tokens": int(row[1] or 0),
        "completion_tokens": int(row[2] or 0),
        "cost_usd": None if row[3] is None else round(float(row[3]), 6),
        "answers_of_unknown_cost": int(row[4]),
    }


def retriever_models(connection: Connection) -> frozenset[str]:
    """List what runs name as their retriever or reranker."""
    run = table(Run)
    rows = connection.execute(sa.select(run.c.retrieval_config, run.c.reranking_config))
    return frozenset(str(name) for row in rows for name in row if name)
