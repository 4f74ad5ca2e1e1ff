"""Taking keys out of whatever a provider says, before it is stored, logged or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

__all__ = ["redacted", "secrets_in", "without"]

_SECRET_PART = re.compile(
    r"(?:.*(?:TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL|APIKEY)S?"
    r"|(?:ACCESS|PRIVATE)?KEYS?|AUTH|AUTHORIZATION)\d*",
    re.IGNORECASE,
)
_SHORTEST = 6
# A word after "bearer" or "key-" is a word; a key has digits or stars in it.
_SHAPES = re.compile(
    r"(?i:(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?[^\s\"',}\[]{4,})"
    r"|(?i:bearer|basic)\s+(?=[\w.~+/*=-]*[\d*_=])[\w.~+/*=-]{6,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf)[-_][\w*.-]{6,}"
    r"|\b(?:key|api)[-_](?=[\w*.-]*[\d*])[\w*.-]{6,}"
    r"|\bAIza[\w*-]{6,}|\bAKIA\w{8,}|\bya29\.[\w.-]{6,}"
    r"|(?i:(?:x-)?api[-_ ]?key|password)[\"']?\s*[:=]\s*[\"']?[^\s\"',}\[]{4,}"
    r"|(?i:api[-_ ]?key provided)\s*:\s*[^\s\[]\S*"
    r"|://[^/\s:@]+:[^/\s@]+@"
)
_SHOWN = "[key removed]"


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Replace keys in a message: those in the environment, whole, and what has the form of one.

    Args:
        text: The message.
        environment: Where keys stand; the process's own by default.
    """
    secrets = secrets_in(os.environ if environment is None else environment)
    return _SHAPES.sub(_SHOWN, without(text, secrets))


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Give the keys that an environment holds, the longest first: one may begin another."""
    found = {
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and any(_SECRET_PART.fullmatch(part) for part in name.split("_"))
    }
    return tuple(sorted(found, key=len, reverse=True))


def without(text: str, secrets: Sequence[str]) -> str:
    """Replace known keys alone, for texts that have to stay as they are else.

    Args:
        text: The text.
        secrets: The keys, as `secrets_in` gives them.
    """
    for secret in secrets:
        text = text.replace(secret, _SHOWN)
    return text
