"""Families of models: one that writes questions and is evaluated by them is partial."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["family_of", "shared_families"]

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "gpt": (
        "gpt",
        "chatgpt",
        "o1",
        "o3",
        "o4",
        "text-embedding-3",
        "text-embedding-ada",
        "davinci",
    ),
    "claude": ("claude", "anthropic", "voyage"),
    "gemini": ("gemini", "gemma", "palm", "gecko", "embeddinggemma"),
    "llama": ("llama", "codellama", "nvidia-nemotron"),
    "mistral": ("mistral", "mixtral", "ministral", "codestral", "magistral"),
    "qwen": ("qwen", "qwq", "gte-qwen"),
    "deepseek": ("deepseek",),
    "command": ("command", "cohere", "embed-english", "embed-multilingual", "rerank-"),
    "e5": ("e5", "multilingual-e5"),
    "bge": ("bge",),
    "phi": ("phi",),
    "grok": ("grok",),
}


def family_of(model: str) -> str:
    """Name the family of a model, by its name; one that is on no list is a family of its own.

    A model that was fine-tuned from another and names it (``e5-mistral``) counts for the first
    family whose name its own name begins with, else holds.
    """
    name = model.rsplit("/", 1)[-1].casefold().partition("+")[0]
    for family, words in _FAMILIES.items():
        if any(name.startswith(word) for word in words):
            return family
    for family, words in _FAMILIES.items():
        if any(re.search(rf"(?:^|[^a-z]){re.escape(word)}", name) for word in words):
            return family
    return name


def shared_families(roles: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Give the families that stand in more than one role, with these roles.

    Args:
        roles: The models of each role, such as ``generator``, ``judge``, ``retriever``.
    """
    found: dict[str, list[str]] = {}
    for role, models in roles.items():
        for family in sorted({family_of(model) for model in models if model.strip()}):
            found.setdefault(family, []).append(role)
    return {family: names for family, names in found.items() if len(names) > 1}
