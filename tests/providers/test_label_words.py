from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.providers.label_words import level_of
from labeler.providers.unreadable import UnreadableAnswer

WORDS = {"fully_relevant": 2, "2": 2, "partially": 1, "1": 1, "not relevant": 0, "0": 0, "-1": -1}


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("fully relevant", 2),
        (" Fully-Relevant ", 2),
        ("FULLY__RELEVANT", 2),
        ("ｆｕｌｌｙ relevant", 2),
        ("fully\u2011relevant", 2),
        ("\ufeffpartially\n", 1),
        ('"partially"', 1),
        ("“partially”.", 1),
        ("**Partially**", 1),
        ("`partially`.", 1),
        ("'partially.'", 1),
        ("「partially」。", 1),
        ("not relevant!", 0),
        (2, 2),
        (2.0, 2),
        ("2", 2),
        ("2.0", 2),
        ("2.", 2),
        (" ２ ", 2),
        ("+1", 1),
        (-1, -1),
        ("-1", -1),
        ("-1.", -1),
        (["partially"], 1),
        ([2], 2),
    ],
)
def test_spellings(said: object, level: int) -> None:
    assert level_of(said, WORDS) == level


@pytest.mark.parametrize(
    "said",
    [
        *(True, False, None, {}, {"level": 2}, [], ["2", "1"], [["2"]], [True]),
        *(1.5, 3, float("nan"), float("inf"), 10**400, "1e0", "1.5", "9" * 5000),
        *("", " ", ".", '""', "**", "2/3", "2 of 3", "0-2", "1 2", "- 1", "--1", "1-", "−1", "½"),
        *(
            "fully",
            "not",
            "relevant",
            "notrelevant",
            "not relevant?",
            "not relevant...",
            "2?",
            "2,",
        ),
        *("not fully relevant", "partially or not relevant", "partially, 1", "1 (partially)"),
        *(
            "partially relevant",
            "very partially",
            '"partially" or "not relevant"',
            "二",
            "٢",
            "~~1~~",
        ),
    ],
)
def test_everything_else_is_no_level(said: object) -> None:
    with pytest.raises(UnreadableAnswer):
        level_of(said, WORDS)


def test_spellings_that_look_alike_and_mean_two_levels_mean_none() -> None:
    spellings: Mapping[str, int] = {"no": 0, "No ": 1, "1.0": 1, "1": 1}
    assert level_of(1, spellings) == 1
    with pytest.raises(UnreadableAnswer):
        level_of("no", spellings)


@given(
    st.sampled_from(list(WORDS)),
    st.sampled_from(["", '"', "'", "`", "**"]),
    st.sampled_from(["", ".", "!"]),
    st.sampled_from([str.upper, str.title, str.swapcase]),
    st.sampled_from([" ", "_", "-"]),
)
def test_what_may_stand_around_a_spelling(
    word: str, quote: str, end: str, case: Callable[[str], str], joint: str
) -> None:
    said = case(word if word == "-1" else word.replace("_", " ").replace(" ", joint))
    assert level_of(f" {quote}{said}{quote}{end}", WORDS) == WORDS[word]
    assert level_of(f"{quote}{said}{end}{quote}\n", WORDS) == WORDS[word]


@given(st.text("not fulyparie-_ 012.\"'*", max_size=25))
@example("not relevant")
@example("2.0")
def test_a_level_only_comes_of_a_whole_spelling(said: str) -> None:
    try:
        level = level_of(said, WORDS)
    except UnreadableAnswer:
        return
    bare = said.strip(" .\"'*").casefold()
    if any(letter.isalpha() for letter in bare):
        joined = " ".join(bare.replace("-", " ").replace("_", " ").split())
        assert level == {"fully relevant": 2, "partially": 1, "not relevant": 0}[joined]
    else:
        assert level == float(bare)
