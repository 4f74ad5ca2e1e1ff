"""Runs: what retrievers returned, over a snapshot."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from labeler.errors import ConflictError
from labeler.formats.findings import Findings, shown
from labeler.formats.ranking import RankedRun, ranked
from labeler.imports.known import (
    check_queries,
    first_places,
    snapshot_meant,
    tell_no_corpus,
    tell_unknown_documents,
    unknown_queries_hint,
)
from labeler.imports.report import ImportReport, settle
from labeler.imports.run_files import read_runs
from labeler.imports.run_rows import QueryFacts, RunInput, read_latencies
from labeler.records import table
from labeler.records.corpus import Chunk, SnapshotChunk
from labeler.records.queries import Query
from labeler.records.runs import Hit, Role, Run, RunQuery
from labeler.store.bulk import insert_rows, intern
from labeler.store.database import Store, WriteTransaction

__all__ = ["STAGES", "RunOptions", "import_runs"]

STAGES = ("corpus", "retrieval", "reranking", "generation")
"""The stages whose configuration a run can name."""

_RUN, _HIT = table(Run), table(Hit)
_NAMED = 5


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the user says about runs beside their files."""

    snapshot: str | None = None
    role: Role = Role.CANDIDATE
    name: str | None = None
    name_by_file: bool = False
    configs: Mapping[str, str] = field(default_factory=dict)
    latency: Path | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run in order, with everything that was told of its queries."""

    source: RunInput
    ranking: RankedRun
    facts: Mapping[str, QueryFacts]

    def digest(self, options: RunOptions) -> str:
        """Digest what would be stored: the hits in order, the facts, role and configurations.

        The order in which a file has its rows and queries changes nothing.
        """
        columns, order = self.ranking.columns, self.ranking.order
        digest = hashlib.sha256()
        queries, query_codes = _by_name(columns.queries, columns.query_codes[order])
        documents, document_codes = _by_name(columns.documents, columns.document_codes[order])
        for names in (queries, documents):
            digest.update("\x00".join(names).encode("utf-8") + b"\x01")
        by_query = np.argsort(query_codes, kind="stable")
        order = order[by_query]
        for values in (
            query_codes[by_query],
            document_codes[by_query],
            columns.stated_ranks[order],
        ):
            digest.update(np.ascontiguousarray(values, dtype="<i4").tobytes())
        digest.update(np.ascontiguousarray(columns.scores[order], dtype="<f8").tobytes())
        told = [sorted((name, repr(facts)) for name, facts in self.facts.items())]
        told.append([(options.role.value, repr(sorted(options.configs.items())))])
        digest.update(repr(told).encode("utf-8"))
        return digest.hexdigest()


def _by_name(
    names: Sequence[str], codes: np.ndarray[Any, Any]
) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Number names in their own order; give them, and the codes that follow."""
    places = sorted(range(len(names)), key=names.__getitem__)
    new_codes = np.empty(len(names), dtype=np.int64)
    new_codes[places] = np.arange(len(names))
    return [names[place] for place in places], new_codes[codes]


