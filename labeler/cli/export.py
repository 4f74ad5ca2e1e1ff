"""`labeler export`: qrels, JSON lines, Parquet, a test set, a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from labeler.cli.output import print_facts, print_json, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_shown, open_texts, tell_seals

if TYPE_CHECKING:
    from labeler.sealing.openings import Seal

app = App(
    name="export",
    help="Write labels out: qrels, JSON lines, Parquet, a test set.\n\n"
    "Files are written as a whole and can be imported again without options; the same export "
    "twice gives the same bytes. What is unknown stays unknown: it is never written as 0.",
)

PoolName = Annotated[
    str | None,
    Parameter(name="--pool", help="Items of this pool; all known of a snapshot by default."),
]
SnapshotName = Annotated[str | None, Parameter(name="--snapshot", help="Items of this snapshot.")]
RubricName = Annotated[str | None, Parameter(name="--rubric", help="Items under this rubric.")]
AsOf = Annotated[
    int | None, Parameter(name="--as-of", help="The state after this revision; now by default.")
]
Labels = Annotated[
    Literal["human", "human+auto"],
    Parameter(name="--labels", help="Labels of people alone, or those a policy accepted too."),
]


@app.command
def qrels(
    file: Path,
    /,
    *,
    pool: PoolName = None,
    snapshot: SnapshotName = None,
    rubric: RubricName = None,
    scale: str | None = None,
    ids: Literal["evidence", "chunk"] = "evidence",
    labels: Labels = "human+auto",
    as_of: AsOf = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write labels in force as TREC qrels, and FILE.meta.json beside it: scale, counts, revision.

    Abstained and unknown items are left out and counted.

    Parameters
    ----------
    file
        The file to write.
    scale
        The scale whose codes to write: native, trec-0-3, binary or a .toml file; by default the
        one that all labels are on, with their original codes.
    ids
        Write the ids of evidences, or of all chunks that carry them, as runs name them.
    """
    from labeler.exports.qrels import export_qrels
    from labeler.exports.scope import find_scope
    from labeler.formats.scale_file import scale_named

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = find_scope(connection, pool=pool, snapshot=snapshot, rubric=rubric, as_of=as_of)
            report = export_qrels(
                connection,
                file,
                scope,
                scale=scale_named(scale) if scale is not None else None,
                ids=ids,
                only_people=labels == "human",
            )
        seals = open_shown(store, "export qrels", items=scope.items, as_of=as_of)
    facts = {
        "file": str(file),
        "scale": report.scale.describe(),
        "labels": labels,
        "revision": report.revision,
        "rows": report.written,
        **{f"  code {code}": count for code, count in sorted(report.by_code.items())},
        **{f"  by {basis}": count for basis, count in sorted(report.by_basis.items())},
        "from another scale": report.converted,
    }
    if json:
        more = {"abstained": report.abstained, "unknown": report.unknown}
        print_json({**facts, **more, "sealed": [seal.facts() for seal in seals]})
    else:
        print_facts(facts)
    tell(f"left out: {report.abstained:,} abstained, {report.unknown:,} unknown")
    if by_judge := report.by_basis.get("accepted", 0):
        tell(
            f"note: {by_judge:,} labels are a judge's, accepted by a policy and not by a person; "
            "--labels human leaves them out"
        )
    tell_seals(seals)


@app.command
def jsonl(
    file: Path,
    /,
    *,
    pool: PoolName = None,
    snapshot: SnapshotName = None,
    rubric: RubricName = None,
    labels: Labels = "human+auto",
    text: Annotated[bool, Parameter(negative="")] = False,
    as_of: AsOf = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write one JSON object a candidate: its label or "unknown", who retrieved it, its judgments.

    Parameters
    ----------
    file
        The file to write.
    text
        Add the query's and the passage's text.
    """
    from labeler.exports.candidates import export_jsonl
    from labeler.exports.scope import find_scope

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = find_scope(connection, pool=pool, snapshot=snapshot, rubric=rubric, as_of=as_of)
            counts = export_jsonl(
                connection, file, scope, only_people=labels == "human", with_text=text
            )
        seals = open_shown(store, "export jsonl", items=scope.items, texts=text, as_of=as_of)
    _print_counts(file, counts, scope.revision, seals, json=json)


@app.command
def parquet(
    file: Path,
    /,
    *,
    pool: PoolName = None,
    snapshot: SnapshotName = None,
    rubric: RubricName = None,
    labels: Labels = "human+auto",
    as_of: AsOf = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write one row a candidate, with label, state, basis, systems and texts; needs the extra.

    Parameters
    ----------
    file
        The file to write; its name ends in .parquet.
    """
    from labeler.errors import UsageError
    from labeler.exports.candidates import export_parquet
    from labeler.exports.scope import find_scope

    if file.suffix != ".parquet":
        raise UsageError(f"the name of a Parquet file ends in .parquet, not '{file.suffix}'")
    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = find_scope(connection, pool=pool, snapshot=snapshot, rubric=rubric, as_of=as_of)
            counts = export_parquet(connection, file, scope, only_people=labels == "human")
        seals = open_shown(store, "export parquet", items=scope.items, texts=True, as_of=as_of)
    _print_counts(file, counts, scope.revision, seals, json=json)


@app.command(name="testset")
def write_testset(
    file: Path,
    /,
    *,
    pool: PoolName = None,
    snapshot: SnapshotName = None,
    rubric: RubricName = None,
    labels: Labels = "human+auto",
    as_of: AsOf = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write each query with its known relevant passages: query, relevant_chunk_ids, domain, source.

    Passages that nobody judged are not in it, and not known to be irrelevant.

    Parameters
    ----------
    file
        The file to write: JSON, or Parquet when its name ends in .parquet.
    """
    from labeler.exports.scope import find_scope
    from labeler.exports.testset import export_testset

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = find_scope(connection, pool=pool, snapshot=snapshot, rubric=rubric, as_of=as_of)
            report = export_testset(connection, file, scope, only_people=labels == "human")
        seals = open_shown(store, "export testset", items=scope.items, as_of=as_of)
    facts: dict[str, object] = {
        "file": str(file),
        "revision": scope.revision,
        "queries": report.queries,
        "relevant passages": report.chunks,
        "queries without a known relevant passage": report.without_relevant,
        "queries without text": report.without_text,
        "items of unknown relevance": report.unknown,
    }
    if json:
        print_json(facts | {"sealed": [seal.facts() for seal in seals]})
    else:
        print_facts(facts)
    tell_seals(seals)


@app.command
def corpus(
    file: Path,
    /,
    *,
    snapshot: str,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write a snapshot's passages as JSON lines, with the fields that Labeler keeps.

    Parameters
    ----------
    file
        The file to write.
    snapshot
        The snapshot's name.
    """
    from labeler.exports.corpus import export_corpus

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            count = export_corpus(connection, file, snapshot)
        seals = open_texts(store, "export corpus", snapshot)
    facts = {"file": str(file), "passages": count}
    if json:
        print_json(facts | {"sealed": [seal.facts() for seal in seals]})
    else:
        print_facts(facts)
    tell_seals(seals)


def _print_counts(
    file: Path, counts: object, revision: int, seals: Sequence[Seal], *, json: bool
) -> None:
    listed = dict(sorted(dict(counts).items())) if isinstance(counts, dict) else {}
    facts = {"file": str(file), "revision": revision, "candidates": sum(listed.values()), **listed}
    if json:
        print_json({**facts, "sealed": [seal.facts() for seal in seals]})
    else:
        print_facts(facts)
    tell_seals(seals)
