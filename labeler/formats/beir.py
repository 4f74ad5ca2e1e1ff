"""A collection in the layout of BEIR: which parts a folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labeler.formats.findings import Findings

__all__ = ["BeirParts", "beir_parts"]

_ENDINGS = (".jsonl", ".jsonl.gz")
_QRELS_ENDINGS = (".tsv", ".tsv.gz")


@dataclass(frozen=True, slots=True)
class BeirParts:
    """The files of one collection.

    Attributes:
        corpus: ``corpus.jsonl``, or None.
        queries: ``queries.jsonl``, or None.
        qrels: Split name (``train``, ``dev``, ``test`` ...) -> ``qrels/<name>.tsv``, by name. A
            split never mixes with another.
    """

    corpus: Path | None
    queries: Path | None
    qrels: Mapping[str, Path]


def beir_parts(folder: Path, findings: Findings) -> BeirParts | None:
    """Look which parts of a collection stand in a folder; None after a fault.

    ``read_records`` reads the corpus and the queries, ``read_qrels`` the splits. What is missing
    is told; only a folder with none of the parts is a fault.
    """
    if not folder.is_dir():
        problem = "this is a file; a folder is wanted" if folder.exists() else "no such folder"
        findings.fault(folder, None, problem)
        return None
    corpus, queries = _first(folder, "corpus"), _first(folder, "queries")
    qrels: dict[str, Path] = {}
    for file in sorted((folder / "qrels").glob("*")):
        ending = next((end for end in _QRELS_ENDINGS if file.name.endswith(end)), None)
        if ending is None or not file.is_file():
            continue
        split = file.name.removesuffix(ending)
        if split in qrels:
            findings.fault(file, None, f"the split '{split}' is also in {qrels[split].name}")
            return None
        qrels[split] = file
    if corpus is None and queries is None and not qrels:
        findings.fault(
            folder, None, "no BEIR collection: corpus.jsonl, queries.jsonl and qrels/*.tsv are"
            " all missing",
        )  # fmt: skip
        return None
    for name, part in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels/", qrels)):
        if not part:
            findings.notice(folder, None, f"{name} is missing")
    return BeirParts(corpus, queries, qrels)


def _first(folder: Path, name: str) -> Path | None:
    paths = (folder / f"{name}{ending}" for ending in _ENDINGS)
    return next((path for path in paths if path.is_file()), None)
