"""Frames, strata and draws: the design behind every estimate."""

from sqlmodel import Field

from labeler.records.base import Record, keyed

__all__ = ["Draw", "Frame", "FrameItem", "SampleDesign", "Stratum"]


class Frame(Record, table=True):
    """The population that an estimate speaks of, in words and, by its items, as a set."""

    __tablename__ = "frame"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    description: str
    digest: str
    pool_id: int | None = Field(default=None, foreign_key="pool.id")
    policy_id: int | None = Field(default=None, foreign_key="policy.id")
    revision_id: int = Field(foreign_key="revision.id")


class Stratum(Record, table=True):
    """A part of a frame, with its size, sample size, seed and phase."""

    __tablename__ = "stratum"
    __table_args__ = keyed("frame_id", "name", "phase")

    id: int | None = Field(default=None, primary_key=True)
    frame_id: int = Field(foreign_key="frame.id")
    name: str
    phase: int
    size: int
    sample_size: int
    seed: str
    score_version: str | None = None
    revision_id: int = Field(foreign_key="revision.id")


class FrameItem(Record, table=True):
    """An item of a frame, in its stratum."""

    __tablename__ = "frame_item"
    __table_args__ = keyed("stratum_id", "item_id")

    id: int | None = Field(default=None, primary_key=True)
    stratum_id: int = Field(foreign_key="stratum.id")
    item_id: int = Field(foreign_key="item.id")


class Draw(Record, table=True):
    """A selected item, with its inclusion probability in (0, 1]."""

    __tablename__ = "draw"
    __table_args__ = keyed("stratum_id", "item_id")

    id: int | None = Field(default=None, primary_key=True)
    stratum_id: int = Field(foreign_key="stratum.id")
    item_id: int = Field(foreign_key="item.id")
    probability: float
    revision_id: int = Field(foreign_key="revision.id")


class SampleDesign(Record, table=True):
    """A sample by its name: the frame it is drawn from, and what it is to estimate.

    ``body`` is canonical JSON: the runs that are compared, the cutoff k, how strata were made, and
    for each stratum, by its name, who retrieved its items and what share was expected relevant.
    """

    __tablename__ = "sample_design"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    frame_id: int = Field(foreign_key="frame.id")
    name: str
    body: str
    revision_id: int = Field(foreign_key="revision.id")
