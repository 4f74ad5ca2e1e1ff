"""The documents that are generated are what the program would generate now."""

from __future__ import annotations

from pathlib import Path

from labeler.records.diagram import render

DOCS = Path(__file__).parents[2] / "docs"


def test_the_diagram_is_that_of_the_records() -> None:
    written = (DOCS / "records.md").read_text(encoding="utf-8")
    assert written == render(), "run: python -m labeler.records.diagram > docs/records.md"
