"""`labeler report`: what the labels are worth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from cyclopts import App

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_named, open_shown, tell_seals

if TYPE_CHECKING:
    from labeler.evaluation.agreement import Estimate
    from labeler.reports.agreement import AgreementReport
    from labeler.reports.pairs import AssessorSummary, PairAgreement
    from labeler.reports.query_issues import QueryIssue

app = App(
    name="report",
    help="Report on labels: agreement between assessors, what is unclear in rubric and queries.",
)
_COMPARE = "Compare runs query by query: differences with intervals, one error for all of them."
app.command("labeler.cli.report_compare:compare", name="compare", help=_COMPARE)
_MISSES = "List known relevant evidence that a run missed, by failure class."
app.command("labeler.cli.report_misses:misses", name="misses", help=_MISSES)
_TREND = "Show how metrics went over time, from the log of evaluations."
app.command("labeler.cli.report_trend:trend", name="trend", help=_TREND)
_DRIFT = "Tell whether a judge's labels moved between two versions of it."
app.command("labeler.cli.report_drift:drift", name="drift", help=_DRIFT)
_GRID = "Measure a run at other depths and thresholds, on development queries."
app.command("labeler.cli.report_grid:grid", name="grid", help=_GRID)
_RECALL = """Measure runs: P, MRR, recall, nDCG, latency, with bounds and what each rests on.

Recall is found / all that is known to be relevant, as in trec_eval; P@K divides by K also when less
was returned. What is undefined is called so, with the reason. docs/metrics.md defines every column;
--json has all of it, and every slice.
"""
app.command("labeler.cli.report_recall:recall", name="recall", help=_RECALL)
_COVERAGE = """Tell how far what runs found is judged, and which runs the pool favours.

'only here' counts unknown places that no other run has. Leaving a run out takes away the labels of
what it alone brought to the first K places, and measures all runs again: what then falls was held
up by being pooled. Runs whose judged shares differ by more than 5 points can't be compared; the
command that draws what is missing is printed.
"""
app.command("labeler.cli.report_coverage:coverage", name="coverage", help=_COVERAGE)
_SENSITIVITY = """Tell how much a comparison of two runs depends on what is unknown.

