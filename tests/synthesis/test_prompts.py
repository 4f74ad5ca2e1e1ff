"""Prompts of generators: what a file holds, and what is said of one that isn't right."""

from __future__ import annotations

import pytest

from labeler.errors import InputError
from labeler.records.questions import QuestionKind
from labeler.synthesis.prompts import EMBEDDED, parse_prompt, prompt_for, shipped_prompts

GOOD = """+++
name = "mine"
kinds = ["factual"]
answer = "spans"
+++
Ask.
--- user ---
{passage}
"""


def test_the_parts_of_a_prompt_are_read() -> None:
    prompt = parse_prompt(GOOD.replace("\n", "\r\n"), path="mine.md")
    assert (prompt.name, prompt.kinds, prompt.answer) == ("mine", (QuestionKind.FACTUAL,), "spans")
    assert (prompt.system, prompt.user) == ("Ask.", "{passage}")
    assert prompt.digest == parse_prompt(GOOD, path="mine.md").digest


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no header", "begins with a TOML header"),
        (GOOD.replace('name = "mine"', "name = "), "not TOML"),
        (GOOD.replace('name = "mine"', ""), "the header isn't right"),
        (GOOD.replace("factual", "witty"), "witty"),
        (GOOD.replace('"spans"', '"verse"'), "'answer' is one of"),
        (GOOD.replace("--- user ---\n", ""), "'--- user ---' is missing"),
        (
            GOOD.replace("{passage}", "{passage} {rank}"),
            "mine.md:8: there is no placeholder {rank}",
        ),
    ],
)
def test_a_faulty_prompt_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        parse_prompt(text, path="mine.md")
    assert any(told in str(fault) for fault in error.value.faults)


def test_every_kind_has_a_shipped_prompt() -> None:
    assert {prompt_for(kind, embedded=False).name for kind in QuestionKind} <= set(
        shipped_prompts()
    )
    assert prompt_for(QuestionKind.FACTUAL, embedded=True).name == EMBEDDED
