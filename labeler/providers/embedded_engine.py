"""The engine of the embedded language model: llama.cpp in the process, through xllamacpp."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import MappingProxyType
from typing import Any

from labeler.providers.embedded_weights import WEIGHTS_SHA256, missing_extra, weights_path

__all__ = ["context_length", "digest", "engine", "engine_thread"]

_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        # A prompt of 4,096 tokens takes 20 seconds on one core; twice that would time out.
        "n_ctx": 4096,
        # A base model ends where it likes; this ends a request that sets no limit.
        "n_predict": 1024,
        "n_parallel": 1,
        "swa_full": True,
        # A prompt that begins like the last one would be read in other portions than a fresh one,
        # and the same greedy request would get another answer. `cache_prompt=True` in a request
        # takes that for speed.
        "cache_prompt": False,
        # On the processor wherever there is another device: those compute otherwise.
        "n_gpu_layers": 0,
        "no_op_offload": True,
        # A base model knows no roles: it goes on where the last message ends.
        "chat_template": "{% for m in messages %}{{ m['content'] }}"
        "{% if not loop.last %}{{ '\\n\\n' }}{% endif %}{% endfor %}",
    }
)
"""What decides an answer, beside the weights and the number of threads (1)."""


def context_length() -> int:
    """Give the number of tokens that prompt and answer may have together."""
    return int(_SETTINGS["n_ctx"])


def digest() -> str:
    """Give the SHA-256 of all that decides an answer: weights, engine, settings.

    Another processor may differ in the last bits of a log-probability, and then in a word.

    Raises:
        MissingExtraError: When the engine is not installed.
    """
    try:
        version = importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        raise missing_extra() from None
    content = {"weights": WEIGHTS_SHA256, "engine": version, "n_threads": 1, **_SETTINGS}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def engine_thread() -> ThreadPoolExecutor:
    """Give the one thread that asks the engine: more would wait inside it, past cancelling."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-language-model")


@cache
def engine() -> Any:
    """Load the model; called in the engine's thread only, so that there is never a second one."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights_path())
    # Two threads are slower than one when cores are shared, and compute other last bits.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    for name, value in _SETTINGS.items():
        setattr(params, name, value)
    # The engine listens on loopback whether it is wanted or not: nobody has the key.
    params.api_keys = [secrets.token_urlsafe()]
    params.ui = params.endpoint_slots = False
    # Otherwise old prompts are kept, in up to 8 GB.
    params.cache_ram_mib = 0
    params.fit_params = False
    params.verbosity = -1
    return xllamacpp.Server(params)