Each row treats unknown items in one way, and says whether that is an assumption or an estimate.
Below stands the least number of unknown items that would have to be relevant to put the other run
ahead: exact for precision, MRR and recall, two bounds for nDCG.
"""
app.command("labeler.cli.report_coverage:sensitivity", name="sensitivity", help=_SENSITIVITY)
_CALIBRATION = "Tell whether probabilities of labels are what they say, by people's blind votes."
app.command("labeler.cli.report_calibration:calibration", name="calibration", help=_CALIBRATION)
_AUDIT = "Tell what drawn items say: agreement with accepted labels, prevalence, recall of runs."
app.command("labeler.cli.report_audit:audit", name="audit", help=_AUDIT)

_LEAKAGE = "Tell what crosses between the parts of a frozen split, and who saw what is sealed."
app.command("labeler.cli.report_leakage:leakage", name="leakage", help=_LEAKAGE)

_NAMED = 5


@app.command
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

    with open_project(db) as store, working("comparing labels"):
        with store.read() as connection:
            report = report_agreement(
                connection, against=against, pool=pool, as_of=as_of, repeats=Repeats(repeats)
            )
        seals = open_shown(store, "report agreement", pool=pool, as_of=as_of)
    if json:
        print_json(asdict(report) | {"sealed": [seal.facts() for seal in seals]})
        return
    _print_conditions(report)
    _print_pairs(report)
    if len(report.pairs) == 1:
        _print_confusion(report.pairs[0])
    _print_groups(report)
    _print_assessors(report.assessors)
    for notice in report.notices:
        tell(f"note: {notice}")
    tell_seals(seals)


@app.command(name="rubric-issues")
def rubric_issues(
    *, pool: str | None = None, db: Database = None, json: JsonOutput = False
) -> None:
    """Tell where the rubric was marked as unclear: on which levels and queries, with what words.

    Who settles a dispute can say that the rubric is what needs work; a reviewer says so with a
    flag whose reason begins with 'rubric unclear'. The labels of such items stay as they are.

    Parameters
    ----------
    pool
        The items of this pool only.
    """
    from labeler.reports.rubric_issues import read_rubric_issues, summarize_rubrics

    with open_project(db) as store:
        with store.read() as connection:
            issues = read_rubric_issues(connection, pool)
        seals = open_named(store, "report rubric-issues", {one.query for one in issues})
    rubrics = summarize_rubrics(issues)
    if json:
        listed = [asdict(one) | {"last": one.last.isoformat(timespec="seconds")} for one in issues]
        sealed = [seal.facts() for seal in seals]
        rows = [asdict(one) for one in rubrics]
        print_json({"rubrics": rows, "items": listed, "sealed": sealed})
        return
    if not issues:
        print("nobody marked a rubric as unclear")
        return
    print_table(
        ["rubric", "digest", "items", "queries", "levels that people differ on"],
        [
            [
                one.rubric,
                one.digest,
                one.items,
                one.queries,
                ", ".join(f"{names} ({n:,})" for names, n in one.levels_confused.items()) or "-",
            ]
            for one in rubrics
        ],
    )
    for issue in issues:
        print()
        facts: dict[str, object] = {
            "query": f"{issue.query}: {issue.query_text}",
            "evidence": issue.evidence,
            "rubric": f"{issue.rubric} {issue.digest}",
            "people said": ", ".join(f"{name} ({n:,})" for name, n in issue.levels.items()) or "-",
            "unclear": "; ".join(issue.words) or "-",
            "notes": "; ".join(issue.notes) or "-",
            "marked by": f"{', '.join(issue.marked_by)}, last {issue.last:%Y-%m-%d %H:%M} UTC",
            "still disputed": "yes" if issue.is_disputed else "no",
        }
        print_facts(facts)
    tell_seals(seals)


@app.command(name="query-issues")
def query_issues(*, pool: str | None = None, db: Database = None, json: JsonOutput = False) -> None:
    """Tell which queries need work: marked as unclear, or with corrections that reviewers propose.

    A reviewer marks a query with a flag whose reason begins with 'query unclear', or by saying for
    that reason that an item can't be judged. `labeler correct query` applies or declines what is
    proposed; until then nothing changes.

    Parameters
    ----------
    pool
        The queries of this pool's items only.
    """
    from labeler.reports.query_issues import read_query_issues

    with open_project(db) as store:
        with store.read() as connection:
            issues = read_query_issues(connection, pool)
        seals = open_named(store, "report query-issues", {one.query for one in issues})
    if json:
        sealed = [seal.facts() for seal in seals]
        print_json({"queries": [_as_json(one) for one in issues], "sealed": sealed})
        return
    if not issues:
        print("nobody marked a query as unclear or wants one to be corrected")
        return
    print_table(
        ["query", "text", "reviewers", "marked unclear", "can't judge", "proposals"],
        [
            [
                one.query,
                one.text,
                len(one.reviewers),
                len(one.unclear),
                one.cannot_judge,
                len(one.proposals),
            ]
            for one in issues
        ],
    )
    for issue in issues:
        print()
        facts: dict[str, object] = {"query": f"{issue.query}: {issue.text}"}
        if issue.unclear:
            facts["unclear to"] = ", ".join(issue.unclear)
            facts["in words"] = "; ".join(issue.words) or "-"
            facts["notes"] = "; ".join(issue.notes) or "-"
        for one in issue.proposals:
            changes = ", ".join(
                f"{name} {before or '-'} -> {then or '-'}" for name, before, then in one.differences
            )
            words = f" ({one.words})" if one.words else ""
            facts[f"proposal {one.number}"] = f"{changes}{words}; {one.by}, {one.state.value}"
        print_facts(facts)
    tell_seals(seals)


def _as_json(issue: QueryIssue) -> dict[str, object]:
    proposals = [
        asdict(one) | {"at": one.at.isoformat(timespec="seconds"), "state": one.state.value}
        for one in issue.proposals
    ]
    return asdict(issue) | {"proposals": proposals}


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
            cells = [_cell(levels.exact), _cell(levels.kappa), _cell(levels.quadratic_kappa)]
        for column, found in named.items():
            if found.undefined is not None:
                reasons[f"{column} undefined, {found.undefined}"].append(name)
            if found.no_interval is not None:
                reasons[f"{column} without an interval, {found.no_interval}"].append(name)
        alone = pair.first_alone.nothing, pair.second_alone.nothing
        rows.append([name, pair.common, pair.queries, *alone, *cells, _cell(pair.relevance.kappa)])
    print_table([*header, "exact", "kappa", "quadratic kappa", "kappa of relevant or not"], rows)
    for reason, names in reasons.items():
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        print(f"{reason}: {', '.join(names[:_NAMED])}{more}")
    print()


def _cell(found: Estimate) -> str:
    if found.value is None:
        return "undefined"
    value = f"{found.value + 0.0:.3f}"
    if found.low is None or found.high is None:
        return value
    return f"{value} [{found.low:.3f}, {found.high:.3f}]"


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
            "-" if group.alpha_ordinal is None else _cell(group.alpha_ordinal),
            "-" if group.alpha_nominal is None else _cell(group.alpha_nominal),
            _cell(group.alpha_relevance),
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
