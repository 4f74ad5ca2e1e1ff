"""What judges said of items that were voted on: when it may be asked for, and what is shown.

Nothing is asked for before the vote is on disk, and nothing is shown before the look itself is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from labeler.labels import Level
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.orders import Look, Revealed, Vote
from labeler.settings import Reveal

__all__ = ["Reveals"]


@dataclass
class Reveals:
    """What a sitting shows after votes.

    Attributes:
        policy: Never, on request at the end, or at once.
        showing: What is shown of the last vote, until the reviewer goes on; else None.
        shown: All that was revealed in this sitting, in the order of the votes.
        changing: The level that a reviewer chose after seeing what judges said: it is voted on as
            soon as the vote before it is taken back.
    """

    policy: Reveal = Reveal.NEVER
    showing: Revealed | None = field(default=None, init=False)
    shown: list[Revealed] = field(default_factory=list, init=False)
    changing: Level | None = field(default=None, init=False)
    _asked: set[int] = field(default_factory=set, init=False)
    _asked_at: Press | None = field(default=None, init=False)

    def after_vote(self, vote: Vote, new_key: Callable[[], str], press: Press | None) -> list[Look]:
        """Ask what judges said of an item whose vote is on disk, when that is shown at once.

        Args:
            vote: The vote.
            new_key: Makes the id of the look.
            press: The last key press; what arrives after another one isn't shown any more.
        """
        if self.policy is not Reveal.AT_ONCE:
            return []
        self._asked_at = press
        return self._ask([vote], new_key)

    def at_the_end(self, votes: Iterable[Vote], new_key: Callable[[], str]) -> list[Look]:
        """Ask what judges said of all items of the sitting that it wasn't asked of."""
        return self._ask(votes, new_key) if self.policy is Reveal.END else []

    def may_ask(self, votes: Iterable[Vote]) -> bool:
        """Tell whether there is something left to ask for at the end."""
        tasks = {vote.shown.claim.task_id for vote in votes}
        return self.policy is Reveal.END and not tasks <= self._asked

    def arrived(self, revealed: Revealed, press: Press | None) -> bool:
        """Take what judges said; True when it is to be shown now."""
        if not revealed.judges:
            return False
        self.shown.append(revealed)
        if self.policy is Reveal.AT_ONCE and press is self._asked_at:
            self.showing = revealed
        return self.showing is not None

    def _ask(self, votes: Iterable[Vote], new_key: Callable[[], str]) -> list[Look]:
        fresh = [vote for vote in votes if vote.shown.claim.task_id not in self._asked]
        self._asked |= {vote.shown.claim.task_id for vote in fresh}
        return [Look(new_key(), vote.key, vote.shown, vote.level) for vote in fresh]
