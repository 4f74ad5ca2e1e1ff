"""What changed of an item while it was on the screen. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from labeler.assessment.blind import Block

__all__ = ["what_changed"]

_Fields = Mapping[str, str | None]


def what_changed(before: Block, now: Block) -> list[tuple[str, str, str]]:
    """List the parts of a block of one item that differ: a name, what it was, and what it is.

    The text of a part that has many fields lists those that differ, one a line.
    """
    item, again = before.items[0], now.items[0]
    query, asked = before.query, now.query
    parts: list[tuple[str, _Fields, _Fields]] = [
        ("query", {"": query.text}, {"": asked.text}),
        ("need", {"": query.need}, {"": asked.need}),
        ("conditions", dict(query.conditions), dict(asked.conditions)),
        ("domain", {"": query.domain}, {"": asked.domain}),
        ("language", {"": query.language}, {"": asked.language}),
        ("passage", {"": item.passage}, {"": again.passage}),
        ("context", _context(before), _context(now)),
        ("rubric", _rubric(before), _rubric(now)),
    ]
    return [
        (name, _written(was, other), _written(other, was))
        for name, was, other in parts
        if was != other
    ]


def _context(block: Block) -> dict[str, str | None]:
    context = block.items[0].context
    return {
        "title": context.title,
        "product": context.product,
        "region": context.region,
        "in force from": context.effective_date,
        "source": context.source,
    }


def _rubric(block: Block) -> dict[str, str | None]:
    rubric = block.rubric
    guides = {name: [guide.meaning, *guide.examples] for name, guide in rubric.guides.items()}
    return {
        "name": rubric.name,
        "scale": rubric.scale.name,
        "instructions": rubric.instructions,
        **{name.replace("_", " "): "\n".join(guide) for name, guide in guides.items()},
    }


def _written(fields: _Fields, other: _Fields) -> str:
    differing = {name: text for name, text in fields.items() if other.get(name) != text}
    rows = [f"{name}: {text or '-'}" if name else text or "-" for name, text in differing.items()]
    return "\n".join(rows) or "-"
