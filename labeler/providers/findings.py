"""What `labeler doctor` finds out, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Rating"]


class Rating(StrEnum):
    """What a finding means for the user."""

    OK = "ok"
    NOTE = "note"
    """Something is absent that not everybody needs."""
    WARN = "warn"
    """It works, worse than it could."""
    BAD = "bad"
    """Something that is needed doesn't work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: What was looked at, in a few words.
        rating: What it means.
        found: What was found.
        hint: What to do, where there is something to do.
    """

    check: str
    rating: Rating
    found: str
    hint: str | None = None
