"""What `labeler route --plan` prints, and what `labeler route` tells of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_table, program, tell

if TYPE_CHECKING:
    from labeler.queue.route_plan import RoutePlan
    from labeler.queue.verdicts import GradeVerdict

__all__ = ["print_plan", "print_shown"]


def print_plan(plan: RoutePlan, pool: str) -> None:
    """Print what a policy needs, what its audit draws, and what can be accepted now."""
    if plan.instead_of:
        tell(plan.instead_of)
    later = sum(plan.accepted_later.values())
    print_facts(
        {
            "policy": plan.policy,
            **({"scores": plan.score_version[:12]} if plan.score_version else {}),
            "audit": "drawn already" if plan.is_frozen else "not drawn yet",
            "audit votes still needed" if plan.is_frozen else "audit votes": plan.audit_votes,
            "accepted now": sum(plan.accepted_now.values()),
            **{f"  {grade}": count for grade, count in plan.accepted_now.items()},
            **({"accepted if the audit shows the target": later} if plan.score_version else {}),
            **{f"  {grade}, then": count for grade, count in plan.accepted_later.items()},
            "to people now": plan.to_people,
            **plan.ledgers.facts(),
        }
    )
    _print_needs(plan)
    if plan.strata:
        print()
        print_table(
            ["stratum", "labels", "expected right", "drawn", "answered", "wrong"],
            [
                [one.name, one.labels, one.expected, one.drawn, one.answered, one.wrong]
                for one in plan.strata
            ],
        )
    if plan.is_frozen:
        print_shown(plan.shown)
    for need in plan.needs:
        if need.why_not:
            print(f"{need.grade}: nothing can be accepted: {need.why_not}")
    if not plan.is_frozen:
        print(f"next: {program()} route {pool}")


def _print_needs(plan: RoutePlan) -> None:
    if not plan.needs:
        return
    print()
    print_table(
        [
            "grade",
            "target",
            "confidence",
            "labels",
            "aimed at",
            "expected right",
            "votes without error",
            "votes at halfway",
            "votes drawn",
            "chance",
        ],
        [
            [
                one.grade,
                one.target,
                one.confidence,
                one.labels,
                one.aimed_at,
                one.expected,
                _counted(one.votes_without_error),
                _counted(one.votes_halfway),
                one.votes,
                one.chance,
            ]
            for one in plan.needs
        ],
    )


def _counted(votes: int | None) -> object:
    return "too few labels" if votes is None else votes


def print_shown(verdicts: Sequence[GradeVerdict]) -> None:
    """Print what an audit has shown, grade by grade, and how far it has come."""
    if not verdicts:
        return
    print()
    rows = [
        [
            verdict.grade.value,
            verdict.target,
            1 - verdict.risk,
            step.drawn,
            step.wrong,
            step.left,
            step.most_wrong,
            "yes" if step.is_shown else "no",
        ]
        for verdict in verdicts
        for step in verdict.steps
    ]
    if rows:
        print_table(
            ["grade", "target", "confidence", "drawn", "wrong", "left", "wrong at most", "shown"],
            rows,
        )
    for verdict in verdicts:
        print(f"{verdict.grade.value}: {verdict.why}")
