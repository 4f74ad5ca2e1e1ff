"""The one table of keys of the lead's screens: it feeds bindings, the line of keys, and help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from tui.bindings import ANSWER_LETTERS, MAX_ANSWERS
from tui.lead_views import Tab

__all__ = [
    "BLIND_KEYS",
    "COMPARE_KEYS",
    "LEAD_KEYS",
    "TABS",
    "LeadKey",
    "decision_keys",
    "key_bindings",
    "lead_help",
]


@dataclass(frozen=True, slots=True)
class LeadKey:
    """One thing that keys do on one of the lead's screens.

    Attributes:
        name: The id of the binding.
        keys: Textual's names of the keys, with commas between.
        action: The action of the screen.
        shown: The keys as they are written on the screen.
        short: A word or two for the line of keys; empty keeps it off that line.
        meaning: What the help says; empty keeps it off there.
    """

    name: str
    keys: str
    action: str
    shown: str
    short: str
    meaning: str


def decision_keys(place: int) -> tuple[str, ...]:
    """Give the keys of a level's place, counted from 1: the letter, where it has one, the digit."""
    letters = (ANSWER_LETTERS[place - 1],) if place <= len(ANSWER_LETTERS) else ()
    return (*letters, str(place % 10))


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

LEAD_KEYS: tuple[LeadKey, ...] = (
    *(
        LeadKey(f"tab.{tab}", str(place), f"tab({place})", str(place), "", _MEANINGS[tab])
        for place, tab in enumerate(TABS, 1)
    ),
    LeadKey("table", "t", "table", "t", "plot/table", "the same as a table, or as a plot"),
    LeadKey("down", "j,down", "move(1)", "jk", "down, up", "a line down or up; the next dispute"),
    LeadKey("up", "k,up", "move(-1)", "k", "", ""),
    LeadKey("page.down", "space,pagedown", "page(1)", "spc b", "", "a page on, a page back"),
    LeadKey("page.up", "b,pageup", "page(-1)", "b", "", ""),
    LeadKey("open", "enter", "open", "Enter", "settle", "settle the dispute: vote blind first"),
    LeadKey("undo", "u", "undo", "u", "", "take the last decision back"),
    LeadKey("refresh", "r,f5", "refresh", "r", "refresh", "read the numbers anew"),
    LeadKey("help", "question_mark,f1", "help", "?", "help", "this page"),
    LeadKey("quit", "q", "app.quit", "q", "quit", "end"),
)

BLIND_KEYS: tuple[LeadKey, ...] = (
    LeadKey("compare", "enter", "compare", "Enter", "", "after the vote: what others said"),
)
"""Beside the keys of any review."""

COMPARE_KEYS: tuple[LeadKey, ...] = (
    *(
        LeadKey(
            f"decide.{place}",
            ",".join(decision_keys(place)),
            f"decide({place})",
            str(place % 10),
            "",
            "",
        )
        for place in range(1, MAX_ANSWERS + 1)
    ),
    LeadKey("back", "x", "send_back", "x", "send back", "ask one more person, then decide"),
    LeadKey("unclear", "g", "unclear", "g", "rubric unclear", "leave it open: the rubric is why"),
    LeadKey("note", "n", "note", "n", "note", "write a note on the item"),
    LeadKey("context", "c", "context", "c", "context", "the whole query; what is around"),
    LeadKey("rubric", "r", "rubric", "r", "rubric", "what each level means"),
    LeadKey("said.down", "j,down", "said(1)", "jk", "", "scroll what was said"),
    LeadKey("said.up", "k,up", "said(-1)", "k", "", ""),
    LeadKey("page.down", "space,pagedown", "passage(1)", "spc b", "", "page through the passage"),
    LeadKey("page.up", "b,pageup", "passage(-1)", "b", "", ""),
    LeadKey("help", "question_mark,f1", "help", "?", "help", "this page"),
    LeadKey("leave", "escape", "leave", "Esc", "later", "back to the list; your blind vote stands"),
    LeadKey("quit", "q", "app.quit", "q", "", "end"),
)


def key_bindings(rows: Sequence[LeadKey]) -> list[BindingType]:
    """Make Textual's bindings from a table."""
    return [
        Binding(
            row.keys,
            row.action,
            row.short or row.name,
            show=False,
            id=f"lead.{row.name}",
            priority=row.keys == "enter",
        )
        for row in rows
    ]


def lead_help() -> str:
    """Write the help from the tables of keys."""
    vote = (
        "A dispute is settled in three steps: you vote on it blind, as in any review; then you see "
        "what all others said, as A, B, C, people and judges alike; then you decide, send it back "
        "for another vote, or mark the rubric as unclear. That you looked is stored before "
        "anything is shown. Agreement uses your blind vote."
    )
    letters = " ".join(ANSWER_LETTERS[:3])
    rows = [
        "The lead's screens. A reviewer's sitting shows none of this.",
        "",
        *_rows(LEAD_KEYS),
        "",
        vote,
        "",
        f"{letters}, or digits: decide, from the worst level to the best",
        *_rows(COMPARE_KEYS),
    ]
    return "\n".join(rows)


def _rows(keys: Sequence[LeadKey]) -> list[str]:
    return [f"{row.shown:<7}{row.meaning}" for row in keys if row.meaning]
