"""What an import of labels tells beside its counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.store.database import Store
from tests.small import pooled


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.qrels"
    path.write_text("q1 0 c01 2\n", encoding="utf-8")
    return path


def _notices(store: Store, labels: Path, options: LabelOptions) -> list[str]:
    return [str(one) for one in import_labels(store, [labels], options).notices]


def test_labels_that_no_pool_will_see_are_told(store: Store, tmp_path: Path, labels: Path) -> None:
    pooled(store, tmp_path)
    own = replace(default_rubric(), name="own")
    told = _notices(store, labels, LabelOptions(scale="native", rubric=own))
    (notice,) = [line for line in told if "rubric" in line]
    assert "'own'" in notice
    assert "reports on 'p'" in notice
    assert f"'{default_rubric().name}'" in notice
    assert "--rubric" in notice


def test_labels_under_a_pools_rubric_are_taken_quietly(
    store: Store, tmp_path: Path, labels: Path
) -> None:
    pooled(store, tmp_path)
    assert _notices(store, labels, LabelOptions(scale="native")) == []
