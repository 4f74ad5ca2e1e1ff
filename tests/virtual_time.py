"""An event loop whose clock jumps to the next timer, so that hours pass at once and repeatably."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class NothingHappensError(AssertionError):
    """Every task waits, and no timer will ever wake one."""


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing: the time that it was to wait has passed when it returns."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise NothingHappensError
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that is never late."""

    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        """Tell the virtual time, in seconds."""
        return self._clock.now


def now() -> float:
    """Tell the virtual time inside of a running loop."""
    return asyncio.get_running_loop().time()


def run(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run a coroutine to its end in virtual time.

    Raises:
        NothingHappensError: When it would wait for ever.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work())
