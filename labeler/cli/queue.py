"""`labeler queue`: what waits for people, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_json, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_shown, tell_seals
from labeler.errors import UsageError
from labeler.labels import Outcome

if TYPE_CHECKING:
    from labeler.evaluation.foresight import Range
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
    tells pace and time left, and how often judges' confidence and people's votes agree.

    This is for who leads the work; a reviewer's sitting shows none of it.

    Parameters
    ----------
    pool
        Count one pool only.
    forecast
        Tell instead how many votes and minutes each pool still takes, with a range, until every
        label is accepted under its policy or given by a person.
    policy
        A policy file to forecast by; by default the policy that a pool was routed by last.
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
    print_table(
        ["pool", "policy", "audit votes", "accepts more", "accepted then", "votes", "minutes"],
        [
            [
                one.pool,
                one.policy,
                one.audit_votes,
                "" if one.chance is None else f"{one.chance:.0%}",
                _range(one.accepted),
                _range(one.votes),
                _range(one.minutes),
            ]
            for one in found
        ],
    )
    for one in found:
        if one.note:
            print(f"{one.pool}: {one.note}")
    if not found:
        print("there is no pool yet: `labeler pool create` makes one")


def _range(found: Range | None) -> str:
    """Write a range as its median with its ends, which hold it nine times in ten."""
    if found is None:
        return "unknown"
    return f"{found.middle:,.0f} ({found.low:,.0f}-{found.high:,.0f})"


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
