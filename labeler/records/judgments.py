"""Judgments, decisions and corrections: the log of who said what, and what is in force."""

from datetime import datetime
from enum import StrEnum

from sqlmodel import Field

from labeler.labels import Grade, Outcome
from labeler.records.base import Record, UtcDateTime, enumerated, keyed

__all__ = [
    "Basis",
    "Correction",
    "CorrectionTarget",
    "Decision",
    "DecisionSupport",
    "Judgment",
    "Occasion",
    "Withdrawal",
    "WithdrawnKind",
]


class Occasion(StrEnum):
    """On which occasion an item was judged."""

    FIRST = "first"
    SENTINEL = "sentinel"
    REPEAT = "repeat"


class Basis(StrEnum):
    """On what ground a grade is in force."""

    ACCEPTED = "accepted"
    ONE_REVIEWER = "one_reviewer"
    CONSENSUS = "consensus"
    ADJUDICATION = "adjudication"


class CorrectionTarget(StrEnum):
    """What a correction is about."""

    JUDGMENT = "judgment"
    EVIDENCE = "evidence"
    DOCUMENT = "document"
    RUBRIC = "rubric"
    VOTE = "vote"


class WithdrawnKind(StrEnum):
    """What a correction takes out of force."""

    JUDGMENT = "judgment"
    DECISION = "decision"


class Judgment(Record, table=True):
    """One stored raw label of one assessor on one item.

    Its identity is the digest of the request as it was sent, with sample number and occasion.
    ``probabilities``, ``signals`` and ``flags`` hold canonical JSON; an absent signal has no key.
    """

    __tablename__ = "judgment"
    __table_args__ = keyed(
        "request_digest",
        "item_id",
        "assessor_id",
        "sample",
        "occasion",
        index=(("item_id",), ("assessor_id", "item_id")),
    )

    id: int | None = Field(default=None, primary_key=True)
    item_id: int = Field(foreign_key="item.id")
    assessor_id: int = Field(foreign_key="assessor.id")
    outcome: Outcome = Field(sa_column=enumerated("outcome", Outcome))
    level_id: int | None = Field(default=None, foreign_key="scale_level.id")
    confidence: float | None = None
    calibration: str | None = None
    probabilities: str = "{}"
    signals: str = "{}"
    flags: str = "[]"
    quote_id: int | None = Field(default=None, foreign_key="text.id")
    reason_id: int | None = Field(default=None, foreign_key="text.id")
    response_id: int | None = Field(default=None, foreign_key="response.id")
    request_digest: str
    sample: int = 0
    occasion: Occasion = Field(sa_column=enumerated("occasion", Occasion))
    judged_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class Decision(Record, table=True):
    """The grade in force for an item, with its basis; the latest not withdrawn counts.

    An abstention of people is a decision too: its grade is null, and the item stays unknown.
    """

    __tablename__ = "decision"
    __table_args__ = keyed("item_id", "revision_id")

    id: int | None = Field(default=None, primary_key=True)
    item_id: int = Field(foreign_key="item.id")
    outcome: Outcome = Field(sa_column=enumerated("outcome", Outcome))
    level_id: int | None = Field(default=None, foreign_key="scale_level.id")
    grade: Grade | None = Field(default=None, sa_column=enumerated("grade", Grade, nullable=True))
    basis: Basis = Field(sa_column=enumerated("basis", Basis))
    policy_id: int | None = Field(default=None, foreign_key="policy.id")
    revision_id: int = Field(foreign_key="revision.id")


class DecisionSupport(Record, table=True):
    """A judgment that a decision rests on."""

    __tablename__ = "decision_support"
    __table_args__ = keyed("decision_id", "judgment_id")

    id: int | None = Field(default=None, primary_key=True)
    decision_id: int = Field(foreign_key="decision.id")
    judgment_id: int = Field(foreign_key="judgment.id")


class Correction(Record, table=True):
    """A later record that takes earlier ones out of force, with a reason."""

    __tablename__ = "correction"
    __table_args__ = keyed()

    id: int | None = Field(default=None, primary_key=True)
    target: CorrectionTarget = Field(sa_column=enumerated("target", CorrectionTarget))
    subject: str
    reason: str
    revision_id: int = Field(foreign_key="revision.id")


class Withdrawal(Record, table=True):
    """One judgment or decision that a correction takes out of force."""

    __tablename__ = "withdrawal"
    __table_args__ = keyed("kind", "target_id")

    id: int | None = Field(default=None, primary_key=True)
    correction_id: int = Field(foreign_key="correction.id")
    kind: WithdrawnKind = Field(sa_column=enumerated("kind", WithdrawnKind))
    target_id: int
    revision_id: int = Field(foreign_key="revision.id")
