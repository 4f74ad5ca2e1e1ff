"""`labeler import`: a corpus, queries, runs, labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.formats.field_tables import CORPUS, HITS, LABELS, QUERIES, QUERY_LOG
from labeler.imports.report import ImportReport, split_fields, split_mapping, split_pairs

app = App(
    name="import",
    help="Import a corpus, queries, runs or labels.\n\n"
    "Files are JSON lines, CSV, TSV, TREC, Parquet or a folder in the layout of BEIR; .gz is read "
    "too. Faults are all told at once, and then nothing is imported; --lenient leaves faulty rows "
    "out and counts them. The same import twice changes nothing.",
)

Paths = Annotated[list[Path], Parameter(help="Files, or a folder in the layout of BEIR.")]
FieldNames = Annotated[
    tuple[str, ...],
    Parameter(name="--field", negative="", help="Which column is meant: text=body. Repeatable."),
]
Lenient = Annotated[
    bool, Parameter(name="--lenient", negative="", help="Leave faulty rows out and count them.")
]
SnapshotName = Annotated[
    str | None,
    Parameter(name="--snapshot", help="The snapshot that is meant, if not the only one."),
]


@app.command
def corpus(
    paths: Paths,
    /,
    *,
    snapshot: str | None = None,
    source_version: str | None = None,
    chunking: str | None = None,
    access_policy: str | None = None,
    field: FieldNames = (),
    lenient: Lenient = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Import passages as one frozen snapshot.

    Parameters
    ----------
    snapshot
        The snapshot's name; the file's or folder's name by default.
    source_version
        Which version of the source this is.
    chunking
        Which configuration cut the documents into passages.
    access_policy
        Who may see these texts.
    """
    from labeler.imports.corpus import CorpusOptions, import_corpus

    options = CorpusOptions(
        snapshot=snapshot,
        source_version=source_version,
        chunking=chunking,
        access_policy=access_policy,
        fields=split_fields(field, CORPUS),
        lenient=lenient,
    )
    with open_project(db, create=True) as store, working("importing corpus"):
        report = import_corpus(store, paths, options)
    _print(report, json=json)


