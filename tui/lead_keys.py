"""The tables of keys of the lead's screens: they feed bindings, the line of keys, and help.

What keys do as in any review has the same name there, and the same keys, also those that
`[review.keys]` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from textual.binding import Binding, BindingType

from tui.bindings import KEYS, MAX_ANSWERS, KeyRow, KeyTable
from tui.lead_views import Tab

__all__ = [
    "BLIND_KEYS",
    "COMPARE_KEYS",
    "LEAD_KEYS",
    "TABS",
    "LeadTables",
    "key_bindings",
    "lead_help",
    "shown_keys",
]


def _shared(name: str, **changes: Any) -> KeyRow:
    """Give a row of any review that does something like it here."""
    return replace(next(row for row in KEYS if row.name == name), **changes)


TABS: tuple[Tab, ...] = (
    Tab.QUEUE,
    Tab.PROGRESS,
    Tab.AGREEMENT,
    Tab.CONFIDENCE,
    Tab.COVERAGE,
    Tab.HELD,
    Tab.DISPUTES,
)
"""The tabs, by the digits from 1 on."""

_MEANINGS = {
    Tab.QUEUE: "what waits: by reason, domain and reviewer",
    Tab.PROGRESS: "what is left hour by hour, everybody's pace, time left",
    Tab.AGREEMENT: "reviewers with each other, judges with people, on blind votes",
    Tab.CONFIDENCE: "how often judges are right when they say how sure they are",
    Tab.COVERAGE: "how far what each run returned is decided",
    Tab.HELD: "who holds what until when",
    Tab.DISPUTES: "the disputed items, to settle one",
}

LEAD_KEYS: tuple[KeyRow, ...] = (
    *(
        KeyRow(f"lead_tab_{place}", str(place), f"tab({place})", str(place), "", _MEANINGS[tab])
        for place, tab in enumerate(TABS, 1)
    ),
    KeyRow("lead_table", "t", "table", "t", "plot/table", "the same as a table, or as a plot"),
    _shared(
        "scroll_down",
        action="move(1)",
        short="down, up",
        meaning="a line down or up; the next dispute",
    ),
    _shared("scroll_up", action="move(-1)", short="", meaning=""),
    _shared("page_down", short="", meaning="a page on, a page back"),
    _shared("page_up", short="", meaning=""),
    KeyRow("lead_open", "enter", "open", "Enter", "settle", "settle the dispute: vote blind first"),
    _shared("undo", short="", meaning="take the last decision back"),
    KeyRow("lead_refresh", "r,f5", "refresh", "r", "refresh", "read the numbers anew"),
    _shared("help", meaning="this page"),
    _shared("quit", meaning="end"),
)

BLIND_KEYS: tuple[KeyRow, ...] = (
    KeyRow("lead_compare", "enter", "compare", "Enter", "", "after the vote: what others said"),
)
"""Beside the keys of any review; it can't be changed."""

COMPARE_KEYS: tuple[KeyRow, ...] = (
    *(_shared(f"answer_{place}", action=f"decide({place})") for place in range(1, MAX_ANSWERS + 1)),
    KeyRow(
        "lead_send_back", "x", "send_back", "x", "send back", "ask one more person, then decide"
    ),
    KeyRow(
        "lead_unclear", "g", "unclear", "g", "rubric unclear", "leave it open: the rubric is why"
    ),
    _shared("note", meaning="write a note on the item"),
    _shared("context", meaning="the whole query; what is around"),
    _shared("rubric"),
    _shared("scroll_down", action="said(1)", short="", meaning="scroll what was said"),
    _shared("scroll_up", action="said(-1)", short="", meaning=""),
    _shared("page_down", action="passage(1)", short="", meaning="page through the passage"),
    _shared("page_up", action="passage(-1)", short="", meaning=""),
    _shared("help", meaning="this page"),
    _shared(
        "back",
        action="leave",
        short="later",
        meaning="back to the list; your blind vote stands",
    ),
    _shared("quit", short="", meaning="end"),
)

_PAIRS = {"scroll_down": "scroll_up", "page_down": "page_up"}
"""Rows that are written together with another."""


@dataclass(frozen=True)
class LeadTables:
    """The tables in force.

    Attributes:
        lead: That of the numbers and the list of disputes.
        compare: That of one dispute after the look.
    """

    lead: KeyTable = KeyTable(LEAD_KEYS, LEAD_KEYS)  # noqa: RUF009 - frozen
    compare: KeyTable = KeyTable(COMPARE_KEYS, COMPARE_KEYS)  # noqa: RUF009 - frozen


def key_bindings(rows: Sequence[KeyRow]) -> list[BindingType]:
    """Make Textual's bindings from a table."""
    return [
        Binding(
            ",".join(row.every),
            row.action,
            row.short or row.name,
            show=False,
            id=row.name,
            priority=row.keys == "enter",
        )
        for row in rows
    ]


def shown_keys(table: KeyTable, row: KeyRow) -> str:
    """Write a row's key, and that of the row it belongs together with."""
    other = _PAIRS.get(row.name)
    if other is None:
        return row.shown
    pair = row.shown, table.shown(other)
    return (" " if max(map(len, pair)) > 1 else "").join(pair)


def lead_help(tables: LeadTables | None = None) -> str:
    """Write the help from the tables of keys."""
    tables = tables or LeadTables()
    vote = (
        "A dispute is settled in three steps: you vote on it blind, as in any review; then you see "
        "what all others said, as A, B, C, people and judges alike; then you decide, send it back "
        "for another vote, or mark the rubric as unclear. That you looked is stored before "
        "anything is shown. Agreement uses your blind vote."
    )
    answers = "  ".join(tables.compare.answer(place) for place in range(1, 4))
    rows = [
        "The lead's screens. A reviewer's sitting shows none of this.",
        "",
        *_rows(tables.lead),
        "",
        vote,
        "",
        f"{answers}, and so on: decide, from the worst level to the best",
        *_rows(tables.compare),
        "",
        "Other keys: [review.keys] in labeler.toml, by the names in docs/lead.md.",
    ]
    return "\n".join(rows)


def _rows(table: KeyTable) -> list[str]:
    return [f"{shown_keys(table, row):<7}{row.meaning}" for row in table.rows if row.meaning]
