"""`labeler generate list`, `show` and `report`: what became of generated questions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from labeler.cli.output import print_facts, print_json, print_table, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import NotFoundError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from labeler.synthesis.reading import QuestionState

State = Literal["filtered", "waiting", "rejected", "accepted", "query"]


def states_of(
    connection: Connection, split: str | None, domain: str | None = None
) -> list[QuestionState]:
    """Read the questions of a split, the newest one by default, and of a domain."""
    from labeler.records import table
    from labeler.records.questions import Question
    from labeler.synthesis.frozen import split_to_use
    from labeler.synthesis.reading import question_states

    question = table(Question)
    conditions = [question.c.split_id == split_to_use(connection, split).id]
    if domain is not None:
        conditions.append(question.c.domain == domain)
    return question_states(connection, *conditions)


def list_command(
    *,
    state: State | None = None,
    domain: str | None = None,
    split: str | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """List generated questions, oldest first, with where each stands.

    Parameters
    ----------
    state
        Those that stand there alone.
    domain
        Those of this domain alone.
    split
        The split's name; the newest by default.
    """
    with open_project(db) as store, store.read() as connection:
        states = states_of(connection, split, domain)
    shown = [one for one in states if state is None or one.stands.value == state]
    if json:
        print_json({"questions": [_facts(one) for one in shown]})
        return
    print_table(
        ["number", "stands", "kind", "part", "domain", "question", "turned down by"],
        [
            [
                one.question_id,
                one.stands.value,
                one.kind.value,
                one.part,
                one.domain,
                one.text or "(erased)",
                ", ".join(each.name for each in one.failed),
            ]
            for one in shown
        ],
    )


def _facts(one: QuestionState) -> dict[str, Any]:
    return {
        "number": one.question_id,
        "stands": one.stands.value,
        "question": one.text,
        "answer": one.answer,
        "kind": one.kind.value,
        "part": one.part,
        "domain": one.domain,
        "language": one.language,
        "persona": one.persona,
        "generator": one.generator,
        "query": one.query,
        "sources": [
            {"chunk": source.chunk, "evidence": source.evidence, "window": source.window}
            for source in one.sources
        ],
        "findings": [asdict(each) for each in one.findings],
        "drawn_with_probability": one.probability,
        "verdict": None
        if one.verdict is None
        else {
            "kind": one.verdict.kind.value,
            "wording": one.verdict.text,
            "note": one.verdict.note,
        },
    }


def show_command(number: int, /, *, db: Database = None, json: JsonOutput = False) -> None:
    """Show one question: its source and evidence, what each filter found, what people said.

    Parameters
    ----------
    number
        The number that `labeler generate list` gives.
    """
    from labeler.synthesis.reading import question_states

    with open_project(db) as store, store.read() as connection:
        found = question_states(connection, keys=[number])
    if not found:
        raise NotFoundError(
            f"there is no generated question {number}", hint="`labeler generate list` lists them"
        )
    one = found[0]
    if json:
        print_json(_facts(one))
        return
    facts = _facts(one)
    names = ("question", "answer", "stands", "kind", "part", "domain", "language", "persona")
    print_facts({name: facts[name] for name in (*names, "generator", "query") if facts[name]})
    for source in one.sources:
        print_facts({"source": source.chunk, "evidence": source.evidence or "none"})
    print_table(
        ["filter or tag", "outcome", "score", "detail"],
        [[each.name, each.outcome.value, each.score, each.detail] for each in one.findings],
    )
    if one.verdict is not None:
        said = one.verdict
        print_facts({"people said": said.kind.value, "wording": said.text, "note": said.note or ""})


def report_command(
    *,
    domain: str | None = None,
    split: str | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell what filters and people made of the questions, what was exposed, what it cost.

    Parameters
    ----------
    domain
        The questions of this domain alone.
    split
        The split's name; the newest by default.
    """
    from labeler.synthesis.frozen import split_to_use
    from labeler.synthesis.summary import generation_cost, safety_facts, summarize

    with open_project(db) as store, store.read() as connection:
        summary = summarize(states_of(connection, split, domain))
        safety = safety_facts(connection, split_to_use(connection, split).id)
        cost = generation_cost(connection)
    if json:
        print_json(asdict(summary) | {"safety": safety, "cost": cost})
        return
    print_facts({"questions": summary.questions, "passed every filter": summary.passed})
    print_facts({f"  {name}": count for name, count in summary.stands.items()})
    print_table(
        ["filter", "looked at", "turned down", "alone"],
        [[one.name, one.looked, one.failed, one.alone] for one in summary.filters],
    )
    for title, pairs in (("kind", summary.by_kind), ("domain", summary.by_domain)):
        rows = [[name or "(none)", every, passed] for name, (every, passed) in pairs.items()]
        print_table([title, "questions", "passed"], rows)
    print_facts({f"tag {name}": count for name, count in summary.tags.items()})
    for name, counts in summary.people.items():
        print_facts(
            {f"people on those that {name}": ", ".join(f"{k} {v}" for k, v in counts.items())}
        )
    print_facts({name.replace("_", " "): value for name, value in {**safety, **cost}.items()})
    if safety["broken_exposures"]:
        tell("warning: records of exposures were changed or taken out since they were written")
