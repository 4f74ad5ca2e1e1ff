"""How many tokens a model's context holds: as litellm's table, its server or an error tells.

No over-long request is ever sent to find out: a server that takes it would charge for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

__all__ = ["context_at", "context_in_error", "context_in_table"]

_SECONDS = 5.0
_MOST_BYTES = 4_000_000
_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
"""As vLLM and SGLang, OpenRouter and Together, Groq, Mistral name it in their list of models."""
_STATED = re.compile(
    r"(?:maximum context length|context (?:size|window|length)|n_ctx|context holds)"
    r"(?: of| is)?[\"':=\s(]*(\d{1,9})",
    re.IGNORECASE,
)


def context_in_table(model: str, known: Mapping[str, Any]) -> int | None:
    """Read the context length from litellm's table, in tokens; None when it isn't there.

    Args:
        model: The model, with or without its provider.
        known: The table: model to its entries.
    """
    entry = known.get(model) or known.get(model.split("/", 1)[-1]) or {}
    return _count(entry.get("max_input_tokens"))


def context_in_error(message: str) -> int | None:
    """Read the context length from what a provider says of a prompt that is too long."""
    found = _STATED.search(message)
    return _count(int(found[1])) if found else None


def context_at(endpoint: str, model: str) -> tuple[int, str] | None:
    """Ask a server how long its context is; nothing is generated, and nothing charged.

    Its list of models tells it on vLLM and several services; on llama.cpp ``/props`` does.

    Args:
        endpoint: The address that requests are sent to, such as ``http://127.0.0.1:8080/v1``.
        model: The model as litellm names it.

    Returns:
        Tokens, and where that was read; None when the server doesn't tell.
    """
    # The key that the requests take there themselves; a model without its provider names none.
    provider, _, name = model.partition("/") if "/" in model else ("", "", model)
    key = os.environ.get(f"{provider.upper()}_API_KEY")
    base = endpoint.rstrip("/")
    for entry in _entries(_fetched(f"{base}/models", key), name):
        for field in _NAMES:
            if tokens := _count(entry.get(field)):
                return tokens, f"{field} in the server's list of models"
    props = _fetched(f"{base.removesuffix('/v1')}/props", key)
    settings = props.get("default_generation_settings")
    for holder in (settings, props):
        if isinstance(holder, dict) and (tokens := _count(holder.get("n_ctx"))):
            return tokens, "n_ctx in the server's /props"
    return None


def _entries(listed: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Give the model's entry in a list of models, or the only one that there is."""
    data = listed.get("data")
    entries = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
    yield from (one for one in entries if one.get("id") == name or len(entries) == 1)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class _StayHere(HTTPRedirectHandler):
    """Follows no redirect: the key would go with it, to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _fetched(url: str, key: str | None) -> dict[str, Any]:
    """Read a JSON object from a server; empty when there is none."""
    if not url.startswith(("http://", "https://")):
        return {}
    headers = {"Accept": "application/json", "User-Agent": "labeler"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        request = Request(url, headers=headers)  # noqa: S310 - checked above: http or https
        with build_opener(_StayHere).open(request, timeout=_SECONDS) as answer:
            content = json.loads(answer.read(_MOST_BYTES))
    except (URLError, HTTPException, OSError, ValueError):
        return {}  # a server that doesn't say it
    return content if isinstance(content, dict) else {}
