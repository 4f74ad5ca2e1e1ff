"""Who sits at the screen, and what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labeler.settings import Reveal

__all__ = ["Seat"]


@dataclass(frozen=True, slots=True)
class Seat:
    """A reviewer's place.

    Attributes:
        reviewer: The reviewer's name.
        pool: The pool that is asked for, or None for all.
        limit: The number of votes after which the sitting ends, or None.
        minutes: After so many minutes the sitting ends with the item that is shown, or None.
        domain: The domain that is asked for, or None for all.
        language: The language that is asked for, or None for all.
        reveal: Whether judges' labels are shown after the vote.
        keys: Other keys than the usual ones, by what they do.
    """

    reviewer: str
    pool: str | None = None
    limit: int | None = None
    minutes: float | None = None
    domain: str | None = None
    language: str | None = None
    reveal: Reveal = Reveal.NEVER
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def filters(self) -> tuple[str, ...]:
        """What is asked for, in words: ``pool p``, ``domain d``, ``language l``."""
        asked = {"pool": self.pool, "domain": self.domain, "language": self.language}
        return tuple(f"{name} {value}" for name, value in asked.items() if value is not None)
