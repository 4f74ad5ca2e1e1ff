"""`labeler report audit`: what the drawn items say of labels, relevance and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_options import AsOf, OrderRule, OriginOfQueries, Page, Runs
from labeler.cli.report_showing import show_report
from labeler.cli.report_tables import condition_facts, share
from labeler.cli.sealing import open_shown

if TYPE_CHECKING:
    from labeler.evaluation.posterior import Interval
    from labeler.reports.audit import AgreementRow, AuditReport, EstimateRow

__all__ = ["audit"]


def audit(
    pool: str,
    /,
    *,
    runs: Runs = (),
    k: int = 20,
    order: OrderRule = None,
    as_of: AsOf = None,
    origin: OriginOfQueries = None,
    html: Page = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell what drawn items say of a pool: how far labels agree with people, prevalence, recall.

    Only items drawn with a recorded probability are a sample. Votes that the queue asked for are
    counted beside, and no rate is computed from them.

    Parameters
    ----------
    pool
        The pool's name.
    k
        How many first places of a run count for its recall.
    """
    from labeler.errors import UsageError
    from labeler.reports.audit import report_audit
    from labeler.reports.label_pages import audit_page
    from labeler.reports.logged_values import audit_values
    from labeler.reports.report_log import log_report, plain
    from labeler.reports.scope import ScopeOptions
    from labeler.retrieval.query_facts import AskedBy

    if k < 1:
        raise UsageError("--k is 1 or more")
    options = ScopeOptions(
        pool=pool,
        runs=runs,
        order=order,
        as_of=as_of,
        asked_by=None if origin is None else AskedBy(origin),
    )
    with open_project(db) as store, working("estimating"):
        with store.read() as connection:
            report = report_audit(connection, options, cutoff=k)
        logged = log_report(
            store,
            "report audit",
            plain(report.conditions),
            result=plain(report),
            values=audit_values(report),
            pool=pool,
            as_of=as_of,
        )
        shown = sorted({row.run for row in report.figures if row.run is not None})
        seals = open_shown(store, "report audit", pool=pool, runs=shown, as_of=as_of)
    show_report(report, logged, seals, _print_report, json=json, html=html, page=audit_page)


def _print_report(report: AuditReport) -> None:
    conditions = condition_facts(report.conditions)
    sample = report.sample
    print_facts(
        {
            "frame": report.frame,
            **{name: value for name, value in conditions.items() if name not in {"frame", "gains"}},
            "policy": report.policy,
            **report.ledgers.facts(),
            "answers that count": f"{sample.labelled:,} labels, {sample.relevant:,} relevant; "
            f"{sample.abstained:,} can't judge, {sample.waiting:,} wait",
            "strength": f"{sample.strength.value}, effective size {sample.effective:,.0f}",
            "interval": report.interval,
            "prior": report.prior,
        }
    )
    print()
    _print_agreement("accepted", report.accepted)
    _print_agreement("not accepted", report.others)
    _print_figures(report.figures)


def _print_agreement(which: str, rows: tuple[AgreementRow, ...]) -> None:
    if not rows:
        print(f"{which}: no labels\n")
        return
    print_table(
        [which, "labels", "in force", "drawn", "judged", "agreed", "can't judge", "share", "95%"],
        [
            [
                row.grade.value,
                row.labels,
                row.accepted,
                row.drawn,
                row.answered,
                row.agreed,
                row.abstained,
                share(row.share),
                "-" if row.interval is None else _limits(row.interval),
            ]
            for row in rows
        ],
    )
    print()


def _print_figures(rows: tuple[EstimateRow, ...]) -> None:
    print_table(
        ["figure", "run", "value", "95%", "with any abstention", "found in the draw", "known"],
        [
            [
                row.name,
                row.run or "",
                _number(row.value),
                _limits(row.interval),
                _limits(row.bounds),
                row.found,
                row.known_relevant,
            ]
            for row in rows
        ],
    )
    for method in dict.fromkeys(row.method for row in rows):
        print(f"interval: {method}")


def _number(value: float | None) -> str:
    return "undefined" if value is None else _written(value)


def _written(value: float) -> str:
    return f"{value:.3f}" if value <= 1 else f"{value:,.1f}"


def _limits(interval: Interval) -> str:
    return f"[{_written(interval.low)}, {_written(interval.high)}]"
