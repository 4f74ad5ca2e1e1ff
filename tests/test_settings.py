"""The settings file: what it may say, and how faults are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import UsageError
from labeler.settings import MOST_REPEATS, Reveal, ReviewSettings, own_settings, read_settings

FULL = """
db = "labels/queue.db"

[review]
reveal = "at_once"
repeats = 0.1
overlap_influence = 3

[review.overlap]
judges_disagree = 2

[review.keys]
skip = "x"
undo = "u,ctrl+z"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "labeler.toml").write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    found = read_settings(tmp_path, {})
    assert found.db is None
    assert found.review == ReviewSettings(Reveal.NEVER, 0.02, {}, {})


def test_every_setting_is_read(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, FULL), {})
    assert found.db == "labels/queue.db"
    assert found.review == ReviewSettings(
        Reveal.AT_ONCE, 0.1, {"judges_disagree": 2}, {"skip": "x", "undo": "u,ctrl+z"}, 3
    )


def test_the_working_directory_and_the_environment_are_a_process_s_own(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(own_folder, FULL)
    monkeypatch.setenv("LABELER_REVIEW_REVEAL", "end")
    found = own_settings()
    assert (found.folder, found.review.reveal) == (own_folder, Reveal.END)


def test_a_variable_comes_before_the_file(tmp_path: Path) -> None:
    environment = {"LABELER_REVIEW_REVEAL": "never", "LABELER_REVIEW_REPEATS": "0"}
    found = read_settings(written(tmp_path, FULL), environment)
    assert (found.review.reveal, found.review.repeats) == (Reveal.NEVER, 0.0)
    empty = {"LABELER_REVIEW_REVEAL": "", "LABELER_SOMETHING_ELSE": "3"}
    assert read_settings(tmp_path, empty).review.reveal is Reveal.AT_ONCE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("db = 3", "labeler.toml, db: a path"),
        ('db = ""', "labeler.toml, db: a path"),
        ("db = ", "labeler.toml is not a TOML file: Invalid value"),
        ("review = 3", r"labeler.toml, review: this is a table, \[review\]"),
        ("[review]\noverlap = 2", r"review.overlap: this is a table, \[review.overlap\]"),
        ('[review]\nreveal = "always"', "review.reveal: 'never' or 'end' or 'at_once', not 'alw"),
        ("[review]\nreveal = true", "review.reveal"),
        ("[review]\nreveal = [1]", "review.reveal"),
        ("[review]\nrepeats = 0.6", "review.repeats: a share from 0 to 0.5, not 0.6"),
        ("[review]\nrepeats = nan", "review.repeats"),
        ("[review]\nrepeats = -0.1", "review.repeats"),
        (f"[review]\nrepeats = 1{'0' * 400}", "review.repeats"),
        ("[review]\noverlap_influence = 0", "review.overlap_influence: a whole number from 1"),
        ("[review]\noverlap_influence = true", "review.overlap_influence"),
        ("[review]\nrepeats = true", "review.repeats"),
        ('[review]\nrepeats = "many"', "review.repeats"),
        ("[review.overlap]\naudit = 0", "labeler.toml, review.overlap.audit: a whole number"),
        ("[review.overlap]\naudit = 2.0", "review.overlap.audit"),
        ("[review.overlap]\naudit = true", "review.overlap.audit"),
        ("[review.keys]\nskip = 3", "labeler.toml, review.keys.skip: the name of a key"),
        ('[review.keys]\nskip = " "', "review.keys.skip"),
        ("[reviews]\nreveal = 1", "labeler.toml, reviews: there is no such setting"),
        ("[review]\nrepeat = 0.1", "labeler.toml, review.repeat: there is no such setting"),
    ],
)
def test_a_fault_names_the_file_and_the_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_settings(written(tmp_path, text), {})


def test_a_misspelt_setting_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        read_settings(written(tmp_path, "[review]\nrepeat = 0.1"), {})
    assert error.value.hint == "did you mean 'repeats'?"


@pytest.mark.parametrize(
    ("name", "value"), [("LABELER_REVIEW_REVEAL", "yes"), ("LABELER_REVIEW_REPEATS", "two")]
)
def test_a_fault_names_the_variable(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"^{name}: .*'{value}'"):
        read_settings(tmp_path, {name: value})


@given(share=st.floats(allow_nan=True, allow_infinity=True))
def test_a_share_is_taken_whole_or_refused(share: float) -> None:
    environment = {"LABELER_REVIEW_REPEATS": repr(share)}
    if 0 <= share <= MOST_REPEATS:
        assert read_settings(Path("/nowhere"), environment).review.repeats == share
    else:
        with pytest.raises(UsageError, match="LABELER_REVIEW_REPEATS"):
            read_settings(Path("/nowhere"), environment)
