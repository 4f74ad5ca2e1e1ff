"""`labeler judge compare`: what a change of prompt or model does to labels."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_tables import estimate_of
from labeler.cli.sealing import open_shown, tell_seals
from labeler.labels import Outcome

if TYPE_CHECKING:
    from labeler.evaluation.transitions import Flips
    from labeler.reports.flip_examples import FlipExample, Opinion
    from labeler.reports.judge_comparison import JudgeComparison, Side
    from labeler.reports.judge_transitions import Transitions
    from labeler.reports.judges_and_people import JudgeWithPeople, Sided, WithPeople

_EXAMPLES = "How many flips to show, those across the relevance boundary first."
_PASSAGE, _SAID = 280, 300


def compare(
    a: str,
    b: str,
    /,
    *,
    pool: str | None = None,
    examples: Annotated[int, Parameter(help=_EXAMPLES)] = 10,
    seed: int = 0,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell what a change from judge A to judge B does to labels, item by item.

    Parameters
    ----------
    a
        The judge before the change, as `labeler judge list` names it. Of several versions of a
        name the latest is taken; NAME@6daffafa, with the beginning of a digest, names one.
    b
        The judge after it, named in the same way.
    pool
        The items of this pool only.
    seed
        Chooses the examples; the same seed chooses the same ones.
    """
    from labeler.reports.judge_comparison import compare_judges

    with open_project(db) as store, working("comparing judges"):
        with store.read() as connection:
            found = compare_judges(connection, a, b, pool=pool, examples=examples, seed=seed)
        seals = open_shown(store, "judge compare", pool=pool, texts=bool(found.examples))
    if json:
        print_json(asdict(found) | {"sealed": [seal.facts() for seal in seals]})
        return
    _print_items(found)
    if found.both:
        _print_transitions(found)
        _print_people(found.people)
        _print_examples(found)
    else:
        print("no item was asked of both, so there is nothing to compare")
    for notice in found.notices:
        tell(f"note: {notice}")
    tell_seals(seals)


def _named(side: Side) -> str:
    return f"{side.name}@{side.digest[:12] or '-'}"


def _print_items(found: JudgeComparison) -> None:
    print_facts(
        {
            "A": _named(found.first),
            "B": _named(found.second),
            "items": found.frame,
            "scale": found.scale or f"none: {found.levels_not_compared}",
            "revision": str(found.revision),
            "asked of both": f"{found.both:,}, of {found.queries:,} queries",
            "asked of A only": found.only_first,
            "asked of B only": found.only_second,
        }
    )
    print()
    print_table(
        ["", *Outcome, "circular"],
        [
            [name, *(side.outcomes[outcome] for outcome in Outcome), side.circular]
            for name, side in (("A", found.first), ("B", found.second))
        ],
    )
    print()


def _print_transitions(found: JudgeComparison) -> None:
    if found.levels is None:
        print(f"levels are not compared: {found.levels_not_compared}")
        print()
    else:
        _print_table(found.levels)
    _print_table(found.relevance)
    flips = {"level": found.levels, "relevant or not": found.relevance}
    print_table(
        ["of the items with a label of both", "labels", "flips", "raised", "lowered", "share"],
        [
            [
                name,
                *(one.flips.labels, one.flips.flipped, one.flips.raised, one.flips.lowered),
                _share(one.flips),
            ]
            for name, one in flips.items()
            if one is not None
        ],
    )
    print(f"interval: {found.interval}")
    print()


def _print_table(transitions: Transitions) -> None:
    print_table(
        ["A down, B across", *transitions.names],
        [
            [name, *counts]
            for name, counts in zip(transitions.names, transitions.counts, strict=True)
        ],
    )
    print()


def _share(flips: Flips) -> str:
    return estimate_of(flips.share, explained=True)


def _print_people(people: WithPeople | None) -> None:
    if people is None:
        print("people decided no item blind to which both gave a label")
        print()
        return
    left_out = f"; {people.disputed:,} in dispute left out" if people.disputed else ""
    print_facts(
        {
            "people decided blind": f"{people.items:,} of the items with a label of both, of "
            f"{people.queries:,} queries{left_out}"
        }
    )
    print_table(
        ["agrees with people", "same level", "kappa", "relevant or not", "kappa"],
        [[name, *_agreement(one)] for name, one in (("A", people.first), ("B", people.second))],
    )
    sided = {"level": people.on_levels, "relevant or not": people.on_relevance}
    print_table(
        ["where A and B differ", "items", "people say as A", "as B", "as neither"],
        [[name, *_sides(one)] for name, one in sided.items() if one is not None],
    )
    print("people decide what reaches them, which need not be a sample of all items")
    print()


def _agreement(one: JudgeWithPeople) -> list[str]:
    levels = one.levels
    on_levels = (
        [f"not compared: {one.levels_not_compared}", "-"]
        if levels is None
        else [estimate_of(levels.exact, explained=True), estimate_of(levels.kappa, explained=True)]
    )
    return [
        *on_levels,
        estimate_of(one.relevance.exact, explained=True),
        estimate_of(one.relevance.kappa, explained=True),
    ]


def _sides(one: Sided) -> tuple[int, int, int, int]:
    return one.differing, one.with_first, one.with_second, one.with_neither


def _print_examples(found: JudgeComparison) -> None:
    if not found.examples:
        return
    what = "level" if found.levels is not None else "relevance"
    flips = (found.levels or found.relevance).flips.flipped
    print(
        f"{len(found.examples):,} of {flips:,} items whose {what} flips, those across the "
        f"relevance boundary first (seed {found.seed})"
    )
    for number, example in enumerate(found.examples, 1):
        print()
        _print_example(number, example)


def _print_example(number: int, example: FlipExample) -> None:
    boundary = "across the relevance boundary" if example.boundary == "across" else "same relevance"
    print_facts(
        {
            f"{number}": boundary,
            "query": f"{example.query_id}: {example.query or '(no text)'}",
            "passage": f"{example.evidence_id}: {_cut(example.passage or '(no text)', _PASSAGE)}",
            "A": _opinion(example.first),
            "B": _opinion(example.second),
            **({} if example.people is None else {"people": example.people}),
        }
    )


def _opinion(said: Opinion) -> str:
    parts = [f"{said.code} {said.level}"]
    if said.confidence is not None:
        parts[0] += f" ({said.confidence:.2f})"
    if said.reason:
        parts.append(_cut(said.reason, _SAID))
    if said.quote:
        parts.append(f"quote: “{_cut(said.quote, _SAID)}”")
    if said.flags:
        parts.append(f"flags: {', '.join(said.flags)}")
    return "; ".join(parts)


def _cut(text: str, longest: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= longest else plain[:longest].rstrip() + "…"
