"""From options to a judge that can start: profile, parameters, price, examples."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.judges.llm.examples import choose_examples, read_examples
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.passages import PassageLimit
from labeler.judges.llm.pool import PoolToJudge
from labeler.judges.llm.prompts import find_prompt
from labeler.judges.llm.store import judge_job_digest
from labeler.providers.batch_price import batch_price_of
from labeler.providers.budget import Price, price_of
from labeler.providers.chat import AnswerMode
from labeler.providers.profiles import Profile, presumed_profile, read_profile
from labeler.providers.seam import load_litellm
from labeler.records import table
from labeler.records.ledger import Job

__all__ = ["LlmOptions", "find_price", "judge_of", "make_judge", "profile_of"]

_TOP_LOGPROBS = 5
_SAMPLING_TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """What a user says of a judge. None means: as the model's profile has it.

    Attributes:
        model: The model as litellm names it.
        prompt: A shipped prompt's name, or a file.
        mode: How the model is held to the shape of the answer.
        temperature: By default 0 for one sample and 1 for several.
        max_output_tokens: The most that one answer may have.
        logprobs: Whether to ask for log-probabilities.
        endpoint: The provider's address.
        passages: How long passages may be.
        samples: Answers for each item.
        occasion: The how many-th time the items are judged.
        examples: How many solved examples to show.
    """

    model: str
    prompt: str = "direct"
    mode: AnswerMode | None = None
    temperature: float | None = None
    max_output_tokens: int = 800
    logprobs: bool | None = None
    endpoint: str | None = None
    passages: PassageLimit = field(default_factory=PassageLimit)
    samples: int = 1
    occasion: int = 1
    examples: int = 0


def make_judge(connection: Connection, pool: PoolToJudge, options: LlmOptions) -> LlmJudge:
    """Make the judge that options name, for a pool.

    Examples are chosen once and kept with the job, so that votes that come later don't change
    what an unfinished run asks.

    Raises:
        NotFoundError: When there is no such prompt, or examples can't be had.
        InputError: When a prompt's file is no prompt.
        UsageError: When options contradict one another.
    """
    judge = judge_of(options, connection)
    if not options.examples:
        return judge
    # Those of the first occasion: with others it would be another judge.
    kept = _kept_examples(connection, pool, replace(judge, occasion=1, _renderers={}))
    if len(kept) == options.examples:
        examples = read_examples(connection, kept)
    else:
        examples = choose_examples(connection, pool.pool_id, options.examples)
    return replace(judge, examples=examples, _renderers={})


def judge_of(options: LlmOptions, connection: Connection | None = None) -> LlmJudge:
    """Make the judge that options name, without examples.

    Args:
        options: What the user says of it.
        connection: A project, for what doctor found out about the model; None presumes.

    Raises:
        NotFoundError: When there is no such prompt.
        InputError: When a prompt's file is no prompt.
        UsageError: When options contradict one another.
    """
    if options.samples < 1 or options.max_output_tokens < 1 or options.passages.characters < 1:
        raise UsageError("--samples, --max-output-tokens and --max-passage are 1 or more")
    if options.occasion < 1 or (options.occasion > 1 and options.samples > 1):
        raise UsageError(
            "--occasion is 1 or more, and after the first each item is asked once",
            hint="leave --samples out; --temperature as it was on the first occasion",
        )
    endpoint = endpoint_of(options.model, options.endpoint, os.environ)
    if connection is None:
        profile = presumed_profile(options.model)
    else:
        profile = profile_of(connection, options.model, endpoint)
    prompt = find_prompt(options.prompt)
    weights = None
    if options.model.startswith("embedded/"):
        from labeler.providers import embedded_language_model

        embedded_language_model.register()
        weights = embedded_language_model.digest()
    return LlmJudge(
        model=options.model,
        prompt=prompt,
        mode=options.mode or profile.mode,
        parameters=_parameters(options, profile, wants="level_probability" in prompt.signals),
        endpoint=endpoint,
        passages=options.passages,
        samples=options.samples,
        occasion=options.occasion,
        weights=weights,
    )


def _parameters(options: LlmOptions, profile: Profile, *, wants: bool) -> dict[str, Any]:
    parameters: dict[str, Any] = {"max_tokens": options.max_output_tokens}
    if options.temperature is not None:
        parameters["temperature"] = options.temperature
    elif options.samples > 1:
        parameters["temperature"] = _SAMPLING_TEMPERATURE
    elif profile.temperature:
        parameters["temperature"] = 0.0
    asks = options.logprobs if options.logprobs is not None else profile.logprobs and wants
    if asks:
        parameters |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
    return parameters


def _kept_examples(connection: Connection, pool: PoolToJudge, judge: LlmJudge) -> list[int]:
    job = table(Job)
    statement = sa.select(job.c.settings).where(job.c.digest == judge_job_digest(pool, judge))
    settings = connection.execute(statement).scalar()
    return list(json.loads(settings).get("examples", [])) if settings else []


def profile_of(connection: Connection, model: str, endpoint: str | None) -> Profile:
    """Give what doctor found out about a model, else what is presumed of it."""
    return read_profile(connection, model, endpoint) or presumed_profile(model)


def endpoint_of(model: str, given: str | None, environment: Mapping[str, str]) -> str | None:
    """Tell the address that requests will go to, None for the provider's usual one.

    What the environment says is made explicit, since it decides who answers.

    Raises:
        UsageError: When the address holds a password, which would be stored.
    """
    endpoint = given
    if endpoint is None and model.startswith("openai/"):
        endpoint = environment.get("OPENAI_BASE_URL") or environment.get("OPENAI_API_BASE")
    if endpoint and re.search(r"://[^/]*@", endpoint):
        raise UsageError(
            "the address holds a user or a password, which would be stored with every request",
            hint="give the key in the provider's environment variable",
        )
    return endpoint.rstrip("/") if endpoint else None


def find_price(model: str, given: str | None, *, batch: bool = False) -> Price | None:
    """Give the price that the user states, else the one in litellm's table, else None.

    Args:
        model: The model as litellm names it.
        given: What the user states.
        batch: Whether the price in a provider's batch is meant.

    Raises:
        UsageError: When what the user states is no price.
    """
    if given is not None:
        return Price.parse(given)
    if model.startswith("embedded/"):
        return Price(0.0, 0.0)
    known = load_litellm().model_cost
    return batch_price_of(model, known) if batch else price_of(model, known)
