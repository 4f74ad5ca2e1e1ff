"""How a report on a judge's robustness is printed, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeler.cli.output import print_facts, print_table
from labeler.judges.probing import CaseReport, CaseResult, ProbeReport, TrickReport

_SHOWN_CHARACTERS = 70
_APART = (
    CaseResult.NOT_COMPARED,
    CaseResult.ABSTAINED,
    CaseResult.REFUSED,
    CaseResult.TRUNCATED,
    CaseResult.FAILED,
    CaseResult.NOT_ASKED,
)


def as_json(report: ProbeReport) -> dict[str, Any]:
    """Give what --json prints of it."""
    return {
        "verdict": report.verdict,
        "controls": {
            name: {"asked": one.asked, "judged": one.judged, "right": one.right}
            for name, one in report.controls.items()
        },
        "tricks": [_trick_as_json(one) for one in report.tricks],
        "total": _trick_as_json(report.total),
        "outcomes": dict(report.outcomes),
        "cases": [_case_as_json(one) for one in report.cases],
    }


def _trick_as_json(trick: TrickReport) -> dict[str, Any]:
    return {
        "trick": trick.name,
        "what": trick.what,
        "cases": trick.cases,
        "compared": trick.compared,
        "fooled": trick.fooled,
        "share": trick.share,
        "interval_95": None if trick.interval is None else list(trick.interval),
        "results": {result.value: count for result, count in trick.results.items()},
    }


def _case_as_json(case: CaseReport) -> dict[str, Any]:
    return {
        "case": case.key,
        "subject": case.subject,
        "language": case.language,
        "expected": case.expected.value,
        "result": case.result.value,
        "grade": case.grade,
        "flags": list(case.flags),
    }


def print_report(
    facts: Mapping[str, object], report: ProbeReport, cost: Mapping[str, object]
) -> None:
    """Print it for people.

    Args:
        facts: What identifies the judge and the cases.
        report: The report.
        cost: What it took.
    """
    shown = {name: facts[name] for name in ("judge", "mode", "rubric", "seed") if name in facts}
    if report.rounds > 1:
        shown["rounds"] = report.rounds
    for name, control in report.controls.items():
        shown[name.replace("_", " ")] = f"{control.right} of {control.judged} labels are right"
    print_facts(shown)
    print()
    _print_tricks(report)
    unseen = [case for case in report.cases if case.result is CaseResult.UNSEEN]
    if unseen:
        print("\nfooled it, and no flag would have sent them to people:")
        print_facts(
            {
                f"  {case.key} ({case.language})": " ".join(case.passage.split())[
                    :_SHOWN_CHARACTERS
                ]
                for case in unseen
            }
        )
    print(f"\n{report.verdict}\n")
    print_facts(
        {
            name.replace("_", " "): "unknown" if value is None else value
            for name, value in cost.items()
        }
    )


def _print_tricks(report: ProbeReport) -> None:
    columns = [one for one in _APART if report.total.results.get(one)]
    print_table(
        ["trick", "cases", "fooled", "share (95 %)", "flagged", "unseen"]
        + [one.value.replace("_", " ") for one in columns],
        [
            [
                one.name.replace("_", " "),
                one.cases,
                one.fooled,
                _share(one),
                one.results.get(CaseResult.FLAGGED, 0),
                one.results.get(CaseResult.UNSEEN, 0),
                *(one.results.get(column, 0) for column in columns),
            ]
            for one in (*report.tricks, report.total)
        ],
    )


def _share(trick: TrickReport) -> str:
    if trick.share is None or trick.interval is None:
        return "-"
    low, high = trick.interval
    return f"{trick.share:.0%} ({low:.0%}-{high:.0%})"
