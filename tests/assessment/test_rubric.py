"""Rubric files."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.rubric import Rubric, default_rubric, parse_rubric, read_rubric
from labeler.errors import InputError, NotFoundError, UsageError
from labeler.labels import NATIVE, Grade

OWN_SCALE = """
name = "exact"
instructions = "Is it the same product?"

[scale]
name = "esci"

[[scale.levels]]
code = 1
name = "exact"
grade = "fully_relevant"
gain = 1.0

[[scale.levels]]
code = 0
name = "other"
grade = "not_relevant"
gain = 0.0

[levels.exact]
meaning = "The same product."

[levels.other]
meaning = "Another product."
"""


def test_the_shipped_rubric_is_on_the_native_scale() -> None:
    rubric = default_rubric()
    assert rubric.scale == NATIVE
    assert set(rubric.guides) == {level.name for level in NATIVE.levels}


def test_a_rubric_comes_back_from_what_is_stored() -> None:
    rubric = default_rubric()
    again = Rubric.from_json(rubric.to_json(), NATIVE)
    assert again == rubric
    assert again.digest == rubric.digest


def test_a_rubric_on_a_scale_of_its_own() -> None:
    rubric = parse_rubric(OWN_SCALE, path="exact.toml")
    assert rubric.scale.name == "esci"
    assert rubric.scale.level(1).grade is Grade.FULLY_RELEVANT


def test_a_changed_rubric_is_another_one() -> None:
    changed = OWN_SCALE.replace("The same product.", "Just the same product.")
    assert parse_rubric(changed, path="a").digest != parse_rubric(OWN_SCALE, path="a").digest


def test_all_faults_of_a_rubric_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_text('scale = "native"\n[levels.fully_relevant]\nmeaning = "yes"\n')
    with pytest.raises(InputError) as caught:
        read_rubric(path)
    told = " ".join(str(fault) for fault in caught.value.faults)
    for missing in ("'name'", "'instructions'", "partially_relevant", "not_relevant"):
        assert missing in told


def test_what_is_no_rubric_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    with pytest.raises(InputError, match="1 fault"):
        read_rubric(path)
    with pytest.raises(InputError, match="1 fault"):
        parse_rubric("name = ", path="rubric.toml")
    with pytest.raises(NotFoundError, match="no scale is called 'five'"):
        parse_rubric('scale = "five"', path="rubric.toml")
    with pytest.raises(UsageError, match="no scale"):
        parse_rubric('[scale]\nname = "x"\n', path="rubric.toml")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('[levels.perfect]\nmeaning = "Better still."\n', "[levels.perfect] is no level of 'esci'"),
        ('examples = "one text"\n', "'examples' is a list"),
    ],
)
def test_what_a_rubric_would_leave_out_is_a_fault(more: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_rubric(OWN_SCALE + more, path="exact.toml")
    assert problem in raised.value.faults[0].problem
