"""A language model in the process, for litellm: ``embedded/gemma-3-270m``; no key, no network.

The engine is llama.cpp, through xllamacpp. The model is Gemma 3 270M, a base model of 4 bit: it
runs the whole path with real answers, and as a relevance judge it is at chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from labeler.errors import LabelerError
from labeler.providers.embedded_engine import context_length, digest, engine, engine_thread
from labeler.providers.embedded_weights import NOTICE, WEIGHTS_SHA256, weights_path
from labeler.providers.seam import load_litellm

__all__ = [
    "MODEL_NAMES",
    "NOTICE",
    "WEIGHTS_SHA256",
    "context_length",
    "digest",
    "is_embedded",
    "register",
    "weights_path",
]

_PROVIDER = "embedded"

MODEL_NAMES: tuple[str, ...] = (f"{_PROVIDER}/gemma-3-270m",)
"""The models that run in the process, as litellm names them."""

_UNDERSTOOD = frozenset(
    {
        "cache_prompt",
        "frequency_penalty",
        "grammar",
        "logit_bias",
        "logprobs",
        "max_tokens",
        "min_p",
        "presence_penalty",
        "repeat_penalty",
        "response_format",
        "seed",
        "stop",
        "temperature",
        "top_k",
        "top_logprobs",
        "top_p",
    }
)
_FOR_TRANSPORT = frozenset({"max_retries", "stream"})
_SERVER_ERRORS = 500


def is_embedded(model: str) -> bool:
    """Tell whether a model's name asks for a model in the process, a known one or not."""
    return model.startswith(f"{_PROVIDER}/")


def register() -> None:
    """Make litellm know the embedded models, at no price; a second call changes nothing.

    The weights are joined and verified here and loaded (0.7 s, 440 MB) at the first request. One
    engine serves the process, one request after another. A process that has used it must not
    fork: start others with ``spawn``.

    Raises:
        MissingExtraError: When a package is not installed.
        JudgeError: When the model can't run here or its weights are not the expected ones.
    """
    weights_path()
    litellm = load_litellm()
    handler = _handler()
    if any(item["custom_handler"] is handler for item in litellm.custom_provider_map):
        return
    litellm.custom_provider_map = [
        *litellm.custom_provider_map,
        {"provider": _PROVIDER, "custom_handler": handler},
    ]
    free = dict.fromkeys(
        (
            "input_cost_per_token",
            "output_cost_per_token",
            "cache_creation_input_token_cost",
            "cache_read_input_token_cost",
        ),
        0.0,
    )
    facts = {
        "litellm_provider": _PROVIDER,
        "mode": "chat",
        "max_input_tokens": context_length(),
        "max_output_tokens": context_length(),
        "supports_response_schema": True,
    }
    litellm.register_model({name: {**free, **facts} for name in MODEL_NAMES})


@cache
def _handler() -> Any:
    load_litellm()
    from litellm import ModelResponse
    from litellm.llms.custom_llm import CustomLLM

    class EmbeddedLanguageModel(CustomLLM):
        """Answers chat completions of the provider ``embedded`` as OpenAI's API does.

        A request that has begun can't be stopped; a cancelled one that waits is never begun.
        """

        async def acompletion(self, *_: Any, **call: Any) -> ModelResponse:
            name = f"{_PROVIDER}/{call['model']}"
            request = _request(name, call["messages"], call["optional_params"])
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(engine_thread(), _answer, name, request)
            return ModelResponse(
                id=answer["id"],
                created=answer["created"],
                model=name,
                choices=answer["choices"],
                usage=answer["usage"],
                system_fingerprint=WEIGHTS_SHA256,
            )

    return EmbeddedLanguageModel()


def _request(
    model: str, messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Make the engine's request, without anything that the engine would ignore in silence."""
    from litellm import exceptions

    if model not in MODEL_NAMES:
        raise exceptions.NotFoundError(
            f"there is no such model; there is {', '.join(MODEL_NAMES)}",
            model=model,
            llm_provider=_PROVIDER,
        )
    wanted = {name: value for name, value in parameters.items() if name not in _FOR_TRANSPORT}
    if unknown := sorted(wanted.keys() - _UNDERSTOOD):
        raise exceptions.UnsupportedParamsError(
            f"{model} does not support parameters: {', '.join(unknown)}",
            model=model,
            llm_provider=_PROVIDER,
        )
    response_format = wanted.get("response_format") or {}
    if response_format.get("type") == "json_schema":
        schema = (response_format.get("json_schema") or {}).get("schema")
        if not isinstance(schema, dict) or not schema:
            raise exceptions.BadRequestError(
                "response_format holds no JSON schema: json_schema.schema is empty",
                model=model,
                llm_provider=_PROVIDER,
            )
    return {"messages": list(messages), **wanted}


def _answer(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the engine, in its thread; every failure becomes the error that an API would give."""
    from litellm import exceptions

    try:
        server = engine()
    except (LabelerError, ImportError, RuntimeError) as error:
        # Not found: no request can succeed, so nobody should try the next one.
        raise exceptions.NotFoundError(
            f"the model can't be loaded: {error}",
            model=model,
            llm_provider=_PROVIDER,
        ) from error
    try:
        answer: dict[str, Any] = server.handle_chat_completions(dict(request))
    except (ValueError, RuntimeError) as error:  # a schema or a text that it can't read
        raise exceptions.BadRequestError(str(error), model=model, llm_provider=_PROVIDER) from error
    if "error" in answer:
        raise _as_raised_by_an_api(model, answer["error"])
    return answer


def _as_raised_by_an_api(model: str, error: Mapping[str, Any]) -> Exception:
    from litellm import exceptions

    message = str(error.get("message"))
    if error.get("type") == "exceed_context_size_error":
        message = (
            f"the prompt has {error.get('n_prompt_tokens')} tokens,"
            f" the model's context holds {error.get('n_ctx')}"
        )
        body = {"message": message, "code": "context_length_exceeded"}
        return exceptions.ContextWindowExceededError(
            message, model=model, llm_provider=_PROVIDER, body=body
        )
    if int(error.get("code") or _SERVER_ERRORS) < _SERVER_ERRORS:
        return exceptions.BadRequestError(
            message, model=model, llm_provider=_PROVIDER, body=dict(error)
        )
    return exceptions.InternalServerError(message, model=model, llm_provider=_PROVIDER)
