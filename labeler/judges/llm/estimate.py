"""What a run would take, before anything is sent: calls, tokens, price."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge, demands
from labeler.judges.llm.session import JudgeLimits
from labeler.providers.chat import ChatRequest
from labeler.providers.seam import load_litellm
from labeler.store.database import Store

__all__ = ["estimate"]

_COUNTED = 200
_USUAL_ANSWER_TOKENS = 90


def estimate(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    *,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> dict[str, Any]:
    """Count what a run would ask for.

    Tokens of prompts are counted for the first requests and extrapolated by length for the rest;
    an answer is taken to have 90 tokens, and at most what `max_tokens` allows.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        limits: What the run may take; its price is used.
        advance: Told how many items were looked at, of how many.
    """
    items = known = waiting = calls = in_ledger = tokens = characters = all_characters = counted = 0
    worst = 0.0
    for part in demands(store, pool, judge, retry=limits.retry):
        for demand in part:
            items += 1
            known += not demand.wanted and not demand.waits
            waiting += demand.waits
            for request in demand.question.requests:
                paid = len(demand.known.get(request.digest, ())) - demand.standing.asked
                reused = min(max(paid, 0), demand.wanted)
                in_ledger += reused
                fresh = demand.wanted - reused
                calls += fresh
                all_characters += fresh * _characters(request)
                worst += fresh * (limits.price.worst(request) or 0.0 if limits.price else 0.0)
                if fresh and counted < _COUNTED:
                    counted += 1
                    tokens += _tokens(request)
                    characters += _characters(request)
        advance(items, len(pool.items))
    prompt_tokens = round(all_characters * tokens / characters) if characters else 0
    answer_tokens = calls * _USUAL_ANSWER_TOKENS
    price = limits.price.of(prompt_tokens, answer_tokens) if limits.price else None
    return {
        "items": items,
        "judged before": known,
        **({"in a provider's batch": waiting} if waiting else {}),
        "calls": calls,
        "from the ledger": in_ledger,
        "tokens in (estimate)": prompt_tokens,
        "tokens out (estimate)": answer_tokens,
        "price (estimate)": "unknown: state --price" if price is None else f"${price:.4f}",
        "price at most": "unknown" if price is None else f"${worst:.4f}",
    }


def _characters(request: ChatRequest) -> int:
    return sum(len(message.content) for message in request.messages) + len(
        request.shape.schema_text
    )


def _tokens(request: ChatRequest) -> int:
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    counter = load_litellm().token_counter
    return int(counter(model=request.model, messages=messages)) + int(
        counter(model=request.model, text=request.shape.schema_text)
    )
