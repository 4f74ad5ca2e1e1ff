"""What a model can do: found out by `labeler doctor --model X`, or presumed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.providers.chat import AnswerMode
from labeler.providers.context_length import context_in_table
from labeler.records import table
from labeler.records.ledger import ModelProfile

__all__ = ["Profile", "presumed_profile", "read_profile", "write_profile"]

_PROFILE = table(ModelProfile)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a model does.

    Attributes:
        mode: How it is best held to the shape of an answer.
        logprobs: Whether it gives real log-probabilities in that mode.
        temperature: Whether it takes a temperature of 0.
        context_length: Tokens of prompt and answer together, where known.
        refusal: The form that a refusal takes (``field``, ``filter``, ``prose``, ``status``), or
            None when it refused nothing or wasn't asked.
        origin: ``probed`` by doctor, or ``presumed`` from litellm's tables.
    """

    mode: AnswerMode
    logprobs: bool
    temperature: bool
    context_length: int | None = None
    refusal: str | None = None
    origin: Literal["probed", "presumed"] = "presumed"

    def to_json(self) -> str:
        """Write it as canonical JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Profile:
        """Read what `to_json` wrote."""
        content: dict[str, Any] = json.loads(text)
        return cls(**{**content, "mode": AnswerMode(content["mode"])})


def read_profile(connection: Connection, model: str, endpoint: str | None) -> Profile | None:
    """Read what doctor found out about a model at an endpoint."""
    statement = sa.select(_PROFILE.c.body).where(
        _PROFILE.c.model == model, _PROFILE.c.endpoint == (endpoint or "")
    )
    body = connection.execute(statement).scalar()
    return None if body is None else Profile.from_json(str(body))


def write_profile(
    connection: Connection, model: str, endpoint: str | None, profile: Profile, at: datetime
) -> None:
    """Keep what was found out, in place of what was known before."""
    key = (_PROFILE.c.model == model, _PROFILE.c.endpoint == (endpoint or ""))
    connection.execute(sa.delete(_PROFILE).where(*key))
    statement = sa.insert(_PROFILE).values(
        model=model, endpoint=endpoint or "", body=profile.to_json(), probed_at=at
    )
    connection.execute(statement)


def presumed_profile(model: str) -> Profile:
    """Presume what a model does, from litellm's tables; cautious where they don't know it."""
    from labeler.providers.seam import load_litellm

    litellm = load_litellm()
    if model.startswith("embedded/"):
        return Profile(AnswerMode.JSON_SCHEMA, logprobs=True, temperature=True)
    supported = litellm.get_supported_openai_params(model) or []
    mode = AnswerMode.TOOLS
    if litellm.supports_response_schema(model=model):
        mode = AnswerMode.JSON_SCHEMA
    elif "tools" not in supported:
        mode = AnswerMode.TEXT
    return Profile(
        mode=mode,
        logprobs="logprobs" in supported,
        # Reasoning models refuse every temperature but their own.
        temperature="temperature" in supported and not litellm.supports_reasoning(model=model),
        context_length=context_in_table(model, litellm.model_cost),
    )
