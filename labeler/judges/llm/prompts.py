"""Prompts of judges: files with a TOML header and a body; a prompt is identified by its text.

```
+++
name = "direct"
strategy = "direct"          # or "criteria", with a table [criteria]
description = "..."
signals = ["stated_confidence", "level_probability", "quote"]
+++
the system message
--- user ---
the user message
```

Placeholders stand in braces; `PLACEHOLDERS` lists them. They are filled in one pass, so what a
passage holds is never taken for a placeholder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from labeler.errors import Fault, InputError, NotFoundError
from labeler.formats.text_file import read_text_file
from labeler.providers.prompt_file import read_prompt_file

__all__ = [
    "PLACEHOLDERS",
    "SIGNALS",
    "JudgePrompt",
    "find_prompt",
    "parse_prompt",
    "shipped_prompts",
]

PLACEHOLDERS: Mapping[str, str] = {
    "rubric": "the rubric's instructions",
    "levels": "the code and meaning of each level",
    "criteria": "the criteria of the header",
    "abstain_code": "the code for an abstention",
    "answer": "the fields of the answer",
    "fence": "a mark that stands in none of the texts",
    "examples": "solved examples, where there are any",
    "query": "the query, quoted",
    "need": "the information need, where known",
    "conditions": "the query's conditions, where there are any",
    "context": "title, product, region, date and source of the passage, where known",
    "passage": "the passage",
}
"""All placeholders and what takes their place."""

SIGNALS = ("stated_confidence", "level_probability", "quote", "criteria")
"""What a prompt can ask for beside the reason and the level."""

_NEEDED = ("levels", "answer", "fence", "query", "passage")
_STRATEGIES = ("direct", "criteria")
_NAME = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True)
class JudgePrompt:
    """A judge's prompt.

    Attributes:
        name: What it is called.
        strategy: ``direct``, or ``criteria`` for criteria first.
        description: One line on what sets it apart.
        signals: Of `SIGNALS`, those that it asks for.
        criteria: The question behind each criterion.
        scale: The scale that it was written for; None fits any.
        system: The system message, with placeholders.
        user: The user message, with placeholders.
        text: The whole file.
    """

    name: str
    strategy: str
    description: str
    signals: frozenset[str]
    system: str
    user: str
    text: str
    criteria: Mapping[str, str] = field(default_factory=dict)
    scale: str | None = None

    @property
    def digest(self) -> str:
        """The SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


def parse_prompt(text: str, *, path: str) -> JudgePrompt:
    """Read a prompt from the text of its file.

    Raises:
        InputError: When the header or a placeholder isn't right; all faults are listed.
    """
    parts = read_prompt_file(text, path=path)
    header = parts.header
    faults = [Fault(path, None, problem) for problem in _header_faults(header)]
    faults += [*parts.faults, *_placeholder_faults(path, parts.placeholders)]
    if faults:
        raise InputError(faults, hint="`labeler judge prompts show direct` prints one that works")
    return JudgePrompt(
        name=header["name"],
        strategy=header.get("strategy", "direct"),
        description=str(header.get("description", "")),
        signals=frozenset(header.get("signals", SIGNALS[:3])),
        system=parts.system,
        user=parts.user,
        text=parts.text,
        criteria=header.get("criteria", {}),
        scale=header.get("scale"),
    )


def _header_faults(header: Mapping[str, object]) -> list[str]:
    problems = []
    name, strategy = header.get("name"), header.get("strategy", "direct")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems.append("'name' is a word of letters, digits, - and _")
    if strategy not in _STRATEGIES:
        problems.append(f"'strategy' is one of {', '.join(_STRATEGIES)}")
    signals = header.get("signals", [])
    unknown = [one for one in signals if one not in SIGNALS] if isinstance(signals, list) else ["?"]
    if unknown:
        problems.append(f"'signals' is a list of {', '.join(SIGNALS)}")
    criteria = header.get("criteria", {})
    if not isinstance(criteria, dict) or not all(
        isinstance(question, str) and re.fullmatch(r"[a-z]\w*", key)
        for key, question in criteria.items()
    ):
        problems.append("[criteria] holds one question for each criterion")
    elif (strategy == "criteria") != bool(criteria):
        problems.append("strategy 'criteria' goes with a table [criteria]")
    unknown_keys = set(header) - {"name", "strategy", "description", "signals", "criteria", "scale"}
    problems += [f"the header has no key '{key}'" for key in sorted(unknown_keys)]
    return problems


def _placeholder_faults(path: str, placeholders: Sequence[tuple[str, int]]) -> list[Fault]:
    known = ", ".join(PLACEHOLDERS)
    faults = [
        Fault(path, line, f"no placeholder {{{name}}}; there are {known}")
        for name, line in placeholders
        if name not in PLACEHOLDERS
    ]
    found = {name for name, _ in placeholders}
    faults += [
        Fault(path, None, f"{{{name}}}, {PLACEHOLDERS[name]}, is missing")
        for name in _NEEDED
        if name not in found
    ]
    return faults


def shipped_prompts() -> list[JudgePrompt]:
    """Read the prompts that come with Labeler, by name."""
    folder = files("prompts").joinpath("judge")
    found = [
        parse_prompt(one.read_text(encoding="utf-8"), path=one.name)
        for one in folder.iterdir()
        if one.name.endswith(".md")
    ]
    return sorted(found, key=lambda prompt: prompt.name)


def find_prompt(name: str) -> JudgePrompt:
    """Find a prompt: a shipped one by its name, else a file.

    Raises:
        NotFoundError: When there is neither.
        InputError: When the file is no prompt.
    """
    for prompt in shipped_prompts():
        if prompt.name == name:
            return prompt
    path = Path(name)
    if not path.is_file():
        names = ", ".join(prompt.name for prompt in shipped_prompts())
        raise NotFoundError(
            f"there is no prompt '{name}'", hint=f"shipped are {names}; a file is named by its path"
        )
    text = read_text_file(path)
    return parse_prompt(text, path=name)
