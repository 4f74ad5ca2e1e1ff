"""The real embedded generator keeps to the grammar: one question that begins as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from labeler.providers import embedded_weights
from labeler.providers.chat import AnswerMode, ChatRequest
from labeler.providers.embedded_language_model import register
from labeler.providers.seam import load_litellm
from labeler.records.questions import QuestionKind
from labeler.synthesis.mean_logprob import question_log_probability
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.rendering import Model, question_request
from labeler.synthesis.tasks import QuestionTask

PARAMETERS = {"logprobs": True, "cache_prompt": True}
MODEL = Model("embedded/gemma-3-270m", AnswerMode.JSON_SCHEMA, PARAMETERS, weights="w")


@pytest.fixture(scope="module")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """litellm with the real model, whose weights are joined in a folder that goes away."""
    for package in ("xllamacpp", *(name for name, _ in embedded_weights._PARTS)):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra 'language-model')")
    folder: Path = tmp_path_factory.mktemp("weights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_weights, "_cache_folder", lambda: folder)
        register()
        yield load_litellm()


def request_for(text: str, view: int = 0) -> ChatRequest:
    chunk = PackChunk("c", "d", 0, "train", text, title='The "Blue" line\\', language="en")
    pack = SafePack("v1", "root", "sealed", (chunk,), ())
    return question_request(pack, QuestionTask(QuestionKind.FACTUAL, ("c",), view), MODEL)


@pytest.mark.parametrize(
    ("text", "view", "beginning"),
    [
        ("A permit for the car park costs 4 euros a day and is sold at the gate.", 0, "How much "),
        (
            "If a driver's permit is lost, another one costs as much as the first.",
            0,
            "What happens",
        ),
        ("Dogs are welcome in every hall of the station, also in the waiting room.", 0, ""),
        ("Dogs are welcome in every hall of the station, also in the waiting room.", 2, ""),
    ],
)
def test_it_writes_one_question_that_begins_so(
    litellm: Any, text: str, view: int, beginning: str
) -> None:
    request = request_for(text, view)
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    asked = litellm.acompletion(model=request.model, messages=messages, **request.parameters)
    response = asyncio.run(asked)
    answer = json.loads(response.choices[0].message.content)
    assert list(answer) == ["question"]
    assert answer["question"].startswith(beginning)
    assert answer["question"].endswith("?")
    assert answer["question"].count("?") == 1
    value = question_log_probability(response)
    assert value is not None
    assert value < 0
