"""Taking keys out of whatever a provider says, before it is stored, logged or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

__all__ = ["redacted"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST = 6
_SHAPES = re.compile(
    r"(?i:bearer|basic)\s+[\w.~+/*=-]{6,}"
    r"|\b(?:sk|pk|rk|key|gsk|xai|hf|api)[-_][\w*.-]{6,}"
    r"|\bAIza[\w*-]{6,}|\bAKIA\w{8,}|\bya29\.[\w.-]{6,}"
    r"|(?i:api[-_ ]?key|x-api-key|authorization|password)[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{4,}"
    r"|(?i:api[-_ ]?key provided)\s*:\s*\S+"
    r"|://[^/\s:@]+:[^/\s@]+@"
)
_SHOWN = "[key removed]"


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Replace keys in a text: those in the environment, whole, and what has the form of one.

    Args:
        text: The text.
        environment: Where keys stand; the process's own by default.
    """
    for name, value in (os.environ if environment is None else environment).items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name) and value in text:
            text = text.replace(value, _SHOWN)
    return _SHAPES.sub(_SHOWN, text)
