"""What an audit of a pool was drawn from, and what people said of it: strata that speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.item_scores import scores_by_digest
from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import LabelInForce
from labeler.draws.audit_frames import AuditFrame, read_frames
from labeler.errors import NotFoundError
from labeler.labels import Grade
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.sampling import Frame
from labeler.records.scales import Policy

__all__ = ["AuditedLabels", "AuditedPart", "read_audit"]


@dataclass(frozen=True, slots=True)
class AuditedPart:
    """A stratum that speaks.

    Attributes:
        grade: The grade of its labels.
        items: Its items.
        drawn: Those that were drawn.
        accepted: How many of its labels are accepted now.
    """

    grade: Grade
    items: frozenset[int]
    drawn: frozenset[int]
    accepted: int


@dataclass(frozen=True, slots=True)
class AuditedLabels:
    """The strata that speak, and what people said.

    Attributes:
        policy: The policy that the audit is of.
        description: The latest frame in words.
        parts: The strata.
        said: The grade that people gave to each item that they judged; None where they couldn't.
        relevance: The calibrated probability that each item is relevant, or None.
        prior: What the intervals lean on besides the draws, in words.
    """

    policy: str
    description: str
    parts: tuple[AuditedPart, ...]
    said: Mapping[int, Grade | None]
    relevance: Mapping[int, float] | None
    prior: str

    @property
    def items(self) -> frozenset[int]:
        """All items of the strata."""
        return frozenset().union(*(part.items for part in self.parts))

    @property
    def strata(self) -> list[tuple[frozenset[int], frozenset[int]]]:
        """The items of each stratum, and those that were drawn."""
        return [(part.items, part.drawn) for part in self.parts]


def read_audit(
    connection: Connection,
    pool_id: int,
    pool: str,
    labels: Mapping[int, LabelInForce],
    counted: frozenset[int],
    as_of: int | None,
) -> AuditedLabels:
    """Read which strata of a pool's audits speak, and what people said.

    Args:
        connection: A transaction's connection.
        pool_id: The pool's key.
        pool: Its name.
        labels: The labels in force at the revision, of the items that count.
        counted: The items that count. A simple random draw of a stratum is one of any part of it,
            given how many of it were drawn.
        as_of: The revision; None is the present.

    Raises:
        NotFoundError: When no audit was drawn, or none of what was drawn is answered.
    """
    policy = _latest_policy(connection, pool_id, as_of)
    if policy is None:
        raise NotFoundError(
            f"no audit was drawn from pool '{pool}'",
            hint=f"`labeler route {pool}` draws one; `--plan` says of how many items",
        )
    frames = read_frames(connection, pool_id, str(policy.digest), as_of)
    accepted = frozenset(
        item
        for item, label in labels.items()
        if label.basis is Basis.ACCEPTED and label.policy_id == policy.id
    )
    said = {item: label.grade for item, label in labels.items() if is_of_people(label)}
    parts = _parts(frames, accepted, counted)
    drawn = frozenset().union(*(part.drawn for part in parts))
    if not drawn & said.keys():
        raise NotFoundError(
            f"none of the {len(drawn):,} drawn items has been judged by people",
            hint=f"`labeler review --pool {pool}` asks for them among the others",
        )
    relevance, prior = _relevance(connection, frames[-1].score_version)
    return AuditedLabels(str(policy.name), frames[-1].description, parts, said, relevance, prior)


def _latest_policy(
    connection: Connection, pool_id: int, as_of: int | None
) -> sa.Row[int, str, str] | None:
    """Find the policy that the pool's latest audit was drawn for."""
    frame, policy = table(Frame), table(Policy)
    statement = (
        sa.select(policy.c.id, policy.c.name, policy.c.digest)
        .join(frame, frame.c.policy_id == policy.c.id)
        .where(frame.c.pool_id == pool_id)
        .order_by(frame.c.id.desc())
        .limit(1)
    )
    if as_of is not None:
        statement = statement.where(frame.c.revision_id <= as_of)
    return connection.execute(statement).first()


def _parts(
    frames: Sequence[AuditFrame], accepted: frozenset[int], counted: frozenset[int]
) -> tuple[AuditedPart, ...]:
    """Choose the strata that speak: of the latest frame all, of earlier ones what is accepted.

    A later frame is made of what people hadn't judged and no earlier one had accepted, so that an
    item of several frames is left to the latest.
    """
    found: list[AuditedPart] = []
    taken: frozenset[int] = frozenset()
    for number, frame in enumerate(reversed(frames)):
        for one in frame.strata:
            items = one.items & counted - taken
            drawn = one.drawn() & items
            part = AuditedPart(one.name.grade, items, drawn, len(items & accepted))
            if items and (part.accepted or not number):
                found.append(part)
        taken |= frame.items
    return tuple(found)


def _relevance(connection: Connection, digest: str) -> tuple[Mapping[int, float] | None, str]:
    """Give the probabilities that the strata were made of, where they are calibrated."""
    scores = scores_by_digest(connection, digest)
    if scores is None or not scores.is_calibrated:
        return None, "neutral: beta(1/3, 1/3) in each stratum"
    chances = {item: 1 - row[0] for item, row in scores.by_item().items()}
    return chances, f"the scores {digest[:12]}, which count as 2.5 answers in each stratum"
