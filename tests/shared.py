"""Where the shared collections and cases are, or a skip that says why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def data_dir(name: str) -> Path:
    """Give the folder of a shared test collection, or skip the test."""
    root = Path(os.environ.get("LABELER_DATA", _SHARED / "data"))
    folder = root / name
    if not folder.is_dir():
        pytest.skip(f"the collection '{name}' is not there: set LABELER_DATA to its parent folder")
    return folder


def case_dir(name: str) -> Path:
    """Give the folder of a shared case by the number or name it begins with, or skip the test."""
    root = Path(os.environ.get("LABELER_CASES", _SHARED / "cases"))
    found = sorted(root.glob(f"{name}*")) if root.is_dir() else []
    if not found:
        pytest.skip(f"the case '{name}' is not there: set LABELER_CASES to the folder of cases")
    return found[0]
