from __future__ import annotations

import pytest

from labeler.judges.spellings import spellings_of
from labeler.labels import BINARY, NATIVE, SHIPPED_SCALES, TREC, Grade, Level, Scale
from labeler.providers.reading import UnreadableAnswer, level_of

EVERY_SCALE = pytest.mark.parametrize("scale", SHIPPED_SCALES.values(), ids=str)


@EVERY_SCALE
def test_a_scale_reads_every_spelling_as_a_judge_does(scale: Scale) -> None:
    words = spellings_of(scale)
    for word, code in words.items():
        level = scale.read(word)
        assert code == ("?" if level is None else str(level.code))
        assert level_of(word, words) == code


@EVERY_SCALE
@pytest.mark.parametrize("word", ["?", "cannot_judge", "Cannot judge", "can’t judge", "unrateable"])
def test_abstentions(scale: Scale, word: str) -> None:
    assert level_of(word, spellings_of(scale)) == "?"


@pytest.mark.parametrize(
    ("scale", "word", "code"),
    [
        (NATIVE, "Fully relevant", "2"),
        (NATIVE, "partial", "1"),
        (NATIVE, "NOT", "0"),
        (NATIVE, "irrelevant.", "0"),
        (TREC, "perfect", "3"),
        (TREC, "highly-relevant", "2"),
        (TREC, "not relevant", "0"),
        (BINARY, "yes", "1"),
        (BINARY, "no", "0"),
    ],
)
def test_words(scale: Scale, word: str, code: str) -> None:
    assert level_of(word, spellings_of(scale)) == code


@pytest.mark.parametrize(
    ("scale", "word"),
    [
        (NATIVE, "relevant"),
        (NATIVE, "partly"),
        (NATIVE, "yes"),
        (NATIVE, "3"),
        (TREC, "partially relevant"),
        (TREC, "fully_relevant"),
        (TREC, "relevant"),
        (BINARY, "2"),
        (BINARY, "true"),
    ],
)
def test_words_of_another_scale(scale: Scale, word: str) -> None:
    with pytest.raises(UnreadableAnswer):
        level_of(word, spellings_of(scale))


def test_what_would_mean_two_levels_is_left_out() -> None:
    levels = (
        Level(2, "1", Grade.FULLY_RELEVANT, 1.0, 1, ("good",)),
        Level(1, "poor", Grade.NOT_RELEVANT, 0.0, 0),
    )
    assert set(spellings_of(Scale("odd", levels))) >= {"2", "good", "poor", "?"}
    assert "1" not in spellings_of(Scale("odd", levels))


def test_a_level_may_have_the_name_of_an_abstention() -> None:
    levels = (
        Level(1, "rateable", Grade.FULLY_RELEVANT, 1.0, 1),
        Level(0, "Unrateable", Grade.NOT_RELEVANT, 0.0, 0),
    )
    assert level_of("unrateable", spellings_of(Scale("own", levels))) == "0"
