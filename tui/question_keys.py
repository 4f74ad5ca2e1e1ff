"""The keys of the screen of generated questions: a few of its own, the rest as in any review."""

from __future__ import annotations

from tui.bindings import KeyRow, shipped_rows

__all__ = ["QUESTION_KEYS"]

QUESTION_KEYS: tuple[KeyRow, ...] = (
    KeyRow("question_accept", "a", "accept", "a", "accept", "accept the question as it is"),
    KeyRow("question_edit", "e", "edit", "e", "edit", "write it anew; Esc keeps it as a draft"),
    KeyRow("question_reject", "r", "reject", "r", "reject", "reject it; one more key says why"),
    KeyRow("question_skip", "s", "skip", "s", "skip", "leave it to others"),
    *(
        KeyRow(f"question_why_{place}", "", f"why({place})", str(place), "", "", fixed=str(place))
        for place in range(1, 10)
    ),
    KeyRow("question_more", "w", "more", "w", "", "at the end: look again for questions"),
    *shipped_rows("scroll_down", "scroll_up", "page_down", "page_up", "top", "bottom"),
    *shipped_rows("undo", "find", "pause", "help", "back", "quit"),
)
"""The table as it is without a word in labeler.toml."""