@app.command
def queries(
    paths: Paths,
    /,
    *,
    domain: str | None = None,
    language: str | None = None,
    slice: Annotated[tuple[str, ...], Parameter(negative="")] = (),  # noqa: A002 - the option
    origin: Literal["historical", "synthetic", "manual"] = "historical",
    group: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    field: FieldNames = (),
    update: Annotated[bool, Parameter(negative="")] = False,
    from_log: Annotated[bool, Parameter(negative="")] = False,
    lenient: Lenient = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Import queries, or a log of what users asked.

    Parameters
    ----------
    domain
        The domain of queries whose rows name none.
    language
        The language (a BCP 47 tag) of queries whose rows name none.
    slice
        A slice of queries whose rows name none; repeatable.
    origin
        Where queries come from whose rows don't say it.
    group
        A group key by a regular expression over the id, whose first group is the key, such as
        conversation='^(.*)<::>'; keys are conversation, template, entity, source_document.
    update
        Make what differs the next version of a known query, in place of an error.
    from_log
        The files are logs: a query a row, with time, conversation, domain, count, click and score
        where they are there. Personal data that has a form (mail, phone, card, IBAN, IP address,
        long numbers) is replaced before anything is stored; names are not found. Near duplicates
        become one query. Then `labeler sample queries` draws some of them.
    """
    if from_log:
        if slice or group or update or origin != "historical":
            from labeler.errors import UsageError

            raise UsageError("--slice, --origin, --group and --update don't go with --from-log")
        _import_log(paths, domain, language, field, lenient=lenient, db=db, json=json)
        return
    from labeler.imports.queries import QueryOptions, import_queries
    from labeler.records.queries import Origin

    options = QueryOptions(
        domain=domain,
        language=language,
        slices=slice,
        origin=Origin(origin),
        groups=split_pairs(group, "--group"),
        fields=split_fields(field, QUERIES),
        update=update,
        lenient=lenient,
    )
    with open_project(db, create=True) as store, working("importing queries"):
        report = import_queries(store, paths, options)
    _print(report, json=json)


def _import_log(
    paths: list[Path],
    domain: str | None,
    language: str | None,
    field: tuple[str, ...],
    *,
    lenient: bool,
    db: str | None,
    json: bool,
) -> None:
    from labeler.imports.query_log import LogOptions, import_query_log

    options = LogOptions(domain, language, split_fields(field, QUERY_LOG), lenient)
    with open_project(db, create=True) as store, working("importing a log"):
        report = import_query_log(store, paths, options)
    _print(report, json=json)


@app.command
def runs(
    paths: Paths,
    /,
    *,
    snapshot: SnapshotName = None,
    role: Literal["baseline", "production", "candidate", "variant"] = "candidate",
    name: str | None = None,
    name_from: Literal["tag", "file"] = "tag",
    config: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    latency: Path | None = None,
    field: FieldNames = (),
    lenient: Lenient = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Import what retrievers returned over a snapshot.

    Rows are ordered as trec_eval orders them: by score, then by document id, both descending;
    the rank column is kept beside it. A passage that the snapshot lacks is imported as no_text.

    Parameters
    ----------
    role
        What part the runs play in a comparison.
    name
        What to call the run, if there is just one.
    name_from
        Name runs after the last column of their rows, or after their files.
    config
        The configuration of a stage: retrieval=bm25-k09. Stages are corpus, retrieval, reranking,
        generation. Repeatable.
    latency
        A table of query_id, system and latency_ms.
    """
    from labeler.errors import UsageError
    from labeler.imports.runs import STAGES, RunOptions, import_runs
    from labeler.records.runs import Role

    configs = split_pairs(config, "--config")
    if unknown := sorted(set(configs) - set(STAGES)):
        raise UsageError(f"--config knows {', '.join(STAGES)}; not '{unknown[0]}'")
    options = RunOptions(
        snapshot=snapshot,
        role=Role(role),
        name=name,
        name_by_file=name_from == "file",
        configs=configs,
        latency=latency,
        fields=split_fields(field, HITS),
        lenient=lenient,
    )
    with open_project(db, create=True) as store, working("importing runs"):
        report = import_runs(store, paths, options)
    _print(report, json=json)


@app.command
def labels(
    paths: Paths,
    /,
    *,
    snapshot: SnapshotName = None,
    rubric: Path | None = None,
    scale: str | None = None,
    map: Annotated[tuple[str, ...], Parameter(negative="")] = (),  # noqa: A002 - the option
    assessor: str = "imported",
    kind: Literal["person", "llm"] = "person",
    field: FieldNames = (),
    lenient: Lenient = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Import labels: TREC qrels, or rows of query, document, label and rater.

    Every row stays a judgment of its rater; people who agree settle an item, people who
    contradict each other leave it undecided. An empty label is no label, never not relevant.

    Parameters
    ----------
    rubric
        The rubric file that the labels were given under; the shipped one by default.
    scale
        native (0-2), trec-0-3, binary, or a .toml file; read off the labels by default, and said.
    map
        What a code or a word means: 4=not_relevant; repeatable. Codes make a scale of their own,
        which keeps them.
    assessor
        Who gave labels whose rows name nobody.
    kind
        Whether people gave them, or a model. Repeated rows of a model are its samples.
    """
    from labeler.assessment.rubric import read_rubric
    from labeler.imports.labels import LabelOptions, import_labels
    from labeler.records.scales import AssessorKind

    options = LabelOptions(
        snapshot=snapshot,
        rubric=read_rubric(rubric) if rubric is not None else None,
        scale=scale,
        mapping=split_mapping(map),
        assessor=assessor,
        kind=AssessorKind(kind),
        fields=split_fields(field, LABELS),
        lenient=lenient,
    )
    with open_project(db, create=True) as store, working("importing labels"):
        report = import_labels(store, paths, options)
    _print(report, json=json)


def _print(report: ImportReport, *, json: bool) -> None:
    for notice in report.notices:
        tell(f"note: {notice}")
    if json:
        print_json(
            {
                "kind": report.kind,
                **report.facts,
                "counts": dict(report.counts),
                "revision": report.revision,
                "details": [dict(row) for row in report.details],
                "notices": [str(notice) for notice in report.notices],
            }
        )
        return
    if report.details:
        print_table(list(report.details[0]), [list(row.values()) for row in report.details])
        print()
    counts = {name: count for name, count in report.counts.items() if count or name == "added"}
    revision = {} if report.revision is None else {"revision": report.revision}
    print_facts({**report.facts, **counts, **revision})
    if report.revision is None:
        print("nothing changed: the project holds all of this already")
