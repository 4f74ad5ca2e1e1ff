"""What a judge is probed with: queries, honest passages, and passages that try to trick it.

The texts stand in ``prompts/probe/tricks.toml``. Here they become blind items of a rubric, as a
judge is given them in a pool.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from labeler.assessment.blind import BlindItem, BlindQuery, Block, PassageContext
from labeler.assessment.reading import shuffled
from labeler.assessment.rubric import Rubric
from labeler.judges.llm.rendering import level_codes
from labeler.labels import State

__all__ = ["CONTROLS", "ProbeCase", "Subject", "Trick", "Tricks", "compose", "shipped_tricks"]

CONTROLS = {
    "honest_relevant": State.RELEVANT,
    "honest_not_relevant": State.NOT_RELEVANT,
}
"""The cases without any trick, and what a judge should see in them."""

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Subject:
    """A query with honest passages.

    Attributes:
        name: What cases refer to.
        query: The query with its conditions.
        texts: ``relevant`` and ``not_relevant`` passages, and ``padding`` where there is some.
    """

    name: str
    query: BlindQuery
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trick:
    """A trick with its cases, each a table of the file."""

    name: str
    what: str
    cases: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Tricks:
    """All that a file of tricks holds; identified by its text."""

    subjects: Mapping[str, Subject]
    tricks: tuple[Trick, ...]
    text: str = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class ProbeCase:
    """One passage that a judge is asked about.

    Attributes:
        trick: The trick's name, or one of `CONTROLS`.
        number: Which of the trick's cases it is, from 1.
        round: Which repetition, from 0.
        subject: The subject's name.
        query: The query.
        item: The passage.
        beside: The query's honest passages, for a judge that reads blocks.
        expected: What an honest reader sees.
    """

    trick: str
    number: int
    round: int
    subject: str
    query: BlindQuery
    item: BlindItem
    beside: tuple[BlindItem, ...]
    expected: State

    @property
    def key(self) -> str:
        """What the report calls it; its repetitions share it."""
        return f"{self.trick}/{self.number}"

    def block(self, rubric: Rubric) -> Block:
        """Put the passage among the query's honest ones, as a pool would."""
        others = tuple(one for one in self.beside if one.passage != self.item.passage)
        items = shuffled((self.item, *others), seed=self.key)
        return Block(self.query, tuple(items), rubric)


def shipped_tricks() -> Tricks:
    """Read the tricks that come with Labeler."""
    return parse_tricks(files("prompts").joinpath("probe/tricks.toml").read_text(encoding="utf-8"))


def parse_tricks(text: str) -> Tricks:
    """Read a file of tricks."""
    content = tomllib.loads(text)
    subjects = {
        one["name"]: Subject(
            name=one["name"],
            query=BlindQuery(
                one["query"], conditions=one.get("conditions", {}), language=one["language"]
            ),
            texts={
                name: one[name].strip()
                for name in ("relevant", "not_relevant", "padding")
                if name in one
            },
        )
        for one in content["subject"]
    }
    tricks = tuple(Trick(one["name"], one["what"], tuple(one["case"])) for one in content["trick"])
    return Tricks(subjects, tricks, text)


def compose(tricks: Tricks, rubric: Rubric, *, seed: int = 0, repeat: int = 1) -> list[ProbeCase]:
    """Make the cases that a judge is asked: the controls first, then trick by trick.

    Args:
        tricks: The texts.
        rubric: The rubric; fake answers name the code and the name of its best level.
        seed: Decides where in a passage an injected text stands.
        repeat: How many rounds; each draws the places anew.

    Returns:
        The cases, round by round; no two items have the same key.
    """
    code, best = next(iter(level_codes(rubric.scale).items()))
    names = {"top": code, "best": best.name.replace("_", " ")}
    cases: list[ProbeCase] = []
    for turn in range(repeat):
        for number, subject in enumerate(tricks.subjects.values(), 1):
            for control, state in CONTROLS.items():
                passage = subject.texts[control.removeprefix("honest_")]
                cases.append(_case(control, number, turn, subject, passage, {}, state, len(cases)))
        for trick in tricks.tricks:
            for number, table in enumerate(trick.cases, 1):
                subject = tricks.subjects[table["subject"]]
                place = f"{seed}\n{turn}\n{trick.name}\n{number}"
                passage = _passage(table, subject, names, place)
                state = State(table.get("expected", State.NOT_RELEVANT))
                cases.append(
                    _case(trick.name, number, turn, subject, passage, table, state, len(cases))
                )
    return cases


def _case(
    trick: str,
    number: int,
    turn: int,
    subject: Subject,
    passage: str,
    table: Mapping[str, Any],
    expected: State,
    place: int,
) -> ProbeCase:
    context = PassageContext(
        product=table.get("product"),
        region=table.get("region"),
        effective_date=table.get("in_force_from"),
    )
    honest = (subject.texts["relevant"], subject.texts["not_relevant"])
    return ProbeCase(
        trick=trick,
        number=number,
        round=turn,
        subject=subject.name,
        query=subject.query,
        item=BlindItem(place + 1, passage, context),
        beside=tuple(BlindItem(-number, text) for number, text in enumerate(honest, 1)),
        expected=expected,
    )


def _passage(
    table: Mapping[str, Any], subject: Subject, names: Mapping[str, str], place: str
) -> str:
    """Write a case's passage; what stands in braces is replaced in one pass."""
    values = {**subject.texts, **names}

    def filled(text: str) -> str:
        return re.sub(r"\{([a-z_]+)\}", lambda found: values.get(found[1], found[0]), text)

    if "passage" in table:
        return filled(table["passage"])
    host, insert = subject.texts["not_relevant"], filled(table["insert"])
    places = sorted({0, len(host), *(gap.start() for gap in _BETWEEN_SENTENCES.finditer(host))})
    drawn = places[int(hashlib.sha256(place.encode()).hexdigest(), 16) % len(places)]
    before, after = host[:drawn], host[drawn:].lstrip()
    left = "" if not before or insert.startswith("\n") else " "
    right = "" if not after or insert.endswith("\n") else " "
    return f"{before}{left}{insert}{right}{after}"
