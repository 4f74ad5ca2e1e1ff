"""The tables of keys of all screens, as `[review.keys]` in labeler.toml changes them."""

from __future__ import annotations

from collections.abc import Mapping

from tui.bindings import KEYS, KeyTable, key_table
from tui.lead_keys import COMPARE_KEYS, LEAD_KEYS, LeadTables
from tui.question_keys import QUESTION_KEYS

__all__ = ["lead_tables", "question_keys", "review_keys"]

_NAMES = frozenset(row.name for row in (*KEYS, *QUESTION_KEYS, *LEAD_KEYS, *COMPARE_KEYS))


def review_keys(changed: Mapping[str, str]) -> KeyTable:
    """Make the table of a review; see `key_table`.

    Raises:
        UsageError: When a name or a key can't be used.
    """
    return key_table(changed, elsewhere=_NAMES)


def lead_tables(changed: Mapping[str, str]) -> LeadTables:
    """Make the tables of the lead's screens; see `key_table`.

    Raises:
        UsageError: When a name or a key can't be used.
    """
    return LeadTables(
        key_table(changed, LEAD_KEYS, elsewhere=_NAMES),
        key_table(changed, COMPARE_KEYS, elsewhere=_NAMES),
    )


def question_keys(changed: Mapping[str, str]) -> KeyTable:
    """Make the table of the screen of generated questions; see `key_table`.

    Raises:
        UsageError: When a name or a key can't be used.
    """
    return key_table(changed, QUESTION_KEYS, elsewhere=_NAMES)
