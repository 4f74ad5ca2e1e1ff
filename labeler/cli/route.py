"""`labeler route`: accept what a policy trusts; send the rest to people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from labeler.cli.output import print_facts, print_json, program, working
from labeler.cli.project import Database, JsonOutput, open_project


def route(
    pool: str,
    /,
    *,
    policy: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Accept what a policy trusts and send the rest to people.

    Running it again appends only differences, so run it after new judgments, imports and
    corrections.

    Parameters
    ----------
    pool
        The pool's name.
    policy
        A policy file; the shipped policy 'uncalibrated' by default: a plain threshold of 0.95.
    """
    from labeler.calibration.policies import UNCALIBRATED, read_policy
    from labeler.queue.reasons import overlap_by_reason
    from labeler.queue.route import route_pool
    from labeler.settings import own_settings

    chosen = read_policy(policy) if policy is not None else UNCALIBRATED
    overlap = overlap_by_reason(own_settings().review.overlap)
    with open_project(db) as store, working("routing"):
        report = route_pool(store, pool, chosen, overlap)
    if json:
        print_json(asdict(report))
        return
    print_facts(
        {
            "policy": f"{report.policy} (plain threshold {chosen.threshold:g}, not calibrated)",
            "settled by people": report.settled_by_people,
            "carried from the same text": report.carried,
            "accepted": sum(report.accepted.values()),
            **{f"  {grade}": count for grade, count in report.accepted.items()},
            "waiting for people": report.to_people + report.audited,
            **{f"  {reason}": count for reason, count in report.reasons.items()},
            "  audit of what was accepted": report.audited,
            "without text": report.unavailable,
        }
    )
    if report.revision is None:
        print("nothing changed")
    elif report.to_people:
        print(f"next: {program()} review --pool {pool}")
