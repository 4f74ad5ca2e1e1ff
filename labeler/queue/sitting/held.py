"""The items that a sitting holds, and when it wants more."""

from __future__ import annotations

from dataclasses import dataclass, field

from labeler.queue.sitting.orders import Fetch, Fetched, Shown

__all__ = ["AHEAD", "HeldItems"]

AHEAD = 3
"""How many items are held at once: the current one and two ahead."""


@dataclass
class HeldItems:
    """The current item, and the next ones.

    Attributes:
        items: What is held; the first is the current one.
        left: The answer that said that nothing is left, or None while that isn't known.
        passed_over: Tasks that were skipped in this sitting.
    """

    items: list[Shown] = field(default_factory=list, init=False)
    left: Fetched | None = field(default=None, init=False)
    passed_over: set[int] = field(default_factory=set, init=False)
    _fetching: bool = field(default=False, init=False)
    _asked: int = field(default=0, init=False)
    _ran_dry: bool = field(default=False, init=False)

    def next_fetch(self) -> Fetch | None:
        """Say what to fetch now, or None; what is said here counts as asked for.

        When the queue ran dry, it is asked again only once all that is held is done.
        """
        wanted = AHEAD - len(self.items)
        more_ahead = self.items and not self._ran_dry and wanted > 0
        nothing_known = not self.items and self.left is None
        if self._fetching or not (more_ahead or nothing_known):
            return None
        self._fetching = True
        self._asked = wanted
        return Fetch(wanted, frozenset(self.passed_over))

    def add(self, fetched: Fetched) -> None:
        """Take what was fetched."""
        self._fetching = False
        held = {shown.claim.task_id for shown in self.items}
        # An item of our own whose lease ran out comes back as if it were new.
        fresh = [one for one in fetched.items if one.claim.task_id not in held]
        # By what was asked for: meanwhile, more of what was held may have been done.
        self._ran_dry = len(fetched.items) < self._asked
        self.items += fresh
        self.left = None if self.items else fetched

    def drop_first(self) -> Shown:
        """Let go of the current item."""
        self.left = None
        return self.items.pop(0)

    def put_first(self, shown: Shown) -> None:
        """Make an item the current one."""
        others = [one for one in self.items if one.claim.assignment_id != shown.claim.assignment_id]
        self.items = [shown, *others]
        self.left = None

    def lose(self, places: frozenset[int]) -> bool:
        """Let go of what somebody else has by now; True when the current item is among it.

        The current item stays: what was read should not be gone, and a vote on it is kept.
        """
        is_current = bool(self.items) and self.items[0].claim.assignment_id in places
        self.items[1:] = [one for one in self.items[1:] if one.claim.assignment_id not in places]
        return is_current

    def hand_back(self) -> list[Shown]:
        """Hold nothing more; give what was held."""
        items, self.items = self.items, []
        return items

    def ask_again(self) -> None:
        """Forget that nothing was left."""
        self.left = None

    def close(self) -> None:
        """Hold nothing, and want nothing more."""
        self.items.clear()
        self._fetching = True
