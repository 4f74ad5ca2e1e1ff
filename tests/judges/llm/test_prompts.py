"""Prompts are files: what is wrong with one is told; the shipped ones hold together."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.errors import InputError, NotFoundError
from labeler.judges.llm.prompts import (
    PLACEHOLDERS,
    find_prompt,
    parse_prompt,
    shipped_prompts,
)

GOOD = """+++
name = "mine"
+++
{levels} {answer} {fence}
--- user ---
{query} {passage}
"""


def faults_of(text: str) -> list[str]:
    with pytest.raises(InputError) as raised:
        parse_prompt(text, path="mine.md")
    return [str(fault) for fault in raised.value.faults]


def test_three_prompts_are_shipped() -> None:
    names = [prompt.name for prompt in shipped_prompts()]
    assert names == ["criteria", "direct", "second-opinion"]


def test_the_criteria_prompt_asks_for_each_criterion() -> None:
    prompt = find_prompt("criteria")
    assert list(prompt.criteria) == [
        "exactness",
        "coverage",
        "topicality",
        "contextual_fit",
        "conditions",
    ]


def test_a_prompt_is_identified_by_its_text() -> None:
    one = parse_prompt(GOOD, path="mine.md")
    same = parse_prompt(GOOD.replace("\n", "\r\n"), path="mine.md")
    other = parse_prompt(GOOD + "Think.", path="mine.md")
    assert one.digest == same.digest != other.digest


def test_a_file_of_ones_own_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text(GOOD, encoding="utf-8")
    assert find_prompt(str(path)).name == "mine"


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(NotFoundError) as raised:
        find_prompt("drect")
    assert "direct" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no header", "mine.md:1: a prompt begins with"),
        (GOOD.replace('name = "mine"', "name = "), "not TOML"),
        (GOOD.replace('name = "mine"', 'name = "two words"'), "'name' is a word"),
        (GOOD.replace('"mine"', '"mine"\nstrategy = "vote"'), "'strategy' is one of"),
        (GOOD.replace('"mine"', '"mine"\nsignals = ["mood"]'), "'signals' is a list of"),
        (GOOD.replace('"mine"', '"mine"\nstrategy = "criteria"'), "goes with a table"),
        (GOOD.replace('"mine"', '"mine"\ncolour = "red"'), "no key 'colour'"),
        (GOOD.replace("--- user ---\n", ""), "the line '--- user ---' is missing"),
        (GOOD.replace("{fence}", ""), "{fence}, a mark that stands in none"),
        (GOOD.replace("{levels}", "{levels} {rank}"), "mine.md:4: no placeholder {rank}"),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    assert any(told in fault for fault in faults_of(text))


def test_every_placeholder_is_described() -> None:
    assert all(PLACEHOLDERS.values())
