"""From a blind item to the messages of a request. The passage travels as data, behind a fence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from labeler.assessment.blind import BlindItem, BlindQuery
from labeler.assessment.rubric import Rubric
from labeler.judges.llm.prompts import JudgePrompt
from labeler.labels import Level, Scale
from labeler.providers.chat import AnswerMode, Message
from labeler.providers.prompt_file import fill
from labeler.search.words import compatible

__all__ = ["ABSTAIN", "Example", "Renderer", "level_codes"]

ABSTAIN = "?"
"""The code with which a judge says that it cannot judge."""

_MOST_DIGIT = 9

_HOW = {
    AnswerMode.JSON_SCHEMA: "Answer with one JSON object.",
    AnswerMode.TOOLS: "Answer by calling the function that you are given.",
    AnswerMode.TEXT: "Answer with one JSON object and nothing else: no words around it, no fence.",
}


def level_codes(scale: Scale) -> dict[str, Level]:
    """Give each level a code of one token, best level first: its digit, or else a letter."""
    levels = sorted(scale.levels, key=lambda level: level.order, reverse=True)
    if all(0 <= level.code <= _MOST_DIGIT for level in levels):
        return {str(level.code): level for level in levels}
    return {chr(ord("A") + place): level for place, level in enumerate(levels)}


@dataclass(frozen=True, slots=True)
class Example:
    """An item that people decided, as a judge is shown it."""

    item_id: int
    query: BlindQuery
    item: BlindItem
    level: Level


@dataclass(frozen=True)
class Renderer:
    """Renders items under one prompt and one rubric.

    Attributes:
        prompt: The prompt.
        rubric: The rubric.
        mode: How the model is held to the shape of the answer.
        examples: Shown in this order; those of the query itself are left out.
    """

    prompt: JudgePrompt
    rubric: Rubric
    mode: AnswerMode
    examples: tuple[Example, ...] = ()
    _systems: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def codes(self) -> dict[str, Level]:
        """The levels by their one-token codes."""
        return level_codes(self.rubric.scale)

    def messages(self, query: BlindQuery, item: BlindItem, passage: str) -> tuple[Message, ...]:
        """Render one item.

        Args:
            query: The query.
            item: The item, for its context.
            passage: The passage, or the part of it that is shown.
        """
        shown = [one for one in self.examples if one.query.text != query.text]
        context = _context(item)
        fence = self._fence([passage, context, query.text, *_texts(shown)])
        values = {
            "fence": fence,
            "examples": self._examples(shown, fence),
            "query": _quoted(query.text),
            "need": f"What is needed: {_quoted(query.need)}\n" if query.need else "",
            "conditions": _listed("Conditions", query.conditions),
            "context": context,
            "passage": passage,
        }
        user = fill(self.prompt.user, values)
        return (Message("system", self._system(fence)), Message("user", user))

    def _system(self, fence: str) -> str:
        """Render the system message; it is the same for nearly all items, so providers cache it."""
        if fence not in self._systems:
            guides = self.rubric.guides
            values = {
                "fence": fence,
                "rubric": self.rubric.instructions,
                "levels": "\n".join(
                    f"{code} = {level.name}: {guides[level.name].meaning}"
                    + "".join(f"\n    e.g. {example}" for example in guides[level.name].examples)
                    for code, level in self.codes.items()
                ),
                "criteria": "\n".join(f"- {k}: {q}" for k, q in self.prompt.criteria.items()),
                "abstain_code": ABSTAIN,
                "answer": self._answer(),
            }
            self._systems[fence] = fill(self.prompt.system, values)
        return self._systems[fence]

    def _answer(self) -> str:
        quote = (
            '"quote": the words of the passage that support the level, copied exactly; empty '
            f"when the level is {list(self.codes)[-1]}"
        )
        fields = [
            *(f'"{key}": a number from 0 to 3' for key in self.prompt.criteria),
            *([quote] if "quote" in self.prompt.signals else []),
            '"reason": one sentence of at most 25 words, in the language of the rubric',
            f'"level": one of {", ".join(json.dumps(code) for code in (*self.codes, ABSTAIN))}',
            *(
                ['"confidence": how sure you are of the level, a number from 0 to 1']
                if "stated_confidence" in self.prompt.signals
                else []
            ),
        ]
        return f"{_HOW[self.mode]} Its fields, in this order:\n" + "\n".join(
            f"- {one}" for one in fields
        )

    def _examples(self, shown: Sequence[Example], fence: str) -> str:
        codes = {level.code: code for code, level in self.codes.items()}
        parts = [
            f"Example {number}. Query: {_quoted(one.query.text)}\n"
            f"{_listed('Conditions', one.query.conditions)}"
            f"<<<{fence}\n{_context(one.item)}{one.item.passage}\n{fence}>>>\n"
            f"People decided: {codes[one.level.code]} ({one.level.name})\n"
            for number, one in enumerate(shown, 1)
        ]
        return "\n".join([*parts, "Now the item to judge.\n"]) if parts else ""

    def _fence(self, texts: Sequence[str]) -> str:
        """Choose a mark that stands in none of the texts, the same one wherever it can be."""
        folded = [compatible(text).casefold() for text in texts]
        number = 0
        while True:
            seed = f"{self.prompt.digest}\n{number}"
            fence = f"TEXT-{hashlib.sha256(seed.encode()).hexdigest()[:10]}"
            if not any(fence.casefold() in text for text in folded):
                return fence
            number += 1


def _texts(examples: Sequence[Example]) -> list[str]:
    return [
        text for one in examples for text in (one.query.text, one.item.passage, _context(one.item))
    ]


def _quoted(text: str) -> str:
    """Put a text on one line in quotes that it can't close."""
    return json.dumps(text, ensure_ascii=False)


def _listed(title: str, pairs: Mapping[str, str]) -> str:
    if not pairs:
        return ""
    return (
        f"{title}: "
        + "; ".join(f"{key}: {_quoted(str(value))}" for key, value in pairs.items())
        + "\n"
    )


def _context(item: BlindItem) -> str:
    context = item.context
    known = {
        "title": context.title,
        "product": context.product,
        "region": context.region,
        "in force from": context.effective_date,
        "source": context.source,
    }
    return _listed("About this text", {key: value for key, value in known.items() if value})
