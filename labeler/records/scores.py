"""Score versions: what the label model made of the signals on a pool's items, frozen."""

from enum import StrEnum

from sqlalchemy import Column, LargeBinary
from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = ["Calibration", "ScoreVersion"]


class Calibration(StrEnum):
    """Whether the probabilities of a version were fitted on enough human labels."""

    CALIBRATED = "calibrated"
    UNCALIBRATED = "uncalibrated"


class ScoreVersion(Record, table=True):
    """The probability of each grade for every item of a pool, from one fit of the label model.

    A refit appends a version; nothing changes an earlier one, so that a draw, a decision or a
    report can name the scores that it used. ``item_ids`` holds little-endian 64-bit integers,
    ascending; ``probabilities`` little-endian 64-bit floats, three for each item in the order of
    `labeler.calibration.label_model.GRADES`. ``model`` is canonical JSON: features, coefficients,
    what the fit was made on, and how well it did on queries that it hadn't seen.
    """

    __tablename__ = "score_version"
    __table_args__ = keyed("digest", index=(("pool_id",),))

    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id")
    name: str
    digest: str
    calibration: Calibration = Field(sa_column=enumerated("calibration", Calibration))
    model: str
    labels: int
    queries: int
    item_ids: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    probabilities: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    revision_id: int = Field(foreign_key="revision.id")
