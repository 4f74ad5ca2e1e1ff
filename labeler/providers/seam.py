"""The only place that touches litellm: one async function sends one HTTP request.

Everything above is ours: retries, limits, budget, ledger. So litellm's own retries, fallbacks and
caches stay off, its loggers are silent, and keys stay in the environment, where it finds them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from labeler.providers.chat import AnswerMode, ChatRequest

__all__ = [
    "call_arguments",
    "load_litellm",
    "send",
    "structured",
    "wire_messages",
    "wire_parameters",
]

_QUIET = ("litellm", "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "instructor", "httpx", "openai")


@cache
def load_litellm() -> Any:
    """Import litellm, which takes seconds, without its reading .env or asking the network."""
    # In production mode it leaves .env alone; the price table is the one it ships.
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.success_callback = []
    litellm.failure_callback = []
    silence_loggers()
    return litellm


def silence_loggers() -> None:
    """Keep other libraries from printing what they were sent, which may hold a key."""
    for name in (
        *_QUIET,
        *(one for one in logging.root.manager.loggerDict if one.startswith(_QUIET)),
    ):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL + 1)


@asynccontextmanager
async def provider_connections() -> AsyncIterator[None]:
    """Close litellm's connections at the end; one event loop a process."""
    try:
        yield
    finally:
        litellm = load_litellm()
        await litellm.close_litellm_async_clients()
        # It closes those of every loop and keeps them all, to be found again.
        litellm.in_memory_llm_clients_cache.flush_cache()


def structured(send: Callable[..., Awaitable[Any]], mode: AnswerMode) -> Any:
    """Wrap a sending function in instructor. Text mode differs only in what `send` leaves out."""
    import instructor

    silence_loggers()
    load_litellm()
    kind = instructor.Mode.TOOLS if mode is AnswerMode.TOOLS else instructor.Mode.JSON_SCHEMA
    client = instructor.from_litellm(send, mode=kind, async_client=True)
    return client.chat.completions.create


def wire_messages(request: ChatRequest) -> list[dict[str, str]]:
    """Give the messages as they are sent."""
    return [{"role": message.role, "content": message.content} for message in request.messages]


def wire_parameters(request: ChatRequest) -> dict[str, Any]:
    """Give all that is sent beside the messages and the answer's schema."""
    parameters = {"model": request.model, **request.parameters}
    if request.endpoint is not None:
        parameters["api_base"] = request.endpoint
        if request.model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
            # A server of one's own needs no key, but the client refuses to start without one.
            parameters["api_key"] = "none"
    return parameters


def strict_schema(request: ChatRequest) -> dict[str, Any]:
    """Give the response format that holds a provider to the answer's schema."""
    name = request.shape.model.__name__
    schema = {"name": name, "schema": request.shape.schema, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def call_arguments(request: ChatRequest, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Give what litellm is called with.

    Args:
        request: The request.
        sent: What instructor made of it: messages with re-asks, the tool or response format.
    """
    arguments = dict(sent)
    if request.mode is AnswerMode.TEXT:
        arguments.pop("response_format", None)
    elif request.mode is AnswerMode.JSON_SCHEMA:
        arguments["response_format"] = strict_schema(request)
    return {**arguments, "max_retries": 0, "num_retries": 0}


async def send(request: ChatRequest, sent: Mapping[str, Any], *, timeout: float) -> Any:
    """Send one HTTP request and give litellm's response.

    Args:
        request: The request.
        sent: What instructor made of it.
        timeout: Seconds.
    """
    return await load_litellm().acompletion(**call_arguments(request, sent), timeout=timeout)
