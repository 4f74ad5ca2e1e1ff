"""`labeler judge list`: the judges of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labeler.cli.judge_costs import money
from labeler.cli.output import print_json, print_table, program, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.labels import Outcome

if TYPE_CHECKING:
    from labeler.reports.judge_list import ListedJudge


def list_all(*, db: Database = None, json: JsonOutput = False) -> None:
    """List the judges that have answered something: pools, answers by outcome, cost.

    Each version of a judge stands by itself: another prompt text or parameter gives it another
    digest. Answers count several times where an item was judged several times.
    """
    from labeler.reports.judge_list import list_judges

    with open_project(db) as store, store.read() as connection, working("counting answers"):
        judges = list_judges(connection)
    if json:
        print_json({"judges": [_plain(one) for one in judges]})
        return
    if not judges:
        print(f"no judges yet: `{program()} judge run POOL` has a pool judged")
        return
    print_table(
        ["judge", "digest", "kind", "pools", "items", *Outcome, "last (UTC)", "cost"],
        [
            [
                one.judge.name,
                one.judge.short_digest,
                one.judge.kind,
                ", ".join(f"{part.pool} {part.answered:,}/{part.items:,}" for part in one.pools)
                or "-",
                one.items,
                *(one.answers.get(outcome, 0) for outcome in Outcome),
                "unknown" if one.last is None else f"{one.last:%Y-%m-%d %H:%M}",
                "-" if one.cost is None else money(one.cost),
            ]
            for one in judges
        ],
    )


def _plain(one: ListedJudge) -> dict[str, Any]:
    return {
        "judge": one.judge.name,
        "digest": one.judge.digest,
        "kind": one.judge.kind,
        "items": one.items,
        "answers": {outcome.value: one.answers.get(outcome, 0) for outcome in Outcome},
        "pools": [
            {"pool": part.pool, "answered": part.answered, "items": part.items}
            for part in one.pools
        ],
        "last": None if one.last is None else one.last.isoformat(timespec="seconds"),
        "cost_usd": None if one.cost is None else one.cost.known,
        "responses_of_unknown_cost": 0 if one.cost is None else one.cost.unknown,
    }
