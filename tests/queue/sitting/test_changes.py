"""What changed of an item: the parts by name, as they were and as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labeler.assessment.blind import BlindItem, BlindQuery, Block, PassageContext
from labeler.assessment.rubric import LevelGuide, default_rubric
from labeler.queue.sitting.changes import what_changed

CONTEXT = PassageContext(title="Leave", region="EU")
BLOCK = Block(
    BlindQuery("what", "a need", {"region": "DE", "date": "2026"}, "en", "hr"),
    (BlindItem(1, "a passage", CONTEXT),),
    default_rubric(),
)


def test_nothing_changed() -> None:
    assert what_changed(BLOCK, BLOCK) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (replace(BLOCK.query, text="who"), [("query", "what", "who")]),
        (replace(BLOCK.query, need=None), [("need", "a need", "-")]),
        (
            replace(BLOCK.query, conditions={"region": "FR", "date": "2026"}),
            [("conditions", "region: DE", "region: FR")],
        ),
        (
            replace(BLOCK.query, conditions={"region": "DE"}, domain=None),
            [("conditions", "date: 2026", "-"), ("domain", "hr", "-")],
        ),
    ],
)
def test_parts_of_the_query(query: BlindQuery, expected: list[tuple[str, str, str]]) -> None:
    assert what_changed(BLOCK, replace(BLOCK, query=query)) == expected


def test_passage_context_and_rubric() -> None:
    rubric = default_rubric()
    guides = {**rubric.guides, "not_relevant": LevelGuide("nothing of use", ("an example",))}
    item = BlindItem(1, "another passage", replace(CONTEXT, region="US"))
    now = replace(BLOCK, items=(item,), rubric=replace(rubric, guides=guides))
    changes = what_changed(BLOCK, now)
    assert [name for name, _, _ in changes] == ["passage", "context", "rubric"]
    assert changes[1][1:] == ("region: EU", "region: US")
    assert changes[2][2] == "not relevant: nothing of use\nan example"
    assert changes[2][1].startswith("not relevant: ")
