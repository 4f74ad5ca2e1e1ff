"""What a sitting has given, votes and skips, and which of it is in doubt."""

from __future__ import annotations

from dataclasses import dataclass, field

from labeler.queue.sitting.orders import Skip, Vote

__all__ = ["Given"]


@dataclass
class Given:
    """The votes of a sitting that stand, and its skips, the last one last.

    Attributes:
        undoing: Whether the database is taking one back.
        suspect: The vote that a key may have given by itself while it was held down; the next key
            press tells.
    """

    undoing: bool = field(default=False, init=False)
    suspect: Vote | None = field(default=None, init=False)
    _given: list[Vote | Skip] = field(default_factory=list, init=False)

    @property
    def last(self) -> Vote | Skip | None:
        """What was given last and stands, or None."""
        return self._given[-1] if self._given else None

    @property
    def votes(self) -> tuple[Vote, ...]:
        """Every vote that stands, in the order in which they were given."""
        return tuple(one for one in self._given if isinstance(one, Vote))

    def add(self, one: Vote | Skip) -> None:
        """Take what was given."""
        self._given.append(one)

    def forget(self, key: str) -> None:
        """Let go of what doesn't stand any more."""
        self._given = [one for one in self._given if one.key != key]

    def forget_skips(self) -> None:
        """Let go of all skips: their items are taken again as others are."""
        self._given = list(self.votes)

    def settle_suspicion(self, *, is_repeat: bool) -> bool:
        """Tell whether the last vote came from a key held down, by the press after it."""
        vote, self.suspect = self.suspect, None
        return vote is not None and is_repeat and self.last is vote
