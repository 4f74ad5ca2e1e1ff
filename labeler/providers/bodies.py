"""The body of a request as it goes over the wire, without sending it: the lines of batches.

It comes out of the same calls as a request that is sent (instructor, then litellm), so a line of
a batch and a call that is answered at once are one and the same request.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from labeler.errors import ProviderRefusedError
from labeler.providers.chat import ChatRequest
from labeler.providers.redaction import redacted
from labeler.providers.seam import call_arguments, load_litellm, structured, wire_parameters
from labeler.providers.seam import wire_messages as messages_of

__all__ = ["BodyWriter"]


class _CaughtError(Exception):
    """What was to be sent is known."""


class BodyWriter:
    """Writes bodies. litellm takes 9 ms for one, so what requests share is asked for once."""

    def __init__(self) -> None:
        self._shared: dict[str, dict[str, Any]] = {}

    async def body(self, request: ChatRequest) -> dict[str, Any]:
        """Write the body of a request.

        Raises:
            ProviderRefusedError: When litellm knows that the model doesn't take such a request.
        """
        messages = messages_of(request)
        key = _kind_of(request)
        if key not in self._shared:
            body = await _written(request)
            contents = [message.get("content") for message in body["messages"]]
            if contents != [message["content"] for message in messages]:
                return body  # it says more than these texts, so it serves for this request alone
            self._shared[key] = body
        shared = self._shared[key]
        said = [
            {**alike, "content": message["content"]}
            for alike, message in zip(shared["messages"], messages, strict=True)
        ]
        return {**shared, "messages": said}


def _kind_of(request: ChatRequest) -> str:
    """Tell apart requests that differ in more than the texts of their messages."""
    parts = [
        request.model,
        request.endpoint,
        request.mode.value,
        request.shape.digest,
        sorted(request.parameters.items()),
        [message.role for message in request.messages],
    ]
    return json.dumps(parts)


async def _written(request: ChatRequest) -> dict[str, Any]:
    sent: dict[str, Any] = {}

    async def catch(**arguments: Any) -> None:
        sent.update(arguments)
        raise _CaughtError

    from instructor.core.exceptions import InstructorRetryException

    with suppress(_CaughtError, InstructorRetryException):
        await structured(catch, request.mode)(
            response_model=request.shape.model,
            max_retries=0,
            messages=messages_of(request),
            **wire_parameters(request),
        )
    arguments = call_arguments(request, sent)
    arguments.pop("api_key", None)  # it would be none of ours: this call gives one of its own
    load_litellm()
    from litellm.types.utils import CallTypes
    from litellm.utils import return_raw_request

    found = return_raw_request(CallTypes.completion, arguments)
    body = found.get("raw_request_body")
    if body is None:
        said = redacted(" ".join(str(found.get("error")).split()))[:300]
        raise ProviderRefusedError(
            f"{request.model} takes no request: {said}",
            hint=f"`labeler doctor --model {request.model}` finds out what it supports",
        )
    more = body.pop("extra_body", None) or {}
    return {**body, **more}
