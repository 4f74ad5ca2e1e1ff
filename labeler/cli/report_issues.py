"""`labeler report rubric-issues` and `query-issues`: what reviewers say needs work."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_named, tell_seals

if TYPE_CHECKING:
    from labeler.reports.query_issues import QueryIssue

__all__ = ["query_issues", "rubric_issues"]


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
