"""What a run tells: what came of each domain, and why one has fewer than wanted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from labeler.errors import LabelerError
from labeler.synthesis.asking import AskCounts

__all__ = ["DomainReport", "GenerateReport"]


@dataclass
class DomainReport:
    """What came of one domain.

    Attributes:
        domain: The domain; None for documents without one.
        wanted: How many accepted questions were wanted.
        accepted: How many there are, earlier runs of the same command included.
        before: How many of them were there before.
        generated: Questions that were made in this run.
        filtered: How many each filter turned down; one may be turned down by several.
        unusable: Requests that gave no question, by how they ended.
        chunks: Chunks that can be asked about.
        candidates: How many questions can be asked for at the most: each chunk in every way.
        tried: How many of these came to be asked for, in this run or before.
        why: Why there are fewer than wanted; empty when there aren't.
    """

    domain: str | None
    wanted: int
    accepted: int = 0
    before: int = 0
    generated: int = 0
    filtered: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    candidates: int = 0
    tried: int = 0
    why: str = ""

    @property
    def left(self) -> int:
        """How many candidates are left to ask for, at the most."""
        return self.candidates - self.tried

    def exhausted(self) -> str:
        """Say why there is nothing left to ask for."""
        if not self.chunks:
            return "no chunk of it in train or dev is long enough to be asked about"
        turned = ", ".join(f"{name} {count}" for name, count in self.filtered.most_common(3))
        return (
            f"no candidate is left: each of its {self.chunks} chunks that are safe to use was asked"
            " about in every way"
            + (f"; turned down by {turned}" if turned else "")
            + "; more documents give more, or another --model"
        )

    def stopped(self, message: str) -> str:
        """Say that a run ended before the candidates did."""
        return f"{message}; up to {self.left:,} candidates are left"


@dataclass
class GenerateReport:
    """What came of a run.

    Attributes:
        split: The split's name.
        pack_digest: The digest of the safe pack.
        withheld: Chunks and queries of train and dev that hold sealed words.
        domains: What came of each domain.
        to_people: Questions that were drawn for people in this run.
        counts: What asking took.
        recovered: Requests of a stopped run whose answers were copied from its journal.
        foreign: Journals beside the database of jobs that it doesn't know; they stay.
        stop: Why the run ended early, or None.
    """

    split: str
    pack_digest: str
    withheld: int
    domains: list[DomainReport] = field(default_factory=list)
    to_people: int = 0
    counts: AskCounts = field(default_factory=AskCounts)
    recovered: int = 0
    foreign: tuple[str, ...] = ()
    stop: LabelerError | None = None

    @property
    def accepted(self) -> int:
        """The accepted questions of all domains."""
        return sum(one.accepted for one in self.domains)
