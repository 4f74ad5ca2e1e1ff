"""`labeler queue`: what waits for people, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_json, print_table, program, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_shown, tell_seals
from labeler.errors import UsageError
from labeler.labels import Outcome

if TYPE_CHECKING:
    from labeler.evaluation.foresight import Range
    from labeler.queue.counts import QueueCounts
    from labeler.queue.forecast import Forecast
    from labeler.queue.judged import JudgedItems


def queue(
    *,
    pool: str | None = None,
    forecast: Annotated[bool, Parameter(negative=())] = False,
    policy: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell what waits for people, how fast it gets done, who holds what, and what is disputed.

    It counts by state, reason, domain and reviewer, and by how judges ended on what waits; it
    tells pace and time left, and how often judges' confidence and people's votes agree. The order
    in which people are asked is set by `labeler route POOL --order`.

    This is for who leads the work; a reviewer's sitting shows none of it.

    Parameters
    ----------
    pool
        Count one pool only.
    forecast
        Tell instead how many votes and minutes each pool still takes, with a range, until nothing
        waits: every label is accepted under the policy, or given by a person.
    policy
        A policy file to forecast by; by default the policy that last drew an audit from the pool.
    """
    if forecast:
        _tell_forecast(pool, policy, db, json=json)
        return
    if policy is not None:
        raise UsageError("--policy goes with --forecast", hint="labeler queue --forecast --policy")
    from labeler.cli.queue_lead import numbers_as_json, print_numbers, read_numbers
    from labeler.queue.counts import count_queue
    from labeler.store.registry import pool_named

    with open_project(db) as store:
        with store.read() as connection:
            key = int(pool_named(connection, pool).id) if pool is not None else None
            counts = count_queue(connection, key)
        numbers = read_numbers(store, pool)
        seals = open_shown(store, "queue", pool=pool) if numbers.show_labels else []
    if json:
        sealed = {"sealed": [seal.facts() for seal in seals]}
        print_json(asdict(counts) | numbers_as_json(numbers) | sealed)
        return
    _print_order(counts)
    for title, rows in (
        ("state", counts.by_status),
        ("reason", counts.by_reason),
        ("domain", {name or "-": count for name, count in counts.by_domain.items()}),
        ("votes wanted", counts.wanted_votes),
    ):
        if rows:
            print_table([title, "items"], rows.items())
            print()
    kinds = sorted({kind for events in counts.by_reviewer.values() for kind in events})
    if counts.by_reviewer:
        print_table(
            ["reviewer", *kinds],
            [
                [name, *(events.get(kind, 0) for kind in kinds)]
                for name, events in counts.by_reviewer.items()
            ],
        )
        print()
    print_numbers(numbers)
    _print_judges(counts.by_judge)
    if not counts.by_status:
        print("nothing waits for people: `labeler route POOL` fills the queue")
    tell_seals(seals)


def _tell_forecast(pool: str | None, policy: Path | None, db: str | None, *, json: bool) -> None:
    from labeler.calibration.policies import read_policy
    from labeler.queue.forecast import read_forecasts
    from labeler.store.registry import pool_named

    chosen = None if policy is None else read_policy(policy)
    with open_project(db) as store, working("forecasting"), store.read() as connection:
        key = None if pool is None else int(pool_named(connection, pool).id)
        found = read_forecasts(connection, pool_id=key, policy=chosen)
    if json:
        print_json({"forecasts": [asdict(one) for one in found]})
        return
    for one in found:
        print_facts(_forecast_facts(one))
        print()
    if not found:
        print("there is no pool yet: `labeler pool create` makes one")
        return
    print("A range holds nine of ten futures, drawn from the scores, the audit so far, the pace.")


def _forecast_facts(one: Forecast) -> dict[str, object]:
    facts: dict[str, object] = {"pool": one.pool, "policy": f"{one.policy}: {one.promise}"}
    if one.note:
        facts["instead"] = one.note
    facts["votes that the audit needs"] = one.audit_votes
    if one.chance is not None:
        facts["chance that it lets labels be accepted"] = f"{one.chance:.0%}"
        facts["labels accepted then"] = _range(one.accepted)
    facts["votes until nothing waits"] = _range(one.votes)
    facts["minutes of one person for them"] = (
        "unknown until votes are given" if one.minutes is None else _range(one.minutes)
    )
    return facts


def _range(found: Range | None) -> str:
    """Write a range as its median with its ends; one that has no width as a number."""
    if found is None:
        return "unknown"
    low, middle, high = (f"{value:,.0f}" for value in (found.low, found.middle, found.high))
    return middle if low == high else f"{middle} ({low} to {high})"


def _print_order(counts: QueueCounts) -> None:
    """Print in which order people are asked, and how much of what waits was drawn at random."""
    orders = set(counts.orders.values())
    if not orders or not counts.by_status:
        return
    by_pool = (f"{order} ({pool})" for pool, order in counts.orders.items())
    told = ", ".join(orders if len(orders) == 1 else by_pool)
    print_facts(
        {
            "asked in order of": f"{told}; `{program()} route POOL --order` sets another",
            "drawn at random, waiting": counts.drawn,
        }
    )
    print()


def _print_judges(judges: Sequence[JudgedItems]) -> None:
    """Print how judges ended on what waits, and why they gave no answer."""
    if not judges:
        return
    print_table(
        ["judge of what waits", "digest", *Outcome],
        [
            [one.judge, one.digest or "-", *(one.outcomes[outcome] for outcome in Outcome)]
            for one in judges
        ],
    )
    failed = [
        (one, name, count)
        for one in judges
        for name, count in (*one.failures.items(), ("other reasons", one.other_failures))
        if count
    ]
    if failed:
        print()
        print_table(
            ["judge of what waits", "digest", "no answer because of", "items"],
            [[one.judge, one.digest or "-", name, count] for one, name, count in failed],
        )
