"""From a model's name to what is done."""

from __future__ import annotations

import traceback
from dataclasses import replace

from tests.fake_provider import failures, oddities, questions
from tests.fake_provider.scenarios import SCENARIOS, Call, Reply, error, plain, scenario_of

MODULES = (failures, oddities, questions)
"""Scenarios register themselves when their module is loaded."""
_BATCH_MODELS = ("batch-expired", "batch-failed", "batch-stuck", "batch-partial", "batch-lost")
_KNOWN_MODELS = ("gpt-4o-mini",)
"""Models whose price is known; they do what ``plain`` does."""
SCENARIOS.update(dict.fromkeys((*_BATCH_MODELS, *_KNOWN_MODELS), plain))


def behave(call: Call) -> Reply:
    """Do what the model's name says; a model that there is not is answered so."""
    name, arguments = scenario_of(call.request.model)
    behaviour = SCENARIOS.get(name)
    if behaviour is None:
        message = (
            f"The model `{call.request.model}` does not exist or you do not have access to it."
        )
        return error(404, message, code="model_not_found")
    try:
        return behaviour(replace(call, arguments=arguments))
    except (LookupError, TypeError, ValueError) as problem:
        # A name such as flaky:x, or a schema that no provider would take.
        traceback.print_exc()
        return error(400, f"The fake provider cannot do this: {problem!r}")
