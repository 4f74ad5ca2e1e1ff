"""Corrections of queries as reviewers propose them: domain, conditions, or that one is unclear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from labeler.assessment.blind import BlindQuery
from labeler.errors import UsageError

__all__ = ["CONDITIONS", "QUERY_UNCLEAR", "QueryChange", "query_flag"]

CONDITIONS = ("product", "region", "date", "audience")
"""The conditions that every query may have; others are taken as they come."""

QUERY_UNCLEAR = "query unclear"
"""The reason of a flag that says so; what was written with it follows after a colon."""


def query_flag(words: str) -> str:
    """Write the reason of a flag, with what the reviewer says of it, or nothing."""
    return f"{QUERY_UNCLEAR}: {words.strip()}" if words.strip() else QUERY_UNCLEAR


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query's domain and conditions as they should be, all of them.

    Attributes:
        domain: The domain, or None for none.
        conditions: The conditions, by name; none of them is empty.
    """

    domain: str | None
    conditions: Mapping[str, str]

    @classmethod
    def read(cls, domain: str, conditions: Mapping[str, str]) -> QueryChange:
        """Read what was written; an empty field stands for none.

        Raises:
            UsageError: When a condition has no name, or the date is not YYYY-MM-DD.
        """
        stripped = {name.strip(): value.strip() for name, value in conditions.items()}
        kept = {name: value for name, value in sorted(stripped.items()) if value}
        if "" in kept:
            raise UsageError("a condition needs a name", hint="such as region=EU")
        try:
            date.fromisoformat(kept.get("date", "2000-01-01"))
        except ValueError:
            raise UsageError(f"the condition date is YYYY-MM-DD, not '{kept['date']}'") from None
        return cls(domain.strip() or None, kept)

    def differences(self, query: BlindQuery) -> list[tuple[str, str | None, str | None]]:
        """Name what differs from a query as it is, with how it is and how it should be."""
        names = sorted({*query.conditions, *self.conditions})
        pairs = [("domain", query.domain or None, self.domain)]
        pairs += [(name, query.conditions.get(name), self.conditions.get(name)) for name in names]
        return [one for one in pairs if one[1] != one[2]]
