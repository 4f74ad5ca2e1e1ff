"""Stored text on its way to the screen: made safe, and never markup."""

from __future__ import annotations

import re

from textual.content import Content

from labeler.assessment.blind import Block
from labeler.assessment.rubric import Rubric
from labeler.assessment.visible import visible, visible_line
from labeler.labels import Level

__all__ = ["Line", "context_facts", "context_text", "level_name", "line", "rubric_text"]

Line = str | tuple[str, str]
"""A piece of text, or a piece with a style such as ``bold``."""


def line(*pieces: Line) -> Content:
    """Join pieces of text of one line; every control in them becomes visible."""
    return Content.assemble(
        *(
            visible_line(piece) if isinstance(piece, str) else (visible_line(piece[0]), piece[1])
            for piece in pieces
        )
    )


def level_name(level: Level | None) -> str:
    """Name an answer as people read it."""
    return "can't judge" if level is None else level.name.replace("_", " ")


def context_facts(block: Block) -> list[tuple[str, str]]:
    """List what the corpus holds about where the passage stands: names and values."""
    context = block.items[0].context
    facts = [
        ("title", context.title),
        ("product", context.product),
        ("region", context.region),
        ("in force from", context.effective_date),
        ("source", context.source),
    ]
    return [(name, value) for name, value in facts if value]


def context_text(block: Block, snapshot: str) -> str:
    """Write out the whole query with its conditions, and where the passage stands."""
    query = block.query
    facts = [("snapshot", snapshot), *context_facts(block)]
    asked = [("domain", query.domain), ("language", query.language), *query.conditions.items()]
    rows = ["Query", query.text]
    if query.need:
        rows += ["", "Need", query.need]
    rows += ["", "Asked under", *(f"  {name}: {value}" for name, value in asked if value)]
    rows += ["", "The passage", *(f"  {name}: {value}" for name, value in facts if value)]
    return visible("\n".join(rows))


def rubric_text(rubric: Rubric, *, short: bool = False) -> str:
    """Write out a rubric, from the worst level to the best; in short, without its examples."""
    # A rubric file breaks its lines where its writer's editor did.
    flowing = re.sub(r"(?<=\S)\n(?=[\w(])", " ", rubric.instructions)
    rows = [] if short else [flowing, ""]
    for level in sorted(rubric.scale.levels, key=lambda level: level.order):
        guide = rubric.guides.get(level.name)
        rows.append(level_name(level))
        if guide is not None:
            rows.append(f"  {guide.meaning}")
            if not short:
                rows += [f"  - {example}" for example in guide.examples]
        rows.append("")
    return visible("\n".join(rows).rstrip())
