"""`labeler export`: qrels, JSON lines, Parquet, a test set, a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from labeler.cli.output import print_facts, print_json, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_shown, open_texts, tell_seals

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from labeler.exports.scope import Scope
    from labeler.sealing.openings import Seal

app = App(
    name="export",
    help="Write labels out: qrels, JSON lines, Parquet, a test set.\n\n"
    "Files are written as a whole and can be imported again without options; the same export "
    "twice gives the same bytes. What is unknown stays unknown: it is never written as 0.",
)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class What:
    """Which items and which labels are written, as it is typed: each attribute is an option."""

    pool: Annotated[
        str | None, Parameter(help="Items of this pool; all known of a snapshot by default.")
    ] = None
    snapshot: Annotated[str | None, Parameter(help="Items of this snapshot.")] = None
    rubric: Annotated[str | None, Parameter(help="Items under this rubric.")] = None
    labels: Annotated[
        Literal["human", "human+auto"],
        Parameter(help="Labels of people alone, or those a policy accepted too."),
    ] = "human+auto"
    as_of: Annotated[
        int | None, Parameter(help="The state after this revision; now by default.")
    ] = None

    @property
    def only_people(self) -> bool:
        """Whether only labels of people count."""
        return self.labels == "human"

    def scope(self, connection: Connection) -> Scope:
        """Find the items that are meant."""
        from labeler.exports.scope import find_scope

        return find_scope(
            connection,
            pool=self.pool,
            snapshot=self.snapshot,
            rubric=self.rubric,
            as_of=self.as_of,
        )


_EVERYTHING = What()


@app.command
def qrels(
    file: Path,
    /,
    *,
    what: What = _EVERYTHING,
    scale: str | None = None,
    ids: Literal["evidence", "chunk"] = "evidence",
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
    from labeler.formats.scale_file import scale_named

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = what.scope(connection)
            report = export_qrels(
                connection,
                file,
                scope,
                scale=scale_named(scale) if scale is not None else None,
                ids=ids,
                only_people=what.only_people,
            )
        seals = open_shown(store, "export qrels", items=scope.items, as_of=what.as_of)
    facts = {
        "file": str(file),
        "scale": report.scale.describe(),
        "labels": what.labels,
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
    what: What = _EVERYTHING,
    text: Annotated[bool, Parameter(negative="")] = False,
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

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = what.scope(connection)
            counts = export_jsonl(
                connection, file, scope, only_people=what.only_people, with_text=text
            )
        seals = open_shown(store, "export jsonl", items=scope.items, texts=text, as_of=what.as_of)
    _print_counts(file, counts, scope.revision, seals, json=json)


@app.command
def parquet(
    file: Path,
    /,
    *,
    what: What = _EVERYTHING,
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

    if file.suffix != ".parquet":
        raise UsageError(f"the name of a Parquet file ends in .parquet, not '{file.suffix}'")
    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = what.scope(connection)
            counts = export_parquet(connection, file, scope, only_people=what.only_people)
        seals = open_shown(store, "export parquet", items=scope.items, texts=True, as_of=what.as_of)
    _print_counts(file, counts, scope.revision, seals, json=json)


@app.command(name="testset")
def write_testset(
    file: Path,
    /,
    *,
    what: What = _EVERYTHING,
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
    from labeler.exports.testset import export_testset

    with open_project(db) as store, working("exporting"):
        with store.read() as connection:
            scope = what.scope(connection)
            report = export_testset(connection, file, scope, only_people=what.only_people)
        seals = open_shown(store, "export testset", items=scope.items, as_of=what.as_of)
    facts: dict[str, object] = {
        "file": str(file),
        "revision": scope.revision,
        "queries": report.queries,
        "relevant passages": report.chunks,
        "queries without a known relevant passage": report.without_relevant,
        "queries without text": report.without_text,
        "items of unknown relevance": report.unknown,
    }
    _print(facts, seals, json=json)


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
    _print(facts, seals, json=json)


def _print_counts(
    file: Path, counts: object, revision: int, seals: Sequence[Seal], *, json: bool
) -> None:
    listed = dict(sorted(dict(counts).items())) if isinstance(counts, dict) else {}
    facts = {"file": str(file), "revision": revision, "candidates": sum(listed.values()), **listed}
    _print(facts, seals, json=json)


def _print(facts: dict[str, object], seals: Sequence[Seal], *, json: bool) -> None:
    if json:
        print_json(facts | {"sealed": [seal.facts() for seal in seals]})
    else:
        print_facts(facts)
    tell_seals(seals)
