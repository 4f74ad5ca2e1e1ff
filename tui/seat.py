"""Who sits at the screen, and what for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Seat"]


@dataclass(frozen=True, slots=True)
class Seat:
    """A reviewer's place.

    Attributes:
        reviewer: The reviewer's name.
        pool: The pool that is asked for, or None for all.
        limit: The number of votes after which the sitting ends, or None.
    """

    reviewer: str
    pool: str | None = None
    limit: int | None = None
