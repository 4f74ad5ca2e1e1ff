"""`labeler report agreement`: how far assessors agree."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

from labeler.cli.output import print_facts, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.report_showing import show_report
from labeler.cli.report_tables import estimate_of
from labeler.cli.sealing import open_shown

if TYPE_CHECKING:
    from labeler.reports.agreement import AgreementReport
    from labeler.reports.pairs import AssessorSummary, PairAgreement

__all__ = ["agreement"]

_NAMED = 5


def agreement(
    *,
    against: str | None = None,
    pool: str | None = None,
    as_of: int | None = None,
    repeats: Literal["last", "first"] = "last",
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell how far assessors agree, by their blind labels of the same items.

    Each pair of people and judges is compared: how often the labels are the same, kappa of the
    levels where both use the same scale, kappa with quadratic weights, and kappa of relevant or
    not by the grades that levels map to. Where two people voted on an item, each judge is compared
    with the people together, too. Intervals are made over queries. What is undefined is
    called so, with the reason; --json has more: confusion tables, Krippendorff's alpha, AC1,
    labels by level. docs/reports.md says what the columns mean.

    Parameters
    ----------
    against
        Compare with this assessor only; or every judge with 'people', what their votes come to,
        or with 'decisions', the labels in force.
    pool
        The items of this pool only.
    as_of
        The state after this revision; now by default.
    repeats
        Which label counts where a judge gave several for one item. Of a person's, the latest does.
    """
    from labeler.reports.agreement import report_agreement
    from labeler.reports.answers import Repeats
    from labeler.reports.report_log import log_report, plain

    with open_project(db) as store, working("comparing labels"):
        with store.read() as connection:
            report = report_agreement(
                connection, against=against, pool=pool, as_of=as_of, repeats=Repeats(repeats)
            )
        logged = log_report(
            store,
            "report agreement",
            {"pool": pool, "labels": "blind", "revision": report.revision},
            result=plain(report),
            subjects=[one.name for one in report.assessors],
            pool=pool,
            as_of=as_of,
        )
        seals = open_shown(store, "report agreement", pool=pool, as_of=as_of)
    show_report(report, logged, seals, _print_report, json=json)


def _print_report(report: AgreementReport) -> None:
    _print_conditions(report)
    _print_pairs(report)
    if len(report.pairs) == 1:
        _print_confusion(report.pairs[0])
    _print_groups(report)
    _print_assessors(report.assessors)


def _print_conditions(report: AgreementReport) -> None:
    against = {} if report.against is None else {"against": report.against}
    scales = {pair.levels.scale for pair in report.pairs if pair.levels is not None}
    print_facts(
        {
            **against,
            "items": report.frame,
            "labels": f"blind; of a judge's several for one item the {report.repeats} counts",
            "levels on the scale": ", ".join(sorted(scales)) or "none that two share",
            "interval": report.interval,
            "revision": str(report.revision),
        }
    )
    print()


def _name(report: AgreementReport, pair: PairAgreement) -> str:
    return pair.second if report.against is not None else f"{pair.first} x {pair.second}"


def _print_pairs(report: AgreementReport) -> None:
    first, second = ("first", "second") if report.against is None else ("reference", "other")
    header = ["assessor" if report.against is not None else "first x second", "common", "queries"]
    header += [f"{first} only", f"{second} only"]
    rows: list[list[object]] = []
    reasons: dict[str, list[str]] = defaultdict(list)
    for pair in (*report.pairs, *report.with_people):
        name = _name(report, pair)
        named = {"relevant or not": pair.relevance.kappa}
        if pair.levels is None:
            reasons[f"levels not compared, {pair.levels_not_compared}"].append(name)
            cells = ["-"] * 3
        else:
            levels = pair.levels
            named |= {
                "exact": levels.exact,
                "kappa": levels.kappa,
                "quadratic kappa": levels.quadratic_kappa,
            }
            cells = [
                estimate_of(levels.exact),
                estimate_of(levels.kappa),
                estimate_of(levels.quadratic_kappa),
            ]
        for column, found in named.items():
            if found.undefined is not None:
                reasons[f"{column} undefined, {found.undefined}"].append(name)
            if found.no_interval is not None:
                reasons[f"{column} without an interval, {found.no_interval}"].append(name)
        alone = pair.first_alone.nothing, pair.second_alone.nothing
        rows.append(
            [name, pair.common, pair.queries, *alone, *cells, estimate_of(pair.relevance.kappa)]
        )
    print_table([*header, "exact", "kappa", "quadratic kappa", "kappa of relevant or not"], rows)
    for reason, names in reasons.items():
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        print(f"{reason}: {', '.join(names[:_NAMED])}{more}")
    print()


def _print_confusion(pair: PairAgreement) -> None:
    if not pair.common:
        return
    if pair.levels is not None:
        names, confusion = pair.levels.levels, pair.levels.confusion
    else:
        names, confusion = ("not relevant", "relevant"), pair.relevance.confusion
    print_table(
        [f"{pair.first}, down; {pair.second}, across", *names],
        [[name, *counts] for name, counts in zip(names, confusion, strict=True)],
    )
    print()


def _print_groups(report: AgreementReport) -> None:
    """Print Krippendorff's alpha of three or more; that of two stands in the JSON of the pair."""
    rows = [
        [
            f"{len(group.members)} {group.group}",
            group.items,
            "-" if group.alpha_ordinal is None else estimate_of(group.alpha_ordinal),
            "-" if group.alpha_nominal is None else estimate_of(group.alpha_nominal),
            estimate_of(group.alpha_relevance),
        ]
        for group in report.groups
    ]
    if rows:
        print_table(
            ["together", "items", "alpha ordinal", "alpha nominal", "alpha of relevant or not"],
            rows,
        )
        print()


def _print_assessors(assessors: tuple[AssessorSummary, ...]) -> None:
    print_table(
        ["assessor", "kind", "labels", "abstained", "failed", "undecided", "labels by level"],
        [
            [
                one.name,
                one.kind,
                one.labels,
                one.abstained,
                one.failed,
                one.undecided,
                "; ".join(
                    f"{scale}: " + ", ".join(f"{code}={count:,}" for code, count in counts)
                    for scale, counts in _by_scale(one).items()
                ),
            ]
            for one in assessors
        ],
    )


def _by_scale(summary: AssessorSummary) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for level in summary.by_level:
        found[level.scale].append((level.code, level.labels))
    return found
