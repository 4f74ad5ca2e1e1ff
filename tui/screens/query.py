"""A slip for the query, on top of the review: domain and conditions, or that it is unclear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from labeler.assessment.blind import BlindQuery
from labeler.assessment.query_changes import CONDITIONS, QueryChange
from labeler.errors import UsageError
from tui.text import line
from tui.widgets.finding import SafeInput

__all__ = ["AboutQuery", "QueryScreen"]


@dataclass(frozen=True, slots=True)
class AboutQuery:
    """What a reviewer says of a query.

    Attributes:
        change: Domain and conditions as they should be; None says that the query is unclear.
        words: What was written with it.
    """

    change: QueryChange | None
    words: str


class QueryScreen(ModalScreen[AboutQuery | None]):
    """Asks for domain, conditions and words; Enter hands them over, Escape leaves them.

    Args:
        query: The query as it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, query: BlindQuery) -> None:
        super().__init__()
        self._query = query
        others = sorted(set(query.conditions) - set(CONDITIONS))
        self._names = (*CONDITIONS, *others)

    def compose(self) -> ComposeResult:
        """Lay out one line for each field."""
        with Vertical(id="slip"):
            yield Static(line(("This query: what should be different?", "bold")), markup=False)
            with VerticalScroll(can_focus=False):
                yield from self._field("domain", self._query.domain or "", "domain")
                for place, name in enumerate(self._names):
                    value = self._query.conditions.get(name, "")
                    yield from self._field(name, value, f"condition-{place}")
                yield from self._field("in words", "", "words")
            yield Static(id="query-told", markup=False)
            yield Static(
                line(
                    *(("Enter", "bold"), " proposes it to the lead   "),
                    *(("Tab", "bold"), " next field   ", ("Esc", "bold"), " drops it"),
                ),
                markup=False,
            )

    def _field(self, name: str, value: str, key: str) -> ComposeResult:
        with Horizontal(classes="query-field"):
            yield Static(line((f"{name} ", "dim")), markup=False)
            yield SafeInput(value, id=f"query-{key}", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """Be ready to write; nothing blinks."""
        for field in self.query(Input):
            field.cursor_blink = False
        self.query_one("#query-domain", Input).focus()
        self._tell("Words alone, without a change, mark the query as unclear.")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand over what was written, or say what keeps it from being handed over."""
        event.stop()
        words = self._value("words").strip()
        written = {
            name: self._value(f"condition-{place}") for place, name in enumerate(self._names)
        }
        try:
            change = QueryChange.read(self._value("domain"), written)
        except UsageError as error:
            self._tell(error.message)
            return
        # Fields show what is stored made visible: what wasn't touched isn't changed by that.
        untouched = QueryChange.read(
            self._shown(self._query.domain or ""),
            {name: self._shown(self._query.conditions.get(name, "")) for name in self._names},
        )
        if change != untouched:
            self.dismiss(AboutQuery(self._kept(change, untouched), words))
        elif words:
            self.dismiss(AboutQuery(None, words))
        else:
            self._tell("Change a field, or say in words what is unclear.")

    def _kept(self, change: QueryChange, untouched: QueryChange) -> QueryChange:
        """Take over what was changed, and leave the rest as it is stored."""
        domain = self._query.domain if change.domain == untouched.domain else change.domain
        conditions = dict(self._query.conditions)
        for name in self._names:
            if change.conditions.get(name) != untouched.conditions.get(name):
                conditions[name] = change.conditions.get(name, "")
        return QueryChange(domain, {name: value for name, value in conditions.items() if value})

    @staticmethod
    def _shown(stored: str) -> str:
        return line(stored).plain

    def _value(self, key: str) -> str:
        return self.query_one(f"#query-{key}", Input).value

    def _tell(self, text: str) -> None:
        self.query_one("#query-told", Static).update(line((text, "dim")))

    def action_leave(self) -> None:
        """Go back; nothing is handed over."""
        self.dismiss(None)
