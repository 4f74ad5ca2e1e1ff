"""The lines of a provider's batch: requests as they are written, answers as they are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labeler.providers.batches import BATCH_URL
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode, AnswerShape, Ended, Reply, Try
from labeler.providers.client import refused
from labeler.providers.failures import Action, classify
from labeler.providers.logprobs import code_logprobs
from labeler.providers.reading import UnreadableAnswer, clean_text
from labeler.providers.receiving import read_response, try_of, what_is_wrong
from labeler.providers.seam import load_litellm
from labeler.providers.validation import validated

__all__ = ["LineReader", "line_of"]

_OK = 200
_NEVER_RUN = "batch_"
"""How the code of an error begins that says that the batch ended before a line's turn."""


class _LineError(Exception):
    """A line's error, in the form in which a call's failure is classified."""

    def __init__(self, said: str, code: str, status: int | None) -> None:
        super().__init__(said)
        self.code = code
        self.status_code = status


def line_of(digest: str, sample: int, body: Mapping[str, Any]) -> bytes:
    """Write a request as one line of a batch's file."""
    line = {"custom_id": f"{digest}-{sample}", "method": "POST", "url": BATCH_URL, "body": body}
    # ASCII, so that nothing in a text can end a line.
    return json.dumps(line).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True)
class LineReader:
    """Reads the answers of a batch as a call's response is read.

    Attributes:
        model: The model as litellm names it.
        mode: How it was held to the shape of the answer.
        price: What the user says that a token costs in a batch, or None.
        cost: The cost of a response where the user says nothing, from its tokens.
        secrets: Keys that no stored text may hold.
    """

    model: str
    mode: AnswerMode
    price: Price | None
    cost: Callable[[Any], float | None]
    secrets: Sequence[str]

    def read(
        self, text: bytes, shape: AnswerShape, at: datetime
    ) -> tuple[tuple[str, int], Reply] | None:
        """Read a line of a batch's output or error file.

        Args:
            text: The line.
            shape: The shape of the answer.
            at: When the batch was made.

        Returns:
            The digest and the sample number of the request, and what came of it; None for a
            request that was never run, and for a line that can't be read.
        """
        try:
            line = json.loads(text)
            digest, _, sample = line["custom_id"].rpartition("-")
            key = (digest, int(sample))
        except (ValueError, LookupError, TypeError, AttributeError):
            return None
        response, error = _object(line.get("response")), _object(line.get("error"))
        if response.get("status_code") == _OK and isinstance(response.get("body"), dict):
            return key, self._answer(response["body"], shape, at)
        if str(error.get("code")).startswith(_NEVER_RUN):
            return None
        told = error or _object(_object(response.get("body")).get("error"))
        return key, self._failed(told, response.get("status_code"), at)

    def _failed(self, told: Mapping[str, Any], status: int | None, at: datetime) -> Reply:
        said = str(told.get("message") or "no reason was given")
        code = " ".join(str(told[name]) for name in ("type", "code") if told.get(name))
        return self._lost(_LineError(said, code, status), at)

    def _lost(self, error: Exception, at: datetime) -> Reply:
        failure = classify(error)
        ended = failure.ended if failure.action is Action.FAIL else Ended.FAILED
        return Reply(
            failure.ended,
            why=str(failure),
            tries=(Try(at=at, outcome=ended, failure=str(failure)),),
            stop=refused(self.model, failure) if failure.action is Action.ABORT else None,
        )

    def _answer(self, body: Mapping[str, Any], shape: AnswerShape, at: datetime) -> Reply:
        try:
            response = _as_litellm_gives_it(body)
        except Exception as error:  # noqa: BLE001 - classified: it raises anything
            return self._lost(error, at)
        raw, ended, why = read_response(response, shape, self.mode, self.secrets)
        logprobs = code_logprobs(response, shape.key, shape.codes)
        fields: Mapping[str, Any] = {}
        if ended is None:
            ended = Ended.ANSWERED
            try:
                fields = validated(clean_text(raw), shape)
            except (UnreadableAnswer, ValueError) as error:
                ended = Ended.FAILED
                why = f"the answer doesn't fit the schema: {what_is_wrong(error)}"
        usage = getattr(response, "usage", None)
        note = try_of(
            response,
            raw,
            at=at,
            outcome=ended,
            failure=why or None,
            cost=self._cost(usage),
            latency_ms=None,
            logprobs=logprobs,
        )
        return Reply(ended, fields=fields, why=why, tries=(note,), logprobs=logprobs)

    def _cost(self, usage: Any) -> float | None:
        if self.price is None:
            return self.cost(usage)
        return self.price.of(
            getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        )


def _as_litellm_gives_it(body: Mapping[str, Any]) -> Any:
    """Make of a response's body what litellm makes of it when it comes at once."""
    litellm = load_litellm()
    from litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response import (
        convert_to_model_response_object,
    )

    return convert_to_model_response_object(
        response_object=dict(body), model_response_object=litellm.ModelResponse()
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
