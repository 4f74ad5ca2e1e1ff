"""When a sitting ends: after so many votes or minutes, or when the reviewer says so."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Ending"]

_SECONDS = 60


@dataclass
class Ending:
    """What was agreed before, and how far it is. An item that was begun is always finished.

    Attributes:
        limit: Ends after so many votes that stand; None has no end.
        minutes: Ends with the item on which so many minutes were reached, counted from the first
            item's first paint; None has no end.
    """

    limit: int | None = None
    minutes: float | None = None
    _began: float | None = field(default=None, init=False)
    _is_here: bool = field(default=False, init=False)

    def painted(self, at: float) -> None:
        """Take note that an item is on the screen, at a time in seconds; the first one counts."""
        if self._began is None:
            self._began = at

    def stood_still(self, seconds: float) -> None:
        """Take note that the reviewer paused for so many seconds, which don't count."""
        if self._began is not None:
            self._began += seconds

    def item_done(self, at: float) -> None:
        """Take note that an item was done at a time, in seconds."""
        if self.minutes is not None and self._began is not None:
            self._is_here = at - self._began >= self.minutes * _SECONDS

    def finish(self) -> None:
        """End here, before the limit."""
        self._is_here = True

    def reopened(self) -> None:
        """Take note that an item is to be done once more."""
        self._is_here = False

    def is_over(self, votes: int) -> bool:
        """Tell whether the sitting ends here, with so many votes that stand."""
        return self._is_here or (self.limit is not None and votes >= self.limit)
