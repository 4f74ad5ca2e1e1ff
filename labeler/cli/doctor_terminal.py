"""What `labeler doctor` looks at in the terminal that it runs in."""

from __future__ import annotations

import codecs
import contextlib
import locale
import os
import re
import select
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from labeler.providers.findings import Finding, Rating

__all__ = ["Terminal", "terminal_findings", "this_terminal", "wide_cells"]

_COLUMNS, _LINES = 80, 24
_PLAIN = "`labeler review --plain` works line by line, on any terminal"
_SIMPLE = frozenset({"", "dumb", "unknown"})
"""What TERM says where nothing but lines can be written."""
_WIDE = "漢"
_WIDE_CELLS = 2
_POSITION = re.compile(rb"\x1b\[(\d+);(\d+)R")
_ANSWER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal, or what stands in its place.

    Attributes:
        size: Columns and lines; None where there is no terminal.
        term: What ``TERM`` says.
        colours: How many kinds of colours there are, as rich names it; None for none.
        encoding: What texts are encoded in.
        in_tmux: Whether tmux is between.
        wide: In how many cells a wide character was drawn; None when the terminal didn't tell.
    """

    size: tuple[int, int] | None
    term: str
    colours: str | None
    encoding: str
    in_tmux: bool = False
    wide: int | None = None


def this_terminal() -> Terminal:
    """Look at the terminal that this process runs in."""
    from rich.console import Console

    shown = [one for one in (sys.stderr, sys.stdout) if one.isatty()]
    has_keys = sys.stdin is not None and sys.stdin.isatty()
    term = os.environ.get("TERM", "")
    wide = None
    # On stderr only: what goes to stdout is the result.
    if has_keys and sys.stderr in shown and term not in _SIMPLE:
        wide = wide_cells(sys.stdin.fileno(), sys.stderr.fileno())
    return Terminal(
        size=_size_of([*shown, *([sys.stdin] if has_keys else [])]),
        term=term,
        colours=Console(file=shown[0]).color_system if shown else None,
        encoding=locale.getencoding(),
        in_tmux=bool(os.environ.get("TMUX")),
        wide=wide,
    )


def _size_of(streams: Sequence[TextIO]) -> tuple[int, int] | None:
    for stream in streams:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(stream.fileno())
            return size.columns, size.lines
    return None


def terminal_findings(terminal: Terminal) -> Iterator[Finding]:
    """Say what the review app would make of a terminal."""
    if _is_unicode(terminal.encoding):
        yield Finding("characters", Rating.OK, terminal.encoding)
    else:
        yield Finding(
            "characters",
            Rating.WARN,
            f"{terminal.encoding}: other scripts can't be shown",
            "export LC_ALL=C.UTF-8, or another UTF-8 locale",
        )
    if terminal.size is None:
        found = "none here: the output goes to a file or a pipe"
        yield Finding("terminal", Rating.NOTE, found, _PLAIN)
        return
    yield _size_finding(*terminal.size)
    yield _kind_finding(terminal)
    if terminal.wide is not None and terminal.wide != _WIDE_CELLS:
        yield Finding(
            "wide characters",
            Rating.WARN,
            f"{_WIDE} is drawn {terminal.wide} cells wide, not {_WIDE_CELLS}: columns may shift",
            "another font or terminal may draw it right",
        )
    elif terminal.wide is not None:
        yield Finding("wide characters", Rating.OK, f"{_WIDE} is drawn {_WIDE_CELLS} cells wide")


def _size_finding(columns: int, lines: int) -> Finding:
    found = f"{columns} x {lines}"
    if columns >= _COLUMNS and lines >= _LINES:
        return Finding("terminal", Rating.OK, found)
    hint = f"make the window {_COLUMNS} x {_LINES} at least; {_PLAIN}"
    return Finding("terminal", Rating.WARN, f"{found}: small for the review app", hint)


def _kind_finding(terminal: Terminal) -> Finding:
    term = terminal.term
    found = f"TERM={term or '(not set)'}, colours: {terminal.colours or 'none'}"
    if terminal.in_tmux:
        found += ", in tmux"
    if term in _SIMPLE:
        return Finding("  kind", Rating.WARN, found, _PLAIN)
    if terminal.in_tmux and not term.startswith(("tmux", "screen")):
        hint = "in ~/.tmux.conf: set -g default-terminal tmux-256color"
        return Finding("  kind", Rating.WARN, found, hint)
    return Finding("  kind", Rating.OK, found)


def _is_unicode(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name.startswith("utf-")
    except LookupError:
        return False


def wide_cells(source: int, target: int) -> int | None:
    """Draw a wide character and ask the terminal how far its cursor went; None without an answer.

    Args:
        source: The file descriptor from which the terminal's answer comes.
        target: The one that is drawn on.
    """
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return None
    try:
        if os.tcgetpgrp(source) != os.getpgrp():
            return None  # in the background, where a change of the terminal would stop the process
        before = termios.tcgetattr(source)
        tty.setcbreak(source, termios.TCSANOW)
    except (OSError, termios.error):
        return None
    try:
        # What is drawn is taken away again, whatever its width.
        os.write(target, f"\r{_WIDE}\x1b[6n\r\x1b[K".encode())
        answer = b""
        while (found := _POSITION.search(answer)) is None:
            if not select.select([source], [], [], _ANSWER_SECONDS)[0]:
                return None
            answer += os.read(source, 64)
        return int(found[2]) - 1
    except OSError:
        return None
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)
