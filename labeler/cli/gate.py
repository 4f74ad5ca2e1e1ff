"""`labeler gate`: whether a candidate may be released, by rules that were written down first."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import print_facts, print_json, print_table, program, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode

if TYPE_CHECKING:
    from labeler.reports.gate import GateReport
    from labeler.reports.gate_results import CheckResult


def gate(
    file: Path,
    /,
    *,
    declare: Annotated[bool, Parameter(negative="")] = False,
    as_of: int | None = None,
    markdown: Path | None = None,
    html: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Decide whether a candidate may be released: 0 passed, 6 failed, 7 inconclusive or blocked.

    A check passes only when its whole interval lies beyond its boundary, and fails only when all of
    it lies on the other side. Else the answer says what is missing, and which command collects it:
    more queries, more judgments, steadier labels; or that the target can't be met on these queries
    at all. docs/gate.md says what a gate file holds.

    Parameters
    ----------
    file
        The gate file (TOML).
    declare
        Only store the rules with their digest, before anybody sees results.
    as_of
        The labels of this revision; now by default.
    markdown
        Write a summary for a pull request to this file.
    html
        Write a page with a chart to this file; it needs nothing but itself.
    """
    from labeler.reports.gate import declare_gate, run_gate
    from labeler.reports.gate_file import parse_gate

    rules = parse_gate(file)
    if declare:
        with open_project(db) as store, store.write(f"gate {rules.name} --declare") as tx:
            _, revision = declare_gate(tx, rules)
        told = {"gate": rules.name, "digest": rules.digest, "declared": revision}
        print_json(told) if json else print_facts(told | {"declared": f"revision {revision}"})
        return ExitCode.DONE
    with open_project(db) as store, working("deciding"):
        report = run_gate(store, rules, as_of=as_of)
    if markdown is not None:
        _write_markdown(report, markdown)
    if html is not None:
        _write_html(report, html)
    if json:
        print_json(asdict(report))
    else:
        _print_report(report)
    return _exit_code(report)


def _exit_code(report: GateReport) -> ExitCode:
    from labeler.evaluation.gate_checks import GateVerdict

    if report.verdict is GateVerdict.PASSED:
        return ExitCode.DONE
    failed = report.verdict is GateVerdict.FAILED
    return ExitCode.GATE_FAILED if failed else ExitCode.GATE_INCONCLUSIVE


def _print_report(report: GateReport) -> None:
    print_facts(
        {
            "gate": f"{report.gate} {report.digest[:12]}, declared at revision {report.declared}",
            "candidate": report.candidate,
            "baseline": report.baseline or "-",
            "frame": f"pool {report.pool} on snapshot {report.snapshot}",
            "labels": f"{report.labels} at revision {report.revision}",
            "sample": report.sample or "none: unknown labels are taken at their worst and best",
        }
    )
    print()
    print_table(
        ["check", "role", "rule", "value", "interval", "judged", "queries", "clusters", "answer"],
        [_row(one) for one in report.checks],
    )
    print()
    for one in report.checks:
        print(f"{one.name}: {one.answer.value}: {one.why}")
    if report.commands:
        print("\nwhat collects what is missing:")
        for command in report.commands:
            print(f"  {program()}{command.removeprefix('labeler')}")
    for notice in report.notices:
        tell(f"note: {notice}")
    print(f"\nverdict: {report.verdict.value}")


def _row(one: CheckResult) -> list[object]:
    return [
        one.name,
        one.role,
        one.rule,
        "undefined" if one.value is None else _number(one.value),
        _interval(one),
        "-" if one.coverage is None else f"{one.coverage:.1%}",
        one.queries,
        one.clusters,
        one.answer.value,
    ]


def _interval(one: CheckResult) -> str:
    if one.low is None and one.high is None:
        return "-"
    low = "?" if one.low is None else _number(one.low)
    high = "?" if one.high is None else _number(one.high)
    return f"{one.confidence:.0%} [{low}, {high}]"


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"  # noqa: PLR2004 - milliseconds


def _write_markdown(report: GateReport, path: Path) -> None:
    from labeler.formats.atomic import replacing
    from labeler.reports.gate_markdown import as_markdown

    with replacing(path) as file:
        file.write(as_markdown(report).encode("utf-8"))
    tell(f"summary written to {path}")


def _write_html(report: GateReport, path: Path) -> None:
    from labeler.formats.atomic import replacing
    from labeler.reports.gate_page import gate_page

    with replacing(path) as file:
        file.write(gate_page(report).encode("utf-8"))
    tell(f"page written to {path}")
