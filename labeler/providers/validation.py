"""One reading of an answer's text, whether it has just come, lies in the ledger or in a batch."""

from __future__ import annotations

import json
from typing import Any

from labeler.providers.chat import AnswerShape
from labeler.providers.reading import read_fields

__all__ = ["fields_of", "is_object", "validated"]


def is_object(text: str) -> bool:
    """Tell whether a text is one JSON object and nothing else, without a name that stands twice."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(found)) < len(found):
            raise ValueError("a name stands twice")
        return dict(found)

    try:
        return isinstance(json.loads(text, object_pairs_hook=pairs), dict)
    except (ValueError, RecursionError):
        return False


def validated(text: str, shape: AnswerShape) -> dict[str, Any]:
    """Read an answer and check it against its shape.

    Raises:
        CutOff: When the text stops in the middle.
        UnreadableAnswer: When there is no answer in it, or two that differ.
        ValueError: When the answer doesn't fit the shape (pydantic's ValidationError is one).
    """
    return shape.model.model_validate(fields_of(text, shape)).model_dump()


def fields_of(text: str, shape: AnswerShape) -> dict[str, Any]:
    """Read an answer without checking it against its shape.

    Raises:
        CutOff: When the text stops in the middle.
        UnreadableAnswer: When there is no answer in it, or two that differ.
    """
    if is_object(text):
        found: dict[str, Any] = json.loads(text)
        return found
    return read_fields(text, shape.key, shape.synonyms)
