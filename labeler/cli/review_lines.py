"""The line mode of the review: one item, one answer, a line each."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Protocol, TextIO

from labeler.assessment.rubric import Rubric
from labeler.assessment.visible import visible, visible_line
from labeler.errors import ConflictError
from labeler.labels import Level
from labeler.queue.sitting.answers import answers_in_order
from labeler.queue.sitting.orders import Shown
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Saved

__all__ = ["answers_for", "review_lines"]

_WIDTH = 80
_HELP = (
    "u undo the last vote   x skip   g TEXT flag   n TEXT note   r rubric   p show again   q quit"
)


def answers_for(rubric: Rubric) -> dict[str, Level | None]:
    """Give the keys of the answers: 1 is the worst level, the last number says can't judge."""
    return {str(number): level for number, level in enumerate(answers_in_order(rubric), 1)}


def review_lines(
    session: ReviewSession, source: TextIO, target: TextIO, *, limit: int | None = None
) -> None:
    """Run a sitting: show an item, read an answer, store it, show the next.

    Ends at ``q``, at the end of the input, after ``limit`` votes, or when nothing is left.
    """

    def say(text: str = "") -> None:
        target.write(text + "\n")
        target.flush()

    shown: Shown | None = None
    while limit is None or session.standing < limit:
        current = session.current
        if current is None:
            _say_what_is_left(session, say)
            break
        if shown is None or shown.claim != current.claim:
            _show(current, say)
            shown = current
        target.write("> ")
        target.flush()
        line = source.readline()
        if not line or line.strip() == "q":
            if not line:
                say()
            break
        if _answer(session, current, line.strip(), say):
            shown = None
    say(session.tally.describe())


class _Say(Protocol):
    """The type of the function that writes a line."""

    def __call__(self, text: str = "") -> None: ...


def _answer(session: ReviewSession, shown: Shown, line: str, say: _Say) -> bool:
    """Do what a line asks for; True when the item has to be shown afresh."""
    command, _, rest = line.partition(" ")
    answers = answers_for(shown.block.rubric)
    if command in answers and (answers[command] is None or not rest):
        return _vote(session, answers[command], say, note=rest.strip())
    match command:
        case "u":
            done = session.undo()
            say("the last vote is taken back" if done else session.notice)
            return done
        case "x":
            session.skip()
            say("skipped: it stays in the queue")
            return True
        case "n" | "g" if rest.strip():
            session.note(rest.strip(), is_flag=command == "g")
            say("flag saved" if command == "g" else "note saved")
        case "r":
            _show_rubric(shown.block.rubric, say)
        case "p":
            return True
        case _:
            listed = ", ".join(answers)
            say(f"answers are {listed}, the last with a reason if you like; {_HELP}")
    return False


def _vote(session: ReviewSession, level: Level | None, say: _Say, *, note: str) -> bool:
    try:
        saved = session.vote(level, note)
    except ConflictError as error:
        say(f"not saved: {error.message}")
        return True
    name = level.name if level is not None else "cannot_judge"
    told = "saved" if saved is not Saved.EXTRA else "kept as extra: somebody had voted meanwhile"
    say(f"{name}: {told}")
    return True


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
    )
    say(_HELP)


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


def _say_what_is_left(session: ReviewSession, say: _Say) -> None:
    left = session.left()
    if left.held and left.next_free is not None:
        say(f"{left.held} items are held by others; the next is free at {left.next_free:%H:%M} UTC")
    elif left.skipped:
        say(f"nothing else is left; {left.skipped} items that you skipped still wait: --skipped")
    else:
        say("nothing is left for you")
