"""The votes that a sitting has given, and which of them are in doubt."""

from __future__ import annotations

from dataclasses import dataclass, field

from labeler.queue.sitting.orders import Vote

__all__ = ["GivenVotes"]


@dataclass
class GivenVotes:
    """The votes of a sitting that stand, the last one last.

    Attributes:
        undoing: Whether the database is taking a vote back.
        suspect: The vote that a key may have given by itself while it was held down; the next key
            press tells.
    """

    undoing: bool = field(default=False, init=False)
    suspect: Vote | None = field(default=None, init=False)
    _votes: list[Vote] = field(default_factory=list, init=False)

    def __len__(self) -> int:
        return len(self._votes)

    @property
    def last(self) -> Vote | None:
        """The last vote that stands, or None."""
        return self._votes[-1] if self._votes else None

    @property
    def all(self) -> tuple[Vote, ...]:
        """Every vote that stands, in the order in which they were given."""
        return tuple(self._votes)

    def add(self, vote: Vote) -> None:
        """Take a vote that was given."""
        self._votes.append(vote)

    def forget(self, key: str) -> None:
        """Let go of a vote that doesn't count after all."""
        self._votes = [vote for vote in self._votes if vote.key != key]

    def take_back(self) -> None:
        """Let go of the last vote, which the database has taken back."""
        if self._votes:
            self._votes.pop()

    def settle_suspicion(self, *, is_repeat: bool) -> bool:
        """Tell whether the last vote came from a key held down, by the press after it."""
        vote, self.suspect = self.suspect, None
        return vote is not None and is_repeat and self.last is vote
