"""Prompts of generators: files with a TOML header and a body, as judges have them.

```
+++
name = "factual"
kinds = ["factual"]
description = "..."
answer = "spans"
+++
the system message
--- user ---
the user message
```

A prompt is identified by the digest of its text; `labeler.providers.prompt_file` reads the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from labeler.errors import Fault, InputError
from labeler.providers.prompt_file import read_prompt_file
from labeler.records.questions import QuestionKind

__all__ = [
    "EMBEDDED",
    "GeneratePrompt",
    "answerable_prompt",
    "parse_prompt",
    "prompt_for",
    "shipped_prompts",
]

EMBEDDED = "embedded"
"""The prompt of the embedded generator: solved examples and nothing else."""

_ANSWERABLE = "answerable"
_ANSWERS = ("question", "spans", "two_spans", "none", "answerable")
_KNOWN = frozenset(
    {
        *("answer", "conditions", "context", "examples", "fence", "language", "passage"),
        *("passages", "persona", "question", "second", "second_context", "view", "wordings"),
    }
)


@dataclass(frozen=True)
class GeneratePrompt:
    """A prompt that asks for a question, or whether one can be answered.

    Attributes:
        name: What it is called.
        kinds: The kinds of question that it asks for.
        description: One line on it.
        answer: The shape of the answer: ``question`` alone; ``spans`` and ``two_spans`` with the
            words of the passages that answer; ``none`` without; ``answerable`` for a check.
        examples: Solved examples: title, passage and question.
        system: The system message, with placeholders; empty for none.
        user: The user message, with placeholders.
        text: The whole file.
    """

    name: str
    kinds: tuple[QuestionKind, ...]
    description: str
    answer: str
    examples: tuple[tuple[str, str, str], ...]
    system: str
    user: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


def parse_prompt(text: str, *, path: str) -> GeneratePrompt:
    """Read a prompt from the text of its file.

    Raises:
        InputError: When the header or a placeholder isn't right; all faults are listed.
    """
    parts = read_prompt_file(text, path=path)
    header = parts.header
    try:
        kinds = tuple(QuestionKind(kind) for kind in header["kinds"])
        name, answer = str(header["name"]), str(header["answer"])
        examples = tuple(
            (str(one["title"]), str(one["passage"]), str(one["question"]))
            for one in header.get("examples", ())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError([Fault(path, None, f"the header isn't right: {error}")]) from None
    faults = []
    if answer not in _ANSWERS:
        faults.append(Fault(path, None, f"'answer' is one of {', '.join(_ANSWERS)}"))
    faults += parts.faults
    faults += [
        Fault(path, line, f"there is no placeholder {{{place}}}")
        for place, line in parts.placeholders
        if place not in _KNOWN
    ]
    if faults:
        raise InputError(faults)
    return GeneratePrompt(
        name=name,
        kinds=kinds,
        description=str(header.get("description", "")),
        answer=answer,
        examples=examples,
        system=parts.system,
        user=parts.user,
        text=parts.text,
    )


@cache
def shipped_prompts() -> Mapping[str, GeneratePrompt]:
    """Read the prompts that come with Labeler, by name."""
    found = [
        parse_prompt(one.read_text(encoding="utf-8"), path=one.name)
        for one in files("prompts").joinpath("generate").iterdir()
        if one.name.endswith(".md")
    ]
    return {prompt.name: prompt for prompt in sorted(found, key=lambda prompt: prompt.name)}


def prompt_for(kind: QuestionKind, *, embedded: bool) -> GeneratePrompt:
    """Give the prompt that asks for questions of a kind."""
    return shipped_prompts()[EMBEDDED if embedded else kind.value]


def answerable_prompt() -> GeneratePrompt:
    """Give the prompt that asks whether passages answer a question."""
    return shipped_prompts()[_ANSWERABLE]
