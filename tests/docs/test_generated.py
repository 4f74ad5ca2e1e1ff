"""The documents that are generated are what the program would generate now."""

from __future__ import annotations

from pathlib import Path

from labeler.formats import columns_page
from labeler.records import diagram

DOCS = Path(__file__).parents[2] / "docs"


def test_the_diagram_is_that_of_the_records() -> None:
    written = (DOCS / "records.md").read_text(encoding="utf-8")
    assert written == diagram.render(), "run: python -m labeler.records.diagram > docs/records.md"


def test_the_column_names_are_those_that_are_read() -> None:
    written = (DOCS / "columns.md").read_text(encoding="utf-8")
    told = "run: python -m labeler.formats.columns_page > docs/columns.md"
    assert written == columns_page.render(), told
