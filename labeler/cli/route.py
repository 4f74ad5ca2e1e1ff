"""`labeler route`: accept what a policy trusts; send the rest to people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_json, program, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_shown, tell_seals

if TYPE_CHECKING:
    from labeler.calibration.policies import AnyPolicy
    from labeler.queue.route import RouteReport


def route(
    pool: str,
    /,
    *,
    policy: Path | None = None,
    plan: Annotated[bool, Parameter(negative=())] = False,
    new_audit: Annotated[bool, Parameter(negative=())] = False,
    order: str | None = None,
    overlap: Literal["influence", "none"] | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Accept what a policy trusts and send the rest to people.

    Running it again appends only differences, so run it after new judgments, votes, a calibration,
    imports and corrections.

    Parameters
    ----------
    pool
        The pool's name.
    policy
        A policy file. By default 'nine-of-ten': of each grade's accepted labels 90% agree with
        people, at 95% confidence, as an audit has to show. Without calibrated scores it is
        'uncalibrated': a plain threshold of 0.95.
    plan
        Tell what the policy needs and what its audit would draw, and change nothing.
    new_audit
        Freeze the latest scores and draw anew, beside what earlier audits have shown.
    order
        How people are asked: 'value' (the chance that a label is wrong times what it can move),
        'margin', 'dispute', 'random' or 'oldest'. It stays until another is asked for; at first it
        is 'value'. `labeler queue` tells the one in force.
    overlap
        'influence' has two people vote on the tenth of what waits that moves reports most, or as
        many as labeler.toml says: overlap_influence under [review] makes that stand for each call.
        'none' has one person vote on it this time, whatever the file says.
    """
    from labeler.calibration.policies import NINE_OF_TEN, read_policy

    chosen = read_policy(policy) if policy is not None else NINE_OF_TEN
    if plan:
        _tell_plan(pool, chosen, db, json=json, new_audit=new_audit)
        return
    from labeler.queue.reasons import overlap_by_reason
    from labeler.queue.route import route_pool
    from labeler.settings import own_settings

    review = own_settings().review
    by_reason = overlap_by_reason(review.overlap)
    with open_project(db) as store, working("routing"):
        report = route_pool(
            store,
            pool,
            chosen,
            by_reason,
            new_audit=new_audit,
            order=order,
            votes_on_influential=_votes_on_influential(overlap, review.overlap_influence),
        )
        seals = open_shown(store, "route", pool=pool) if report.audit else []
    if json:
        print_json(asdict(report) | {"sealed": [seal.facts() for seal in seals]})
        return
    _print_report(report, pool)
    tell_seals(seals)


def _votes_on_influential(asked: str | None, standing: int) -> int:
    """Give how many people vote on what moves reports most: the option comes before the file."""
    if asked is None:
        return standing
    return max(2, standing) if asked == "influence" else 1


def _tell_plan(
    pool: str, policy: AnyPolicy, db: str | None, *, json: bool, new_audit: bool
) -> None:
    from labeler.cli.route_plan import print_plan
    from labeler.queue.route_plan import plan_route

    with open_project(db) as store, working("planning"):
        found = plan_route(store, pool, policy, new_audit=new_audit)
        seals = open_shown(store, "route --plan", pool=pool) if found.shown else []
    if json:
        print_json(asdict(found) | {"sealed": [seal.facts() for seal in seals]})
    else:
        print_plan(found, pool)
        tell_seals(seals)


def _print_report(report: RouteReport, pool: str) -> None:
    from labeler.calibration.policies import UNCALIBRATED
    from labeler.cli.route_plan import print_shown

    plain = f" (plain threshold {UNCALIBRATED.threshold:g}, not calibrated)"
    if report.instead_of:
        tell(report.instead_of)
    print_facts(
        {
            "policy": report.policy + (plain if report.policy == UNCALIBRATED.name else ""),
            "settled by people": report.settled_by_people,
            "carried from the same text": report.carried,
            "accepted": sum(report.accepted.values()),
            **{f"  {grade}": count for grade, count in report.accepted.items()},
            "waiting for people": report.waiting,
            **{f"  {reason}": count for reason, count in report.reasons.items()},
            "  drawn for the audit": report.audited,
            "second looks": report.second_looks,
            "asked in order of": report.order,
            **({"judges at chance": ", ".join(report.at_chance)} if report.at_chance else {}),
            "without text": report.unavailable,
            **report.ledgers.facts(),
        }
    )
    print_shown(report.audit)
    if report.revision is None:
        print("nothing changed")
    elif report.waiting or report.second_looks:
        print(f"next: {program()} review --pool {pool}")
