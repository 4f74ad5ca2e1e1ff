"""Prompt files, whatever they ask for: placeholders are filled once."""

from __future__ import annotations

from labeler.providers.prompt_file import fill


def test_placeholders_are_filled_in_one_pass() -> None:
    filled = fill("{query} and {passage}", {"query": "{passage}", "passage": "{query}"})
    assert filled == "{passage} and {query}"


def test_braces_that_are_no_placeholder_stay() -> None:
    assert fill('{"level": 1} {unknown}', {"query": "x"}) == '{"level": 1} {unknown}'