def import_runs(store: Store, paths: Sequence[Path], options: RunOptions) -> ImportReport:
    """Read runs, put each in the order of trec_eval, and store them.

    Raises:
        InputError: When a file holds faults, unless the import is lenient.
        ConflictError: When a run of that name over the snapshot has other content.
    """
    findings = Findings()
    runs = read_runs(
        paths,
        findings,
        name=options.name,
        by_file=options.name_by_file,
        overrides=options.fields,
        lenient=options.lenient,
    )
    latencies = read_latencies(options.latency, findings) if options.latency else {}
    if options.latency is not None:
        _tell_missing_latencies(options.latency, latencies, runs, findings)
    ready = [_ranked(run, latencies.get(run.name, {}), findings) for run in runs]
    if not any(run.columns.queries for run in runs) and not findings.faults:
        findings.fault(paths[0], None, "no rows")
    with store.write(f"import runs ({len(runs)})") as tx:
        refused = _check_queries(tx, runs, findings)
        ready = [run for run in ready if not refused.issuperset(run.ranking.columns.queries)]
        names = {query for run in runs for query in run.columns.queries}
        hint = unknown_queries_hint(tx.connection, names, refused)
        snapshot_id, snapshot = snapshot_meant(tx, options.snapshot)
        tell_unknown_documents(
            tx.connection,
            snapshot_id,
            {run.source.path: run.ranking.columns.documents for run in ready},
            findings,
        )
        left_out = settle(findings, lenient=options.lenient, kept=len(ready), hint=hint)
        stand = _stand(tx, ready, snapshot_id, snapshot)
        details = [_store_run(tx, run, stand, options, refused) for run in ready]
    if tx.made_revision is not None:
        tell_no_corpus("runs", paths[0], snapshot, findings)
    total = {name: sum(int(row[name]) for row in details) for name in ("rows", "tied", "no_text")}
    return ImportReport(
        "runs",
        {
            "runs": len(details),
            "queries": len(
                {query for run in ready for query in run.ranking.columns.queries} - refused
            ),
            "rows": total["rows"],
            "tied rows": total["tied"],
            "no_text": total["no_text"],
            "left out": left_out,
            "added": sum(row["added"] == "yes" for row in details),
        },
        {
            "snapshot": snapshot,
            "role": options.role.value,
            "order": "score, then document id, both descending (trec_eval)",
        },
        tuple(findings.notices),
        tx.made_revision,
        tuple(details),
    )


def _tell_missing_latencies(
    path: Path, latencies: Mapping[str, object], runs: Sequence[RunInput], findings: Findings
) -> None:
    """Tell of runs that a table of latencies says nothing of: systems are named as runs are."""
    missing = [run.name for run in runs if run.name not in latencies]
    if missing and latencies:
        findings.notice(
            path,
            None,
            f"no latency of {', '.join(shown(name) for name in missing[:_NAMED])}"
            f"{', ...' if len(missing) > _NAMED else ''}; the systems there are "
            f"{', '.join(shown(name) for name in list(latencies)[:_NAMED])}"
            f"{', ...' if len(latencies) > _NAMED else ''}",
        )


def _ranked(run: RunInput, latencies: Mapping[str, QueryFacts], findings: Findings) -> _Ready:
    ranking = ranked(run.columns, "score")
    for twice in ranking.duplicates:
        findings.fault(
            run.path,
            twice.later_line or None,
            f"query {shown(twice.query)} has {shown(twice.document)} twice"
            + (f", on lines {twice.first_line} and {twice.later_line}" if twice.later_line else "")
            + "; --lenient keeps the better-ranked one",
            rows=1,
        )
    if ranking.contradictions:
        count = len(ranking.contradictions)
        findings.notice(
            run.path,
            None,
            f"rank and score disagree in {count} quer{'y' if count == 1 else 'ies'} (such as "
            f"{shown(ranking.contradictions[0])}): the score decides, as in trec_eval; "
            "`pool create --order rank` goes by the ranks",
        )
    return _Ready(run, ranking, {**run.facts, **latencies})


def _check_queries(
    tx: WriteTransaction, runs: Sequence[RunInput], findings: Findings
) -> frozenset[str]:
    places: dict[str, tuple[str, int | None]] = {}
    rows: Counter[str] = Counter()
    for run in runs:
        columns = run.columns
        codes, first, counts = np.unique(columns.query_codes, return_index=True, return_counts=True)
        names = [columns.queries[code] for code in codes.tolist()]
        lines = columns.lines[first].tolist()
        # Queries without a hit have no row to be found by.
        empty = dict.fromkeys(columns.queries, (run.path, None))
        places = {**empty, **first_places(names, run.path, lines), **places}
        rows.update(dict(zip(names, counts.tolist(), strict=True)))
    return check_queries(tx.connection, places, rows, findings)


@dataclass(frozen=True, slots=True)
class _Stand:
    """The snapshot that runs stand on, with the keys of all chunks that they name."""

    snapshot_id: int
    snapshot: str
    chunks: Mapping[str, int]
    with_text: np.ndarray[Any, Any]


def _stand(tx: WriteTransaction, runs: Sequence[_Ready], snapshot_id: int, snapshot: str) -> _Stand:
    names = dict.fromkeys(name for run in runs for name in run.ranking.columns.documents)
    there = table(SnapshotChunk)
    statement = sa.select(there.c.chunk_id).where(there.c.snapshot_id == snapshot_id)
    with_text = [key for (key,) in tx.connection.execute(statement)]
    return _Stand(
        snapshot_id,
        snapshot,
        intern(tx.connection, table(Chunk), list(names)),
        np.array(with_text, dtype=np.int64),
    )


