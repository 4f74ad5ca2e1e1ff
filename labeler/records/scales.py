"""Scales, rubrics, assessors and policies: by what and by whom items are judged."""

from enum import StrEnum

from sqlmodel import Field

from labeler.labels import Grade
from labeler.records.base import Record, enumerated, keyed

__all__ = ["Assessor", "AssessorKind", "Policy", "RubricRecord", "ScaleLevel", "ScaleRecord"]


class AssessorKind(StrEnum):
    """What sort of assessor somebody is."""

    PERSON = "person"
    LLM = "llm"
    EMBEDDED = "embedded"


class ScaleRecord(Record, table=True):
    """A scale; the digest covers its levels and their mapping to grades."""

    __tablename__ = "scale"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    revision_id: int = Field(foreign_key="revision.id")


class ScaleLevel(Record, table=True):
    """One level of a scale, with the grade that it maps to."""

    __tablename__ = "scale_level"
    __table_args__ = keyed("scale_id", "code")

    id: int | None = Field(default=None, primary_key=True)
    scale_id: int = Field(foreign_key="scale.id")
    code: int
    name: str
    grade: Grade = Field(sa_column=enumerated("grade", Grade))
    gain: float
    position: int


class RubricRecord(Record, table=True):
    """One version of a rubric."""

    __tablename__ = "rubric"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    scale_id: int = Field(foreign_key="scale.id")
    body: str
    revision_id: int = Field(foreign_key="revision.id")


class Assessor(Record, table=True):
    """A person, an LLM with prompt and parameters, or the embedded judge.

    The digest tells two settings of one judge apart; a person's is empty.
    """

    __tablename__ = "assessor"
    __table_args__ = keyed("kind", "name", "digest")

    id: int | None = Field(default=None, primary_key=True)
    kind: AssessorKind = Field(sa_column=enumerated("kind", AssessorKind))
    name: str
    digest: str = ""
    revision_id: int = Field(foreign_key="revision.id")


class Policy(Record, table=True):
    """An acceptance policy as it was applied."""

    __tablename__ = "policy"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    body: str
    revision_id: int = Field(foreign_key="revision.id")
