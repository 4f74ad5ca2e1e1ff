"""`labeler split`: what belongs together, what is sealed, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclopts import App

from labeler.cli.output import Progress, print_facts, print_json, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.split_output import (
    Embeddings,
    Share,
    SnapshotName,
    SplitName,
    edge_facts,
    embedder_wanted,
    plan_facts,
    print_oversized,
    print_plan,
)

if TYPE_CHECKING:
    from labeler.records.splits import SplitPart
    from labeler.splits.plan import Plan

app = App(
    name="split",
    help="Freeze what belongs together and what is sealed.\n\n"
    "Documents and queries that share a conversation, a template, an entity, a source document or "
    "nearly a text go to train, dev or test as one group. `plan` shows it, `settle` takes a "
    "person's word on doubtful edges, `freeze` seals the test part for good, `check` proves that "
    "nothing crosses. docs/splits.md has the rules.",
)

for _name, _target, _help in (
    ("edges", "split_edges:edges", "List edges: by default those that wait for a person."),
    ("explain", "split_edges:explain", "Show the chain of edges between two."),
    ("settle", "split_edges:settle", "Settle the edges of likeness between two."),
    ("check", "split_check:check", "Prove that nothing crosses; exit code 8 when something does."),
    ("show", "split_check:show", "Show a frozen split."),
    ("openings", "split_check:openings", "List who looked at sealed results."),
    ("develop", "split_check:develop", "Say that tuning has seen labels of sealed queries."),
):
    app.command(f"labeler.cli.{_target}", name=_name, help=_help)

_SHOWN = 20


@app.command
def plan(
    *,
    snapshot: SnapshotName = None,
    train: Share = 0.6,
    dev: Share = 0.2,
    test: Share = 0.2,
    seed: str = "labeler",
    embeddings: Embeddings = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Show what a split would be: groups, parts, what waits for a person, what is too large.

    Nothing is frozen. The edges are kept, so that `freeze`, `edges` and `explain` need not find
    them again.

    Parameters
    ----------
    seed
        Decides among groups of one size.
    """
    made = _planned(db, snapshot, (train, dev, test), seed, embeddings)
    if json:
        print_json(plan_facts(made))
        return
    print_plan(made)


@app.command
def freeze(
    name: str,
    /,
    *,
    snapshot: SnapshotName = None,
    train: Share = 0.6,
    dev: Share = 0.2,
    test: Share = 0.2,
    seed: str = "labeler",
    embeddings: Embeddings = None,
    instead_of: str | None = None,
    why: str = "",
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Freeze the split: from now on the test part is sealed, and nothing moves.

    It fails when a group has more documents than 5% of all or half of the smallest part, and shows
    the edges that bridge it. With fewer than 40 groups that is a warning.

    Parameters
    ----------
    name
        The split's name.
    seed
        Decides among groups of one size.
    instead_of
        The frozen split whose place it takes.
    why
        Why it takes its place.
    """
    from labeler.errors import UsageError
    from labeler.splits.freezing import freeze_split

    if (instead_of is None) != (not why.strip()):
        raise UsageError("--instead-of and --why go together")
    made = _planned(db, snapshot, (train, dev, test), seed, embeddings)
    if not made.can_freeze:
        print_oversized(made.oversized)
    with open_project(db) as store, working("freezing"):
        frozen = freeze_split(store, name, made, instead_of=instead_of, reason=why)
    if json:
        print_json(
            {
                "split": frozen.split.name,
                "root_digest": frozen.split.root_digest,
                "revision": frozen.split.revision,
                "is_new": frozen.is_new,
                **plan_facts(made),
            }
        )
        return
    print_plan(made)
    print()
    print_facts(
        {
            "split": frozen.split.name,
            "root digest": frozen.split.root_digest,
            "revision": str(frozen.split.revision),
        }
    )
    if frozen.is_new:
        print("`labeler split check` proves that nothing crosses")
    else:
        print("nothing changed: this split is frozen already")


@app.command
def extend(
    *,
    split: SplitName = None,
    snapshot: SnapshotName = None,
    embeddings: Embeddings = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Bring later documents and queries into a frozen split; nothing that is there moves.

    What is tied to one group joins it. What is tied to none makes a group. What would join two
    is quarantined: it has no part, and no generator sees it.

    Parameters
    ----------
    snapshot
        The snapshot that the split is to cover; the one that it covers by default, for later
        queries.
    """
    from labeler.splits.extending import extend_split

    with open_project(db) as store, Progress("comparing") as progress:
        done = extend_split(
            store,
            name=split,
            snapshot=snapshot,
            embedder=embedder_wanted(store, embeddings, progress),
            progress=progress.begin,
        )
    facts: dict[str, object] = {
        "split": done.split.name,
        "snapshot": done.split.snapshot,
        "root digest": done.split.root_digest,
        "joined a group": done.joined,
        "groups made": done.made,
        **{f"to {part}": count for part, count in sorted(done.parts.items())},
        "quarantined": len(done.quarantined),
        "no longer in the snapshot": done.absent,
        "links across parts among what was there": len(done.crossing),
    }
    if json:
        quarantined = {node: list(groups) for node, groups in done.quarantined.items()}
        crossing = [edge_facts(edge) for edge in done.crossing]
        print_json({**facts, "quarantined": quarantined, "crossing": crossing})
        return
    print_facts(facts)
    for node, groups in list(done.quarantined.items())[:_SHOWN]:
        tell(f"quarantined: {node} would join the groups {', '.join(map(str, groups))}")
    if done.crossing:
        tell("note: `labeler split check` reports the links across parts")


def _planned(
    db: str | None,
    snapshot: str | None,
    shares: tuple[float, float, float],
    seed: str,
    embeddings: bool | None,
) -> Plan:
    from labeler.splits.assigning import checked_shares
    from labeler.splits.drafts import plan_split

    wanted: dict[SplitPart, float] = checked_shares(*shares)
    with open_project(db) as store, Progress("planning") as progress:
        return plan_split(
            store,
            snapshot=snapshot,
            seed=seed,
            shares=wanted,
            embedder=embedder_wanted(store, embeddings, progress),
            progress=progress.begin,
        )
