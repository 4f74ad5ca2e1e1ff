"""What a gate said, as Markdown for a pull request."""

from __future__ import annotations

import re
from html import escape

from labeler.assessment.visible import visible_line
from labeler.evaluation.gate_checks import Answer
from labeler.reports.gate import GateReport
from labeler.reports.gate_results import CheckResult

__all__ = ["as_markdown"]

_MARKUP = re.compile(r"([\\`*_{}\[\]!|~])")


def as_markdown(report: GateReport) -> str:
    """Write a summary: the verdict, a table of checks, and what collects what is missing.

    Names come from files: whatever in them is Markdown or HTML is shown as it stands.
    """
    lines = [
        f"## Gate {_plain(report.gate)}: {report.verdict.value}",
        "",
        f"{_plain(report.candidate)}"
        + (f" against {_plain(report.baseline)}" if report.baseline else "")
        + f", pool {_plain(report.pool)} on snapshot {_plain(report.snapshot)}; labels "
        f"{_plain(report.labels)} at revision {report.revision}; rules `{report.digest[:12]}` "
        f"declared at revision {report.declared}",
        "",
        "| check | role | rule | value | interval | judged | answer |",
        "|---|---|---|---|---|---|---|",
        *(_row(one) for one in report.checks),
        "",
    ]
    open_ones = [one for one in report.checks if one.answer is not Answer.PASS]
    lines += [f"- **{_plain(one.name)}**: {_plain(one.why)}" for one in open_ones]
    if report.commands:
        lines += ["", "What collects what is missing:", "", "```sh"]
        lines += [visible_line(command).replace("`", "'") for command in report.commands]
        lines += ["```"]
    if report.notices:
        lines += ["", *(f"> {_plain(notice)}" for notice in report.notices)]
    return "\n".join(lines) + "\n"


def _row(one: CheckResult) -> str:
    value = "undefined" if one.value is None else f"{one.value:.3f}"
    low, high = (_limit(limit) for limit in (one.low, one.high))
    interval = "-" if one.low is None and one.high is None else f"[{low}, {high}]"
    judged = "-" if one.coverage is None else f"{one.coverage:.1%}"
    cells = [_plain(one.name), one.role, _plain(one.rule), value, interval, judged]
    return f"| {' | '.join((*cells, one.answer.value))} |"


def _limit(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", escape(visible_line(text), quote=False)).replace("@", "&#64;")
