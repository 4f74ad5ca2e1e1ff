"""A project with a frozen split and everything that a command could show of its sealed part."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from labeler.assessment.rubric import default_rubric
from labeler.calibration.calibrate import calibrate_pool
from labeler.calibration.policies import NINE_OF_TEN
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.query_log import LogOptions, import_query_log
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import Grade
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.queue.sampled import ask_for_sample
from labeler.queue.sitting.session import ReviewSession
from labeler.sampling.draw import draw_sample
from labeler.sampling.plan import SampleOptions
from labeler.sampling.population import Comparison
from labeler.sealing.openings import read_openings
from labeler.splits.drafts import plan_split
from labeler.splits.freezing import freeze_split
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.gated import GATE
from tests.small import HandJudge, judge, write_jsonl, write_run
from tests.splits.planted import seeded, sentence, write_project

QUERIES = [f"q{number:02}" for number in range(30)]
RUNS = ("old", "new")


@dataclass(frozen=True)
class SealedProject:
    """The database, and what is sealed in it.

    Attributes:
        db: The database's file.
        queries: The ids of sealed queries.
        words: Words that stand in sealed texts alone.
    """

    db: Path
    queries: Collection[str]
    words: frozenset[str]


def sealed_project(folder: Path) -> SealedProject:
    """Write the project: 60 documents, 30 queries and what a log holds, two runs, two judges."""
    random = seeded(41)
    texts = {f"d{at:02}": f"passage d{at:02} {sentence(random)}" for at in range(60)}
    asked = {query: sentence(random, 9) for query in QUERIES}
    logged = [sentence(random, 8) for _ in range(20)]
    db = folder / "queue.db"
    with open_store(Location(str(db)), create=True) as store:
        write_project(
            store,
            folder,
            {name: [text] for name, text in texts.items()},
            {query: {"text": text} for query, text in asked.items()},
        )
        log = write_jsonl(folder / "log.jsonl", [{"query": text} for text in logged])
        import_query_log(store, [log], LogOptions())
        _run_and_judge(store, folder)
        plan = plan_split(store)
        freeze_split(store, "main", plan)
    sealed = {node for one in plan.groups if one.part == "test" for node in one.members}
    known = {f"document:{name}": text for name, text in texts.items()}
    known |= {one.node: one.text for one in plan.content.queries}
    assert {node.partition(":")[0] for node in sealed} == {"document", "query"}
    inside = {word for node in sealed for word in known[node].split()[2:]}
    outside = {word for node in known.keys() - sealed for word in known[node].split()}
    (folder / "gate.toml").write_text(GATE, encoding="utf-8")
    queries = {node.removeprefix("query:") for node in sealed if node.startswith("query:")}
    return SealedProject(db, queries, frozenset(inside - outside))


def _run_and_judge(store: Store, folder: Path) -> None:
    for tag, shifts in zip(RUNS, ((0, 7), (7, 13)), strict=True):
        results = {
            query: [f"d{(at + shift) % 60:02}#0" for shift in shifts]
            for at, query in enumerate(QUERIES)
        }
        import_runs(store, [write_run(folder / f"{tag}.run", tag, results)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=2, rubric=default_rubric()))
    for version in "12":
        fully = {f"d{at:02}": (Grade.FULLY_RELEVANT, 0.9) for at in range(0, 60, int(version) + 1)}
        judge(store, HandJudge(fully, version=version))
    rows = [
        f"{query} 0 d{(at + shift) % 60:02}#0 {at % 2}\n"
        for at, query in enumerate(QUERIES)
        for shift in (0, 7)
        if at % 3
    ]
    labels = folder / "labels.txt"
    labels.write_text("".join(rows), encoding="utf-8")
    import_labels(store, [labels], LabelOptions(assessor="mo", scale="binary"))
    calibrate_pool(store, "p")
    route_pool(store, "p", NINE_OF_TEN)
    options = SampleOptions(Comparison("p", RUNS, 2, Grade.PARTIALLY_RELEVANT), votes=10)
    draw_sample(store, "p", options, ask_for_sample)
    _review(store)


def _review(store: Store) -> None:
    """Have somebody vote on all that waits, and mark the rubric and each query as unclear."""
    session = ReviewSession(store, "ana")
    levels = default_rubric().scale.levels
    while session.current is not None:
        session.note("rubric unclear", is_flag=True)
        session.note("query unclear", is_flag=True)
        session.vote(levels[session.standing % len(levels)])
    session.close()


def openings(db: Path) -> list[dict[str, object]]:
    """Read what was opened."""
    with open_store(Location(str(db))) as store, store.read() as connection:
        return [one.facts() | {"reason": one.reason} for one in read_openings(connection)]
