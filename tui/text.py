"""Stored text on its way to the screen: made safe, and never markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from labeler.assessment.blind import Block
from labeler.assessment.rubric import Rubric
from labeler.assessment.visible import steady, visible, visible_line
from labeler.labels import Level
from labeler.queue.sitting.changes import what_changed
from labeler.queue.sitting.orders import Revealed, Shown

if TYPE_CHECKING:
    from labeler.assessment.context import Surroundings

__all__ = [
    "Line",
    "all_revealed_text",
    "context_facts",
    "context_text",
    "displayed",
    "displayed_line",
    "level_name",
    "line",
    "reveal_text",
    "rubric_text",
]

_NEAR = 200
"""Characters of a passage that tell which one it is."""

Line = str | tuple[str, str]
"""A piece of text, or a piece with a style such as ``bold``."""


def displayed(text: str) -> str:
    """Make a text of any number of lines ready for the screen; tabs become blanks."""
    return steady(visible(text)).expandtabs()


def displayed_line(text: str) -> str:
    """Make a text ready for one line of the screen."""
    return steady(visible_line(text))


def line(*pieces: Line) -> Content:
    """Join pieces of text of one line; every control in them becomes visible."""
    return Content.assemble(
        *(
            displayed_line(piece)
            if isinstance(piece, str)
            else (displayed_line(piece[0]), piece[1])
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


def context_text(
    block: Block, snapshot: str, around: Surroundings | None, *, is_known: bool, was: Shown | None
) -> str:
    """Write out the whole query with its conditions, and where the passage stands.

    Args:
        block: The query and the one item.
        snapshot: The name of the snapshot that the passage is from.
        around: What stands around the passage.
        is_known: Whether that was read; if not, it is being looked for.
        was: The item as it was when it changed on the screen, or None.
    """
    query = block.query
    rows: list[str] = []
    if was is not None:
        rows.append("It changed while it was on the screen:")
        for name, before, now in what_changed(was.block, block):
            rows += [f"  {name} was: {before}", f"  {name} is: {now}"]
        rows.append("")
    rows.append(f"Query: {query.text}")
    if query.need:
        rows.append(f"Need: {query.need}")
    asked = [("domain", query.domain), ("language", query.language), *query.conditions.items()]
    told = ", ".join(f"{name}: {value}" for name, value in asked if value)
    rows += [f"Asked under: {told}"] if told else []
    facts = [*context_facts(block), ("snapshot", snapshot), *_place(around)]
    rows += ["", "The passage is from", *(f"  {name}: {value}" for name, value in facts if value)]
    if not is_known:
        rows += ["", "Looking for what stands before and after it …"]
    elif around is not None:
        rows += ["", "Before it", _beside(around.before, is_edge=around.place == 1)]
        rows += ["", "After it", _beside(around.after, is_edge=around.place == around.total)]
    return displayed("\n".join(rows))


def _beside(text: str | None, *, is_edge: bool) -> str:
    if text is None:
        return "  nothing" if is_edge else "  a passage whose text was erased"
    return text


def _place(around: Surroundings | None) -> list[tuple[str, str]]:
    if around is None:
        return []
    place = f"{around.place} of {around.total} in {around.document}"
    return [("place", place)]


def reveal_text(revealed: Revealed) -> str:
    """Write out what judges said of an item that was voted on, and the passage below it."""
    own = f"You: {level_name(revealed.level)}. Your blind vote stays on record."
    rows = [f"{own} Another label changes your mind.", "", *_said(revealed)]
    return displayed("\n".join([*rows, "The passage", revealed.shown.item.passage]))


def all_revealed_text(revealed: Sequence[Revealed]) -> str:
    """Write out what judges said of all items of a sitting."""
    rows: list[str] = []
    for place, one in enumerate(revealed, 1):
        passage = one.shown.item.passage
        near = passage if len(passage) <= _NEAR else f"{passage[:_NEAR]} …"
        rows += [f"{place} of {len(revealed)}. {one.shown.block.query.text}", f"Passage: {near}"]
        rows += [f"You: {level_name(one.level)}", *_said(one), ""]
    return displayed("\n".join(rows)) or "No judge was asked about these items."


def _said(revealed: Revealed) -> list[str]:
    rows: list[str] = []
    for judge in revealed.judges:
        rows.append(f"{judge.letter}: {level_name(judge.level)}")
        rows += [f"“{judge.quote}”"] if judge.quote else []
        rows += [*judge.said, ""]
    return rows


def rubric_text(rubric: Rubric, *, short: bool = False) -> str:
    """Write out a rubric, from the worst level to the best; in short, without its examples."""
    # A rubric file breaks its lines where its writer's editor did.
    flowing = re.sub(r"(?<=\S)\n(?=[\w(])", " ", rubric.instructions)
    rows = [] if short else [flowing, ""]
    for level in sorted(rubric.scale.levels, key=lambda level: level.order):
        guide = rubric.guides.get(level.name)
        rows.append(f"{level_name(level)}: {guide.meaning}" if guide else level_name(level))
        if guide is not None and not short:
            rows += [f"- {example}" for example in guide.examples]
        rows.append("")
    return displayed("\n".join(rows).rstrip())
