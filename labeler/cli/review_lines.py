"""The line mode of the review: one item, one answer, a line each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TextIO

from labeler.assessment.rubric import Rubric
from labeler.assessment.visible import visible, visible_line
from labeler.cli.review_proposals import PROPOSAL_HELP, Proposals
from labeler.errors import ConflictError, StoreError
from labeler.labels import Level
from labeler.queue.sitting.answers import answers_in_order
from labeler.queue.sitting.orders import Revealed, Shown
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Saved

__all__ = ["answers_for", "review_lines"]

_WIDTH = 80
_HELP = (
    "u undo   x skip   g TEXT flag   n TEXT note   r rubric   p show again   q quit\n"
    + PROPOSAL_HELP
)


def answers_for(rubric: Rubric) -> dict[str, Level | None]:
    """Give the keys of the answers: 1 is the worst level, the last number says can't judge."""
    return {str(number): level for number, level in enumerate(answers_in_order(rubric), 1)}


def review_lines(
    session: ReviewSession, source: TextIO, target: TextIO, *, filters: Sequence[str] = ()
) -> None:
    """Run a sitting: show an item, read an answer, store it, show the next.

    Ends at ``q``, at the end of the input, at the sitting's limit, or when nothing is left.

    Args:
        session: The sitting.
        source: Where answers are read from.
        target: Where items are shown.
        filters: What the sitting asks for, in words, such as ``pool p``.
    """

    def say(text: str = "") -> None:
        target.write(text + "\n")
        target.flush()

    def ask(prompt: str = "> ") -> str:
        target.write(prompt)
        target.flush()
        line = source.readline()
        if not line:
            say()
        return line

    # Once: whoever hears all that is written wants the next item, not the keys again.
    if session.current is not None:
        say(_HELP)
    line = _sit(session, ask, say, filters)
    if line and session.may_reveal:
        say("v shows what judges said of the items you voted on; any other line ends")
        if ask().strip() == "v":
            for revealed in session.reveal_all():
                _show_revealed(revealed, say)
    say(session.tally.describe())


def _sit(session: ReviewSession, ask: Callable[[], str], say: _Say, filters: Sequence[str]) -> str:
    """Ask for one item after the other; give the last line, which is empty at the end of input."""
    shown: Shown | None = None
    line = "\n"
    proposals = Proposals(session, say)
    while not session.is_over:
        current = session.current
        if current is None:
            if not _say_what_is_left(session, say, filters):
                return line
            line = ask()
            if line.strip() != "w":
                return line
            session.widen()
            continue
        if shown is None or shown.claim != current.claim:
            _show(current, say)
            shown = current
        line = ask()
        if not line or line.strip() == "q":
            return line
        try:
            if _answer(session, current, line.strip(), say, proposals):
                shown = None
        except StoreError as error:
            kept = ", kept in a file meanwhile" if session.journal and session.journal.kept else ""
            say(f"not saved yet{kept}: {visible_line(error.message)}")
        if (revealed := session.revealed) is not None:
            _show_revealed(revealed, say)
            say("Enter goes on; u takes the vote back, and what you then say isn't blind")
            line = ask()
            if line.strip() == "u":
                _undo(session, say)
            session.go_on()
            if not line:
                return line
    return line


class _Say(Protocol):
    """The type of the function that writes a line."""

    def __call__(self, text: str = "") -> None: ...


def _answer(
    session: ReviewSession, shown: Shown, line: str, say: _Say, proposals: Proposals
) -> bool:
    """Do what a line asks for; True when the item has to be shown afresh."""
    command, _, rest = line.partition(" ")
    answers = answers_for(shown.block.rubric)
    if command in answers and (answers[command] is None or not rest):
        return _vote(session, answers[command], say, note=rest.strip())
    if proposals.answer(shown, command, rest.strip()):
        return False
    match command:
        case "u":
            return _undo(session, say)
        case "x":
            session.skip()
            say("skipped: it stays in the queue")
            return True
        case "n" | "g" if rest.strip():
            session.note(rest.strip(), is_flag=command == "g")
            say("flag saved" if command == "g" else "note saved")
        case "?":
            say(_HELP)
        case "r":
            _show_rubric(shown.block.rubric, say)
        case "p":
            return True
        case _:
            listed = ", ".join(answers)
            say(f"answers are {listed}, the last with a reason if you like; {_HELP}")
    return False


