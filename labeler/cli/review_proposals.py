"""What a reviewer proposes line by line: a passage that is missing, another form of the query."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labeler.assessment.query_changes import QueryChange, query_flag
from labeler.assessment.visible import visible_line
from labeler.errors import UsageError
from labeler.queue.sitting.orders import Shown
from labeler.queue.sitting.session import ReviewSession

if TYPE_CHECKING:
    from labeler.queue.evidence import FoundPassage

__all__ = ["PROPOSAL_HELP", "Proposals"]

PROPOSAL_HELP = "m WORDS search for a better passage   e domain=D region=R or e WORDS: the query"

_WIDTH = 80
_BEGINNING = 300


@dataclass
class Proposals:
    """The lines that propose something, and what was last found.

    Attributes:
        session: The sitting.
        say: Writes a line.
    """

    session: ReviewSession
    say: Callable[[str], None]
    _found: Sequence[FoundPassage] = ()
    _for: Shown | None = None

    def answer(self, shown: Shown, command: str, rest: str) -> bool:
        """Do what a line asks for; False when it is none of these lines."""
        match command:
            case "m" if rest:
                self._search(shown, rest)
            case "y" if rest.isdigit() and self._for is shown:
                self._hand_on(shown, int(rest))
            case "e" if rest:
                self._about_query(shown, rest)
            case _:
                return False
        return True

    def _search(self, shown: Shown, words: str) -> None:
        self._found, self._for = self.session.find(words), shown
        if not self._found:
            self.say("nothing in the snapshot holds these words")
        for number, one in enumerate(self._found, 1):
            known = " (already in the queue or judged)" if one.is_known else ""
            title = f"{one.context.title}: " if one.context.title else ""
            text = f"{number:>3}{known} {title}{one.passage[:_BEGINNING]}"
            self.say(textwrap.fill(visible_line(text), _WIDTH, subsequent_indent="    "))
        if any(not one.is_known for one in self._found):
            self.say("y NUMBER hands one on: somebody else judges it, blind")

    def _hand_on(self, shown: Shown, number: int) -> None:
        if not 0 < number <= len(self._found):
            self.say(f"there are {len(self._found)} of them")
            return
        self.session.propose_evidence(shown, self._found[number - 1].evidence_id)
        self.say(self.session.notice)

    def _about_query(self, shown: Shown, rest: str) -> None:
        if "=" not in rest:
            self.session.note(query_flag(rest), is_flag=True)
            self.say("the query is marked as unclear")
            return
        query = shown.block.query
        try:
            parts = shlex.split(rest)
            fields = {name: value for name, sign, value in map(_split, parts) if sign}
            domain = fields.pop("domain", query.domain or "")
            change = QueryChange.read(domain, {**query.conditions, **fields})
        except (UsageError, ValueError) as error:
            told = error.message if isinstance(error, UsageError) else str(error)
            self.say(f"not taken: {visible_line(told)}")
            return
        words = " ".join(name for name, sign, _ in map(_split, parts) if not sign)
        self.session.propose_query(shown, change, words)
        self.say(self.session.notice)


def _split(part: str) -> tuple[str, str, str]:
    """Take NAME=VALUE apart; without a sign, it is a word."""
    return part.partition("=")
