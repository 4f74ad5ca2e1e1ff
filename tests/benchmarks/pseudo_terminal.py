"""A program at a real pseudo-terminal: keys in, the time at which something is painted out."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

__all__ = ["PseudoTerminal"]

_ASKED, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_PAINTED = b"\x1b[?2026l"
"""A terminal that says it can paint at once (mode 2026) is told where each frame ends."""
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>=$]*[A-Za-z]|\x1b[()][A-Z0-9]|[\x00-\x1f]")


class PseudoTerminal:
    """Runs a program; what it writes since the last key is looked at as it comes.

    Args:
        command: The program and its arguments.
        size: Columns and rows.
    """

    def __init__(self, command: Sequence[str], size: tuple[int, int] = (80, 24)) -> None:
        self.started = time.perf_counter()
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            environment = {**os.environ, "TERM": "xterm-256color"}
            os.execvpe(command[0], list(command), environment)  # noqa: S606 - no shell is wanted
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._written = b""

    def press(self, key: str) -> float:
        """Press a key; give the time."""
        self._written = b""
        at = time.perf_counter()
        os.write(self._fd, key.encode())
        return at

    def until(
        self, shows: Callable[[str], bool], *, frame: bool = True, patience: float = 60.0
    ) -> float:
        """Wait until what was written since the last key shows something; give the time.

        Args:
            shows: Looks at the text, without control sequences.
            frame: Wait for the end of the frame in which it is painted, too.
            patience: Seconds after which to give up.

        Raises:
            TimeoutError: When it isn't shown in time, or the program has ended.
        """
        end = time.perf_counter() + patience
        while self._read(end - time.perf_counter()):
            now = time.perf_counter()
            whole = self._written.rpartition(_PAINTED)[0] if frame else self._written
            if shows(_CONTROL.sub(b"", whole).decode(errors="replace")):
                return now
        told = _CONTROL.sub(b"", self._written).decode(errors="replace")[-2000:]
        raise TimeoutError(f"not shown within {patience:g} s; the last was: {told}")

    def rest(self, seconds: float) -> None:
        """Read on for some time, as somebody does who looks at the screen."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0 and self._read(left, needed=False):
            pass

    def _read(self, seconds: float, *, needed: bool = True) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        if not ready:
            return not needed
        try:
            read = os.read(self._fd, 65_536)
        except OSError:  # the program has ended
            return False
        self._written += read
        if _ASKED in read:
            os.write(self._fd, _ANSWER)
        return bool(read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        os.kill(self._pid, signal.SIGTERM)
        self.rest(0.3)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._fd)
