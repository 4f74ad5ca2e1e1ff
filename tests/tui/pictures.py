"""Pictures of the screen, kept beside the tests and compared letter for letter.

A picture that differs fails its test, and the new one is written into the test's own folder. Look
at both; where the new one is right: LABELER_UPDATE_PICTURES=1 pytest tests/tui/test_pictures.py
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

from textual.app import App

__all__ = ["KEPT", "UPDATE", "compare", "picture", "words"]

KEPT = Path(__file__).parent / "snapshots"
UPDATE = "LABELER_UPDATE_PICTURES"


def picture(app: App[None], *, normal: bool = True) -> str:
    """Draw the screen as SVG; the same screen gives the same bytes.

    Args:
        app: The app.
        normal: Give every picture the same ids, so that a difference shows what differs; pictures
            that stand on one page need their own.
    """
    drawn = app.export_screenshot(title="labeler review", simplify=True)
    # A picture loads nothing from elsewhere: the reader's own monospaced font will do.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    found = re.search(r"terminal-(\d+)-", drawn)
    return drawn if found is None or not normal else drawn.replace(found.group(1), "0")


def words(drawn: str) -> str:
    """Give the lines of a picture as text, for a message that can be read."""
    lines: dict[float, list[str]] = {}
    for y, text in re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', drawn):
        lines.setdefault(float(y), []).append(html.unescape(text).replace("\xa0", " "))
    return "\n".join("".join(lines[y]).rstrip() for y in sorted(lines))


def compare(app: App[None], name: str, folder: Path) -> None:
    """Compare the screen with its picture, or keep it where that is asked for.

    Args:
        app: The app.
        name: The picture's name.
        folder: Where a picture that differs is written.
    """
    drawn, kept = picture(app), KEPT / f"{name}.svg"
    if os.environ.get(UPDATE):
        KEPT.mkdir(exist_ok=True)
        kept.write_text(drawn, encoding="utf-8")
    before = kept.read_text(encoding="utf-8") if kept.is_file() else ""
    if drawn == before:
        return
    new = folder / kept.name
    new.write_text(drawn, encoding="utf-8")
    # The words first: where they differ, pytest shows how.
    assert words(drawn) == words(before), f"the screen differs from {kept}: see {new}"
    raise AssertionError(f"colours or styles differ from {kept}: see {new}")