def _vote(session: ReviewSession, level: Level | None, say: _Say, *, note: str) -> bool:
    name = level.name if level is not None else "cannot_judge"
    if told := session.catch_up():
        say(f"not counted: {visible_line(told)}")
        return False
    try:
        saved = session.vote(level, note)
    except ConflictError as error:
        say(f"not saved: {error.message}")
        return True
    if saved is Saved.EXTRA:
        say(f"{name}: {session.notice}")
        return True
    say(f"{name}: saved")
    if session.notice:
        say(session.notice)
    return True


def _undo(session: ReviewSession, say: _Say) -> bool:
    done = session.undo()
    say(session.notice)
    return done


def _show(shown: Shown, say: _Say) -> None:
    query, item = shown.block.query, shown.item
    say("-" * _WIDTH)
    say(_wrapped(f"Query: {query.text}"))
    if query.need:
        say(_wrapped(f"Need: {query.need}"))
    if query.conditions:
        say(f"Conditions: {_listed(query.conditions)}")
    say()
    context = {
        "title": item.context.title,
        "product": item.context.product,
        "region": item.context.region,
        "in force from": item.context.effective_date,
    }
    known = {name: value for name, value in context.items() if value}
    if known:
        say(_wrapped(f"Passage ({_listed(known)}):"))
    for paragraph in visible(item.passage).split("\n"):
        say(textwrap.fill(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  "))
    say()
    say(
        "   ".join(
            f"{key} {_named(level)}" for key, level in answers_for(shown.block.rubric).items()
        )
        + "   ? keys"
    )


def _named(level: Level | None) -> str:
    return "can't judge" if level is None else level.name.replace("_", " ")


def _listed(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{visible_line(name)}: {visible_line(fact)}" for name, fact in facts.items())


def _wrapped(text: str) -> str:
    return textwrap.fill(visible_line(text), _WIDTH, subsequent_indent="  ")


def _show_rubric(rubric: Rubric, say: _Say) -> None:
    say(visible(rubric.instructions))
    for level in sorted(rubric.scale.levels, key=lambda level: level.order):
        guide = rubric.guides.get(level.name)
        if guide is not None:
            say(_wrapped(f"- {_named(level)}: {guide.meaning}"))
            for example in guide.examples:
                say(_wrapped(f"    {example}"))


def _show_revealed(revealed: Revealed, say: _Say) -> None:
    """Show what judges said of an item beside the reviewer's own vote."""
    say("-" * _WIDTH)
    say(_wrapped(f"Query: {revealed.shown.block.query.text}"))
    say(_wrapped(f"Passage: {textwrap.shorten(visible_line(revealed.shown.item.passage), _WIDTH)}"))
    say(f"You said {_named(revealed.level)}. Judges said:")
    for one in revealed.judges:
        say(_wrapped(f"  {one.letter} {_named(one.level)}"))
        if one.quote:
            say(_wrapped(f'    "{one.quote}"'))
        for text in one.said:
            say(_wrapped(f"    {text}"))


def _say_what_is_left(session: ReviewSession, say: _Say, filters: Sequence[str]) -> bool:
    """Say why nothing can be taken; True when ``w`` would bring something."""
    left = session.left()
    elsewhere = session.nothing_left.elsewhere if session.nothing_left is not None else 0
    if left.held and left.next_free is not None:
        say(f"{left.held} items are held by others; the next is free at {left.next_free:%H:%M} UTC")
    if left.skipped:
        say(f"{left.skipped} items that you skipped still wait: w takes them")
    elif elsewhere and filters:
        asked = visible_line(", ".join(filters))
        if session.tally.done:
            say(f"nothing is left of {asked}; {elsewhere} items wait elsewhere: w takes them")
        else:
            say(f"0 of {elsewhere} waiting items match: {asked}; w takes all items")
    elif not left.held:
        say("nothing is left for you")
    return bool(left.skipped or (elsewhere and filters))
