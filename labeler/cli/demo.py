"""`labeler demo`: a sample project, from runs to a review queue."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from labeler.cli.output import Progress, print_facts, print_json, program, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ConflictError, JudgeError, MissingExtraError

if TYPE_CHECKING:
    from labeler.providers.embeddings import Embedder
    from labeler.store.database import Store

_SNAPSHOT = "help-centre"
_POOL = "demo"
_DEPTH = 10


def demo(
    directory: Path = Path("labeler-demo"),
    /,
    *,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write a sample project and take it from runs to a review queue, without any key.

    The files of a made-up help centre go to the folder. Four retrievers really run over them;
    their runs are imported, pooled, judged by the embedded judge and routed. A demo that was
    stopped goes on where it stopped.

    Parameters
    ----------
    directory
        A folder that is empty or not there yet, or one that an earlier demo wrote.
    """
    started = time.monotonic()
    with open_project(db, create=True) as store:
        _refuse_other_projects(store)
        embedder = _embedder(store)
        if not (directory / "runs" / "latency.tsv").is_file():
            tell(f"1/4 four retrievers run over the help centre: {directory}")
            _write_files(directory, embedder)
        tell("2/4 import")
        _import_files(store, directory)
        tell(f"3/4 pool at depth {_DEPTH}, judge")
        facts = _pool_and_judge(store, directory, judged=embedder is not None)
        tell("4/4 route")
        facts |= _route(store)
        _plant_misses(store, directory)
    facts["seconds"] = round(time.monotonic() - started, 1)
    if json:
        print_json({"directory": str(directory), "pool": _POOL, **facts})
        return
    print_facts(facts)
    print()
    print("The judge isn't calibrated on these texts, so most items go to people. Now try:")
    labeler = program()
    for words, why in (
        (f"review --pool {_POOL}", "judge some items, blind"),
        (f"pool show {_POOL}", "see what each retriever brought"),
        ("queue", "see what waits, and why"),
        (f"gate {directory / 'gate.toml'}", "decide a release, honestly"),
        ("report misses planted-lexical --k 10", "see why a run misses what is relevant"),
        (f"export qrels demo.qrels --pool {_POOL} --labels human", "write your labels out"),
    ):
        print(f"  {labeler} {words}".ljust(len(labeler) + 59) + why)


def _refuse_other_projects(store: Store) -> None:
    from labeler.corpus.compare import list_snapshots

    with store.read() as connection:
        names = {str(row["snapshot"]) for row in list_snapshots(connection)}
    if names - {_SNAPSHOT}:
        raise ConflictError(
            f"{store.location.shown} holds a project of its own",
            hint="run the demo in another folder, or name another database: --db demo.db",
        )


def _embedder(store: Store) -> Embedder | None:
    """Load the embedder, or say what is left out without it."""
    from labeler.judges.embedding_cache import stored_embedder

    try:
        return stored_embedder(store, threads=1)
    except (MissingExtraError, JudgeError) as error:
        tell(f"note: {error.message} ({error.hint}); so two lexical retrievers run, and no judge")
        return None


def _write_files(directory: Path, embedder: Embedder | None) -> None:
    from labeler.demo.build import write_demo
    from labeler.demo.reading import read_demo
    from labeler.demo.retrievers import run_retrievers

    demo = read_demo()
    if embedder is not None:
        # Passages are embedded here, with progress, so that latencies are those of searching.
        texts = [chunk.indexed_text for chunk in demo.chunks]
        with Progress("embedding passages") as progress:
            for done in range(0, len(texts), 16):
                embedder.passages(texts[done : done + 16])
                progress.advance(min(done + 16, len(texts)), len(texts))
    write_demo(directory, demo, run_retrievers(demo, embedder, time.perf_counter))


def _import_files(store: Store, directory: Path) -> None:
    from labeler.imports.corpus import CorpusOptions, import_corpus
    from labeler.imports.queries import QueryOptions, import_queries
    from labeler.imports.runs import RunOptions, import_runs
    from labeler.records.runs import Role

    corpus = CorpusOptions(snapshot=_SNAPSHOT, source_version="sample", chunking="by section")
    import_corpus(store, [directory / "corpus.jsonl"], corpus)
    import_queries(store, [directory / "queries.jsonl"], QueryOptions())
    latency = directory / "runs" / "latency.tsv"
    for run in sorted((directory / "runs").glob("*.run")):
        lexical = run.stem.endswith("lexical")
        options = RunOptions(
            role=Role.BASELINE if run.stem == "lexical" else Role.CANDIDATE,
            configs={"retrieval": "bm25" if lexical else f"{run.stem} multilingual-e5-small-q4"},
            latency=latency,
        )
        import_runs(store, [run], options)


def _pool_and_judge(store: Store, directory: Path, *, judged: bool) -> dict[str, object]:
    from labeler.assessment.rubric import read_rubric
    from labeler.judges.by_name import judge_named
    from labeler.judges.run import judge_pool, read_pool_blocks
    from labeler.pools.create import PoolOptions, create_pool

    rubric = read_rubric(directory / "rubric.toml")
    pool = create_pool(store, _POOL, PoolOptions(depth=_DEPTH, rubric=rubric))
    facts: dict[str, object] = {
        "runs": pool.runs,
        "queries": pool.queries,
        "pooled items": pool.candidates,
    }
    if judged:
        with store.read() as connection:
            blocks = read_pool_blocks(connection, _POOL)
        judge, kind = judge_named("embedded", store, blocks, threads=1)
        with Progress("judging") as progress:
            report = judge_pool(
                store, blocks, judge, kind, advance=progress.advance, monotonic=time.monotonic
            )
        facts["judged items"] = report.known + report.outcomes.get("judged", 0)
    return facts


def _route(store: Store) -> dict[str, object]:
    from labeler.calibration.policies import UNCALIBRATED
    from labeler.queue.route import route_pool

    report = route_pool(store, _POOL, UNCALIBRATED)
    return {
        "accepted without people": sum(report.accepted.values()),
        "waiting for people": report.waiting,
        "of them an audit of what was accepted": report.audited,
    }


def _plant_misses(store: Store, directory: Path) -> None:
    """Bring in the planted runs and what is known of them; the pool stays without them."""
    from labeler.assessment.rubric import read_rubric
    from labeler.demo.planted import KNOWN
    from labeler.demo.reading import read_demo
    from labeler.imports.labels import LabelOptions, import_labels
    from labeler.imports.runs import RunOptions, import_runs
    from labeler.records.evaluations import FailureClass
    from labeler.records.runs import Role
    from labeler.reports.misses import has_ruling, rule_on_miss

    rubric = read_rubric(directory / "rubric.toml")
    for run in sorted((directory / "planted").glob("*.run")):
        family = run.stem.removeprefix("planted-")
        options = RunOptions(role=Role.VARIANT, configs={"retrieval": f"{family}, planted misses"})
        import_runs(store, [run], options)
    known = LabelOptions(rubric=rubric, scale="native", assessor="planted")
    import_labels(store, [directory / KNOWN], known)
    for miss in read_demo().misses:
        with store.read() as connection:
            done = has_ruling(connection, miss.run, miss.query)
        if miss.is_ruled and not done:
            rule_on_miss(
                store,
                run=miss.run,
                query=miss.query,
                evidence=miss.relevant,
                failure=FailureClass(miss.failure),
                note=miss.why,
            )
