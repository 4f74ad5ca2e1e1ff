from __future__ import annotations

import pytest

from labeler.formats.findings import Findings
from labeler.imports.label_rows import LabelRow
from labeler.imports.scale_choice import choose_scale, read_levels
from labeler.labels import TREC, Scale


def faults(values: list[object], scale: Scale | None) -> list[str]:
    findings = Findings()
    rows = [LabelRow("j.txt", place, "q", f"d{place}", value) for place, value in enumerate(values)]
    if scale is None:
        scale, _ = choose_scale(rows, None, {})
    read_levels(rows, scale, findings)
    return [fault.problem for fault in findings.faults]


@pytest.mark.parametrize("scale", [None, TREC])
def test_scores_are_told_from_levels_and_never_rounded(scale: Scale | None) -> None:
    values: list[object] = ["0.0", "1.0", *(str(place / 10) for place in range(1, 10)), 0.25]
    (told,) = faults(values, scale)
    assert "'0.25' ×1" in told
    assert "10 of these are fractions, as scores are" in told
    assert "nothing is rounded" in told
    assert "--map" not in told


def test_a_few_fractions_can_still_be_mapped_by_hand() -> None:
    (told,) = faults(["0", "0.5", "1"], None)
    assert "--map='0.5=...'" in told
    assert "as scores are" not in told


def test_many_words_are_no_scores() -> None:
    (told,) = faults([f"word {place}" for place in range(12)], TREC)
    assert "--map=" in told
    assert "fractions" not in told
