"""One reading of an answer's text, whether it has just come, lies in the ledger or in a batch."""

from __future__ import annotations

import json
from typing import Any

from labeler.providers.chat import AnswerShape
from labeler.providers.reading import read_fields

__all__ = ["fields_of", "is_object", "validated"]


def validated(text: str, shape: AnswerShape) -> dict[str, Any]:
    """Read an answer and check it against its shape.

    Raises:
        CutOff: When the text stops in the middle.
        UnreadableAnswer: When there is no answer in it, or two that differ.
        ValueError: When the answer doesn't fit the shape (pydantic's ValidationError is one).
    """
    return shape.model.model_validate(fields_of(text, shape)).model_dump()


def fields_of(text: str, shape: AnswerShape) -> dict[str, Any]:
    """Read an answer without checking it against its shape; names of fields in lower case.

    Raises:
        CutOff: When the text stops in the middle.
        UnreadableAnswer: When there is no answer in it, or two that differ.
    """
    return read_fields(text, shape.key, shape.synonyms)


def is_object(text: str) -> bool:
    """Tell whether a text is one JSON object and nothing else, so that any parser reads it."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
