"""Showing a report: JSON or tables, a page where asked for, and what is to be said beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from labeler.cli.output import print_json, tell
from labeler.cli.sealing import open_shown, tell_seals

if TYPE_CHECKING:
    from labeler.cli.report_options import ScopeChoice
    from labeler.reports.conditions import Conditions
    from labeler.reports.report_log import Logged, ReportValue
    from labeler.sealing.openings import Seal
    from labeler.store.database import Store

__all__ = ["log_and_open", "show_report", "write_page"]


class _Report(Protocol):
    """A frozen dataclass with notices."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def notices(self) -> tuple[str, ...]: ...


_R = TypeVar("_R", bound=_Report)


def show_report(
    report: _R,
    logged: Logged,
    seals: Sequence[Seal],
    print_report: Callable[[_R], None],
    *,
    json: bool,
    html: Path | None = None,
    page: Callable[[_R, Sequence[str]], str] | None = None,
) -> None:
    """Show a report that was logged.

    Args:
        report: The report.
        logged: What came of logging it; what changed since the one before is told on top.
        seals: What is to be said of sealed results that it shows.
        print_report: Prints it for people.
        json: Whether one JSON object is printed in place of that.
        html: Where to write a page, or None.
        page: Makes the page, given the report and what is told on top.
    """
    from labeler.reports.report_log import plain

    if html is not None and page is not None:
        told = (*logged.changed, *(line for seal in seals for line in seal.lines()))
        write_page(html, page(report, told))
    if json:
        beside = {
            "evaluation": logged.evaluation,
            "changed": list(logged.changed),
            "sealed": [seal.facts() for seal in seals],
        }
        print_json(plain(report) | beside)
        return
    for change in logged.changed:
        print(f"changed {change}")
    if logged.changed:
        print()
    print_report(report)
    for notice in report.notices:
        tell(f"note: {notice}")
    tell_seals(seals)


def log_and_open(
    store: Store,
    command: str,
    conditions: Conditions,
    result: Mapping[str, object],
    values: Sequence[ReportValue],
    scope: ScopeChoice,
    *,
    before: Mapping[str, object] | None = None,
) -> tuple[Logged, list[Seal]]:
    """Log a report on runs, and record that it shows what is sealed, before it is shown.

    Args:
        store: The open database, outside of any transaction.
        command: What made the report, such as ``report recall``.
        conditions: What its numbers rest on.
        result: What of it is logged, as plain values.
        values: Its numbers.
        scope: What it looked at.
        before: The conditions of another report to hold it against, in place of the latest.
    """
    from labeler.reports.report_log import log_report, plain

    logged = log_report(
        store,
        command,
        plain(conditions),
        result=result,
        values=values,
        pool=scope.pool,
        as_of=scope.as_of,
        before=before,
    )
    seals = open_shown(
        store,
        command,
        pool=scope.pool,
        snapshot=scope.snapshot,
        runs=sorted({one.run for one in values}),
        as_of=scope.as_of,
    )
    return logged, seals


def write_page(path: Path, text: str) -> None:
    """Write a page, whole or not at all, and say where."""
    from labeler.formats.atomic import replacing

    with replacing(path) as file:
        file.write(text.encode("utf-8"))
    tell(f"page written to {path}")
