"""Writes the demo project as files that the import commands read."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from labeler.demo.planted import planted_files
from labeler.demo.project import Chunk, DemoProject, DemoQuery, DemoRun
from labeler.errors import ConflictError
from labeler.formats.atomic import replacing
from labeler.formats.jsonl import write_jsonl
from labeler.formats.trec import write_run

__all__ = ["write_demo"]

_LATENCY = "runs/latency.tsv"
_CANDIDATE = "filtered"
_FOLDERS = ("runs", "planted")


def write_demo(directory: Path, demo: DemoProject, runs: Sequence[DemoRun]) -> list[Path]:
    """Write a corpus, queries, a rubric, and one run a retriever with its latencies.

    All bytes but those of the latencies are the same for the same demo and runs. Writing again
    into the same folder renews the runs.

    Args:
        directory: Where to write; it is made when it is missing.
        demo: What `labeler.demo.reading.read_demo` gave.
        runs: What `labeler.demo.retrievers.run_retrievers` gave.

    Returns:
        The files: corpus.jsonl, queries.jsonl, rubric.toml, gate.toml, the planted misses, one run
        each, latency.tsv.

    Raises:
        ConflictError: When the folder holds anything that isn't of this demo; nothing is written.
    """
    contents = {
        "corpus.jsonl": _jsonl(_corpus_row(chunk) for chunk in demo.chunks),
        "queries.jsonl": _jsonl(_query_row(query) for query in demo.queries),
        "rubric.toml": demo.rubric.encode("utf-8"),
        "gate.toml": _gate(demo.gate, [run.retriever for run in runs]).encode("utf-8"),
    }
    contents |= planted_files(demo)
    run_names = [f"runs/{run.retriever}.run" for run in runs]
    _refuse_other_files(directory, contents, {*run_names, _LATENCY})
    for folder in _FOLDERS:
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        _write(directory / name, content)
    for name, run in zip(run_names, runs, strict=True):
        write_run(directory / name, _run_rows(run), run.retriever)
    _write(directory / _LATENCY, _latency_table(runs))
    return [directory / name for name in (*contents, *run_names, _LATENCY)]


def _refuse_other_files(directory: Path, contents: dict[str, bytes], renewed: set[str]) -> None:
    hint = "name a folder that is empty or doesn't exist yet"
    if directory.exists() and not directory.is_dir():
        raise ConflictError(f"{directory} is a file, not a folder", hint=hint)
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if name in _FOLDERS and path.is_dir():
            continue
        if not path.is_file() or not (name in contents or name in renewed):
            raise ConflictError(f"{directory} holds something else: {name}", hint=hint)
        if name in contents and path.read_bytes() != contents[name]:
            raise ConflictError(f"{directory} holds another {name}", hint=hint)


def _gate(text: str, retrievers: Sequence[str]) -> str:
    """Name the candidate that is there: without embeddings it is the lexical one that filters."""
    if _CANDIDATE in retrievers:
        return text
    return text.replace(f'candidate = "{_CANDIDATE}"', f'candidate = "{_CANDIDATE}-lexical"')


def _corpus_row(chunk: Chunk) -> dict[str, object]:
    document = chunk.document
    return {
        "_id": chunk.id,
        "title": document.title,
        "text": chunk.text,
        "document": document.id,
        "evidence_ids": list(chunk.evidence_ids),
        "domain": document.domain,
        "product": document.product,
        "region": document.region,
        "effective_date": document.effective_date.isoformat(),
        "supersedes": document.supersedes,
        "source": document.source,
    }


def _query_row(query: DemoQuery) -> dict[str, object]:
    return {
        "_id": query.id,
        "text": query.text,
        "need": query.need,
        "domain": query.domain,
        "language": query.language,
        "slices": list(query.slices),
        "weight": query.weight,
        "origin": query.origin,
        "conditions": query.conditions.to_mapping(),
        "conversation": query.groups.conversation,
        "template": query.groups.template,
        "entity": query.groups.entity,
        "source_document": query.groups.source_document,
        "required_evidence": list(query.required_evidence),
    }


def _run_rows(run: DemoRun) -> Iterator[tuple[str, str, int, float]]:
    for query_id, hits in run.hits.items():
        for rank, (chunk_id, score) in enumerate(hits, start=1):
            yield query_id, chunk_id, rank, score


def _latency_table(runs: Sequence[DemoRun]) -> bytes:
    lines = ["query_id\tsystem\tlatency_ms"]
    lines += [
        f"{query_id}\t{run.retriever}\t{milliseconds:.3f}"
        for run in runs
        for query_id, milliseconds in run.latency_ms.items()
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _jsonl(rows: Iterable[dict[str, object]]) -> bytes:
    file = io.BytesIO()
    write_jsonl(file, rows)
    return file.getvalue()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
