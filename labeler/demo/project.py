"""What the demo project is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Audience",
    "Chunk",
    "Conditions",
    "DemoProject",
    "DemoQuery",
    "DemoRun",
    "Document",
    "GroupKeys",
    "PlantedMiss",
    "Product",
    "Region",
    "Trap",
    "describe_traps",
]


class Region(StrEnum):
    """Where Tarnwick sells."""

    EU = "EU"
    UK = "UK"
    US = "US"
    CA = "CA"


class Product(StrEnum):
    """What Tarnwick sells: seven devices and three plans."""

    RILL_2 = "rill-2"
    RILL_3 = "rill-3"
    PERCH_INDOOR = "perch-indoor"
    PERCH_OUTDOOR = "perch-outdoor"
    KILN = "kiln"
    CLASP = "clasp"
    KNOT = "knot"
    WATCH = "watch"
    CARE = "care"
    BACKUP_LINE = "backup-line"


class Audience(StrEnum):
    """Who asks, where it isn't a consumer."""

    BUSINESS = "business"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the help centre.

    Attributes:
        id: The name, such as ``returns-eu-2026``.
        title: The headline.
        domain: The file that it stands in: returns, billing, devices or security.
        product: The product that it is about, or None when it holds for all.
        region: The region in its metadata, or None when it holds everywhere.
        effective_date: The day from which it is in force.
        supersedes: The id of the version that it takes the place of, or None.
        source: Its address in the help centre.
    """

    id: str
    title: str
    domain: str
    product: Product | None
    region: Region | None
    effective_date: dt.date
    supersedes: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """One section of a document, as retrievers return it.

    Attributes:
        id: The document's id, ``#``, and the section's.
        document: The document that it stands in.
        text: The passage, with single blanks.
        evidence_ids: The facts that it carries, one or more.
    """

    id: str
    document: Document
    text: str
    evidence_ids: tuple[str, ...]

    @property
    def indexed_text(self) -> str:
        """What the demo's retrievers index: the title, then the passage."""
        return f"{self.document.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions a query is asked; None where it says nothing."""

    product: Product | None = None
    region: Region | None = None
    date: dt.date | None = None
    audience: Audience | None = None

    def to_mapping(self) -> dict[str, str]:
        """Give the conditions that are set, as text; dates are in ISO 8601."""
        named = {
            "product": self.product,
            "region": self.region,
            "date": self.date,
            "audience": self.audience,
        }
        return {
            name: value.isoformat() if isinstance(value, dt.date) else value.value
            for name, value in named.items()
            if value is not None
        }


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """What ties a query to others, so that they are never split apart."""

    conversation: str | None = None
    template: str | None = None
    entity: str | None = None
    source_document: str | None = None


@dataclass(frozen=True, slots=True)
class DemoQuery:
    """A query to the help centre.

    Attributes:
        id: The domain's first letters and a number.
        text: What was typed.
        need: The information need, where the text alone doesn't say it.
        domain: The domain that it belongs to.
        language: BCP 47 tag.
        slices: Names of the slices that reports may show apart.
        weight: How often it is asked, as a multiple of an average query, above 0.
        origin: Always ``manual`` here.
        conditions: Product, region, date, audience.
        groups: Conversation, template, entity, source document.
        required_evidence: Facts that a full answer needs; empty where nobody listed them.
    """

    id: str
    text: str
    need: str | None
    domain: str
    language: str
    slices: tuple[str, ...]
    weight: float
    origin: str
    conditions: Conditions
    groups: GroupKeys
    required_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trap:
    """A place where the demo is meant to be hard.

    Attributes:
        name: A few words.
        documents: The documents that it lies in.
        queries: The queries that run into it.
        near_duplicates: Pairs of chunks that differ in little.
        identical: Chunks with one and the same text.
        why: What goes wrong, and what would be right.
    """

    name: str
    documents: tuple[str, ...]
    queries: tuple[str, ...]
    near_duplicates: tuple[tuple[str, str], ...]
    identical: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PlantedMiss:
    """Relevant evidence that a planted run misses, with the failure class that is right.

    Attributes:
        failure: The failure class, as `labeler.records.evaluations.FailureClass` names it.
        run: The planted run.
        query: The query's id.
        relevant: The chunk that is relevant, or evidence that the corpus lacks.
        hits: The chunks that the run returns first.
        filler: How many other chunks it returns after them, and then the relevant one; 0 where it
            doesn't return that one at all.
        is_ruled: Whether only a person can tell the class.
        why: What went wrong.
    """

    failure: str
    run: str
    query: str
    relevant: str
    hits: tuple[str, ...]
    filler: int
    is_ruled: bool
    why: str


@dataclass(frozen=True, slots=True)
class DemoProject:
    """The whole demo, as it stands in the package.

    Attributes:
        documents: In the order of the files.
        chunks: In the order of the documents.
        facts: What the named evidence says, by id. Evidence that only one chunk carries may be
            called like that chunk and then has no entry here.
        queries: In the order of the file.
        traps: In the order of the file.
        rubric: The text of the rubric file.
        gate: The text of the gate file.
        misses: One planted miss of each failure class.
    """

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    facts: Mapping[str, str]
    queries: tuple[DemoQuery, ...]
    traps: tuple[Trap, ...]
    rubric: str
    gate: str
    misses: tuple[PlantedMiss, ...]


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What one retriever returned for all queries.

    Attributes:
        retriever: The retriever's name.
        hits: Chunk ids with scores by query id, best first.
        latency_ms: Milliseconds by query id, as measured.
    """

    retriever: str
    hits: Mapping[str, Sequence[tuple[str, float]]]
    latency_ms: Mapping[str, float]


def describe_traps(traps: Sequence[Trap]) -> str:
    """Write the traps as a Markdown table, as docs/demo.md shows them."""
    rows = ["| trap | queries | why |", "|---|---|---|"]
    rows += [f"| {trap.name} | {', '.join(trap.queries)} | {trap.why} |" for trap in traps]
    return "\n".join(rows)
