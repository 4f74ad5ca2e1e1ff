"""What an assessor is given: blind items, in blocks, under a rubric.

The types here are the proof that assessors are blind: they have no field for a retriever, a rank,
a score, or anybody's label. A judge and a reviewer are given these and nothing more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from labeler.assessment.rubric import Rubric

__all__ = ["BlindItem", "BlindQuery", "Block", "PassageContext"]


@dataclass(frozen=True, slots=True)
class BlindQuery:
    """A query as an assessor sees it.

    Attributes:
        text: What was asked.
        need: The information need behind it, where the project knows one.
        conditions: Typed conditions such as product, region, date or audience.
        language: BCP 47 tag, where known.
        domain: The domain, where known.
    """

    text: str
    need: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class PassageContext:
    """What the corpus holds about where a passage stands."""

    title: str | None = None
    product: str | None = None
    region: str | None = None
    effective_date: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class BlindItem:
    """One passage to be judged against the block's query.

    Attributes:
        item_id: The item's key in the project.
        passage: The representative text of the item's evidence.
        context: Where the passage stands in the corpus.
    """

    item_id: int
    passage: str
    context: PassageContext = PassageContext()


@dataclass(frozen=True, slots=True)
class Block:
    """One query and its blind items from one pool, in shuffled order."""

    query: BlindQuery
    items: tuple[BlindItem, ...]
    rubric: Rubric

    @property
    def digest(self) -> str:
        """The SHA-256 of all that an assessor is given.

        The order of the items and their keys in the project are left out: a block that is read
        again, or stands in another database, is the same block.
        """
        content = {
            "query": [
                self.query.text,
                self.query.need,
                sorted(self.query.conditions.items()),
                self.query.language,
                self.query.domain,
            ],
            "rubric": self.rubric.digest,
            "items": sorted(
                [
                    item.passage,
                    item.context.title,
                    item.context.product,
                    item.context.region,
                    item.context.effective_date,
                    item.context.source,
                ]
                for item in self.items
            ),
        }
        text = json.dumps(content, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
