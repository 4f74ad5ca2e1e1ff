"""Coefficients of the embedded judge in a file."""

from __future__ import annotations

from pathlib import Path

from labeler.calibration.label_model import LabelModel, shipped_model
from labeler.formats.atomic import replacing
from labeler.formats.text_file import read_text_file

__all__ = ["read_coefficients", "write_coefficients"]


def read_coefficients(path: Path | None) -> LabelModel:
    """Read coefficients that `labeler judge embedded-fit` wrote; None gives the shipped ones.

    Raises:
        InputError: When the file holds none.
    """
    if path is None:
        return shipped_model()
    return LabelModel.from_json(read_text_file(path), path=str(path))


def write_coefficients(path: Path, model: LabelModel) -> None:
    """Write coefficients as JSON, all of the file or nothing."""
    with replacing(path) as file:
        file.write(model.to_json().encode("utf-8") + b"\n")
