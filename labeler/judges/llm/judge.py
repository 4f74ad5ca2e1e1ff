"""A judge that is a language model with a prompt and parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labeler.assessment.blind import BlindItem, BlindQuery
from labeler.assessment.rubric import Rubric
from labeler.assessment.verdict import Verdict
from labeler.errors import UsageError
from labeler.judges.llm.answering import answer_shape, verdict_of
from labeler.judges.llm.passages import PassageLimit
from labeler.judges.llm.prompts import JudgePrompt
from labeler.judges.llm.rendering import Example, Renderer
from labeler.providers.chat import AnswerMode, AnswerShape, ChatRequest, Reply

__all__ = ["LlmJudge", "Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """An item as a judge is asked about it.

    Attributes:
        item: The item.
        query: Its query.
        rubric: Its rubric.
        shown: What each request shows of the passage.
        requests: One request, or one for each window.
    """

    item: BlindItem
    query: BlindQuery
    rubric: Rubric
    shown: tuple[str, ...]
    requests: tuple[ChatRequest, ...]

    @property
    def digest(self) -> str:
        """The identity of the judgment: of its request, or of all its windows' requests."""
        if len(self.requests) == 1:
            return self.requests[0].digest
        joined = "\n".join(request.digest for request in self.requests)
        return hashlib.sha256(joined.encode()).hexdigest()


@dataclass(frozen=True)
class LlmJudge:
    """A language model with a prompt and parameters.

    Attributes:
        model: The model as litellm names it.
        prompt: The prompt.
        mode: How the model is held to the shape of the answer.
        parameters: Parameters of every request, ``max_tokens`` among them.
        endpoint: The provider's address where it isn't the usual one.
        passages: How long passages may be.
        samples: How many answers to each request are wanted.
        occasion: The how many-th time the items are judged. After the first a sentinel set is
            judged again: that tells of the judge, and labels stay as they are.
        examples: Items that people decided, shown with every item.
        weights: The digest of the weights, where the model runs in this process.
    """

    model: str
    prompt: JudgePrompt
    mode: AnswerMode
    parameters: Mapping[str, Any]
    endpoint: str | None = None
    passages: PassageLimit = field(default_factory=PassageLimit)
    samples: int = 1
    occasion: int = 1
    examples: tuple[Example, ...] = ()
    weights: str | None = None
    _renderers: dict[str, tuple[Renderer, AnswerShape]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def name(self) -> str:
        """The name of the assessor: the model and the prompt."""
        return f"{self.model}+{self.prompt.name}"

    @property
    def models(self) -> frozenset[str]:
        """The model's own name, without provider and host."""
        return frozenset({self.model.rsplit("/", 1)[-1]})

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the answers beside the items and the examples, as plain values."""
        return {
            "model": self.model,
            "prompt": self.prompt.name,
            "prompt_digest": self.prompt.digest,
            "mode": self.mode.value,
            "parameters": dict(sorted(self.parameters.items())),
            "endpoint": self.endpoint,
            "passage_characters": self.passages.characters,
            "longer_passages": self.passages.longer,
            "weights": self.weights,
        }

    @property
    def digest(self) -> str:
        """The SHA-256 of all that decides its answers beside the items."""
        content = self.settings | {"examples": _example_texts(self.examples)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def question(self, query: BlindQuery, item: BlindItem, rubric: Rubric) -> Question:
        """Ask about one item.

        Raises:
            UsageError: When the prompt was written for another scale than the rubric's.
        """
        renderer, shape = self._for(rubric)
        shown = self.passages.shown(item.passage)
        requests = tuple(
            ChatRequest(
                model=self.model,
                messages=renderer.messages(query, item, text),
                shape=shape,
                mode=self.mode,
                parameters=self.parameters,
                endpoint=self.endpoint,
            )
            for text in shown
        )
        return Question(item, query, rubric, shown, requests)

    def verdict(self, question: Question, replies: Sequence[Reply]) -> Verdict:
        """Make a verdict of the replies, one for each request of the question."""
        return verdict_of(
            question.item,
            question.query,
            question.rubric.scale,
            question.shown,
            replies,
            is_cut=self.passages.is_cut(question.item.passage),
        )

    def _for(self, rubric: Rubric) -> tuple[Renderer, AnswerShape]:
        if rubric.digest not in self._renderers:
            if self.prompt.scale not in {None, rubric.scale.name}:
                raise UsageError(
                    f"prompt '{self.prompt.name}' is for the scale '{self.prompt.scale}', and the "
                    f"pool's rubric '{rubric.name}' uses '{rubric.scale.name}'",
                    hint="choose another --prompt, or leave 'scale' out of its header",
                )
            renderer = Renderer(self.prompt, rubric, self.mode, self.examples)
            self._renderers[rubric.digest] = (renderer, answer_shape(self.prompt, rubric.scale))
        return self._renderers[rubric.digest]


def _example_texts(examples: Sequence[Example]) -> list[list[str]]:
    return [[one.query.text, one.item.passage, one.level.name] for one in examples]