def _store_run(
    tx: WriteTransaction,
    run: _Ready,
    stand: _Stand,
    options: RunOptions,
    refused: frozenset[str],
) -> dict[str, Any]:
    columns, ranking = run.ranking.columns, run.ranking
    kept = [code for code, name in enumerate(columns.queries) if name not in refused]
    digest = run.digest(options)
    of_same_name = [_RUN.c.snapshot_id == stand.snapshot_id, _RUN.c.name == run.source.name]
    found = tx.connection.execute(sa.select(_RUN.c.digest).where(*of_same_name)).scalar()
    if found is not None and found != digest:
        raise ConflictError(
            f"the run '{run.source.name}' over '{stand.snapshot}' is known with other content",
            hint="give it another name: --name NAME, or --name-from file",
        )
    chunk_keys = np.array([stand.chunks[name] for name in columns.documents], dtype=np.int64)
    has_text = np.isin(chunk_keys, stand.with_text)
    rows = np.concatenate([ranking.rows_of(code) for code in kept]) if kept else ranking.order[:0]
    if found is None:
        run_id = _insert_run(tx, run, stand.snapshot_id, digest, options)
        queries = intern(tx.connection, table(Query), [columns.queries[code] for code in kept])
        _insert_queries(tx, run, run_id, queries, kept)
        _insert_hits(tx, run, run_id, queries, chunk_keys, kept)
    return {
        "run": run.source.name,
        "queries": len(kept),
        "rows": len(rows),
        "tied": ranking.tied_rows,
        "rank_not_score": len(ranking.contradictions),
        "no_text": int((~has_text[columns.document_codes[rows]]).sum()),
        "added": "yes" if found is None else "known",
    }


def _insert_run(
    tx: WriteTransaction, run: _Ready, snapshot_id: int, digest: str, options: RunOptions
) -> int:
    configs = {f"{stage}_config": options.configs.get(stage) for stage in STAGES}
    statement = sa.insert(_RUN).values(
        snapshot_id=snapshot_id,
        name=run.source.name,
        role=options.role.value,
        digest=digest,
        revision_id=tx.revision_id,
        **configs,
    )
    return int(tx.connection.execute(statement.returning(_RUN.c.id)).scalar_one())


def _insert_queries(
    tx: WriteTransaction,
    run: _Ready,
    run_id: int,
    queries: Mapping[str, int],
    kept: Sequence[int],
) -> None:
    names = run.ranking.columns.queries

    def rows() -> Iterator[tuple[Any, ...]]:
        for code in kept:
            facts = run.facts.get(names[code], QueryFacts())
            yield (
                run_id,
                queries[names[code]],
                len(run.ranking.rows_of(code)),
                facts.candidate_depth,
                facts.latency_ms,
                facts.timed_out,
                facts.cache_state,
                facts.cost,
            )

    columns = ["run_id", "query_id", "returned", "candidate_depth", "latency_ms", "timed_out"]
    insert_rows(tx.connection, table(RunQuery), [*columns, "cache_state", "cost"], rows())


def _insert_hits(
    tx: WriteTransaction,
    run: _Ready,
    run_id: int,
    queries: Mapping[str, int],
    chunk_keys: np.ndarray[Any, Any],
    kept: Sequence[int],
) -> None:
    columns = run.ranking.columns

    def rows() -> Iterator[tuple[Any, ...]]:
        for code in kept:
            of_query = run.ranking.rows_of(code)
            query_id = queries[columns.queries[code]]
            chunks = chunk_keys[columns.document_codes[of_query]].tolist()
            scores = columns.scores[of_query].tolist() if columns.has_scores else None
            stated = columns.stated_ranks[of_query].tolist()
            for place, (chunk, rank) in enumerate(zip(chunks, stated, strict=True)):
                score = None if scores is None else scores[place]
                yield run_id, query_id, place + 1, chunk, score, None if rank < 0 else rank

    names = ["run_id", "query_id", "rank", "chunk_id", "score", "stated_rank"]
    insert_rows(tx.connection, _HIT, names, rows())
