"""Candidates with the state of each: as JSON lines or Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection

from labeler.exports.assessed import AssessedItem, StoredJudgment, read_assessed
from labeler.exports.scope import Scope
from labeler.formats.atomic import replacing
from labeler.formats.jsonl import write_jsonl
from labeler.formats.parquet import write_parquet
from labeler.labels import SHIPPED_SCALES, Scale

__all__ = ["export_jsonl", "export_parquet"]

_COLUMNS: Mapping[str, type] = {
    "query_id": str,
    "corpus_snapshot": str,
    "evidence_id": str,
    "label": str,
    "state": str,
    "basis": str,
    "policy": str,
    "scale": str,
    "code": int,
    "systems": str,
    "query": str,
    "passage": str,
}


def export_jsonl(
    connection: Connection,
    path: Path,
    scope: Scope,
    *,
    only_people: bool = False,
    with_text: bool = False,
) -> Mapping[str, int]:
    """Write one object a candidate; an item that nobody judged has a null assessment.

    Returns:
        How many candidates were written, by label.
    """
    items = read_assessed(connection, scope, only_people=only_people)
    with replacing(path) as file:
        write_jsonl(file, _objects(items, scope, with_text=with_text))
    return Counter(item.word for item in items)


def _objects(
    items: Sequence[AssessedItem], scope: Scope, *, with_text: bool
) -> Iterator[dict[str, object]]:
    for item in items:
        texts = {"query": item.query_text, "passage": item.passage} if with_text else {}
        yield {
            "queryId": item.query,
            "corpusSnapshot": scope.snapshot,
            "evidenceId": item.evidence,
            "label": item.word,
            "judgmentPool": [
                {"retriever": name, "rank": rank} for name, rank in item.ranks.items()
            ],
            "assessment": _assessment(item),
            **texts,
        }


def _assessment(item: AssessedItem) -> dict[str, object] | None:
    """Say on what a label stands; also for an item that was judged and not decided."""
    if item.label is None and not item.judgments:
        return None
    used = [item.scale, *(judgment.scale for judgment in item.judgments)]
    names = _scale_names([scale for scale in used if scale is not None])
    own = {
        names[scale.digest]: scale.to_dict()
        for scale in used
        if scale is not None and names[scale.digest] not in SHIPPED_SCALES
    }
    return {
        "basis": None if item.label is None else item.label.basis.value,
        "policy": item.policy,
        "scale": None if item.scale is None else names[item.scale.digest],
        "code": None if item.level is None else item.level.code,
        "carried": item.label is not None and item.label.carried_from is not None,
        "judgments": [_judgment(judgment, names) for judgment in item.judgments],
        **({"scales": own} if own else {}),
    }


def _scale_names(scales: Sequence[Scale]) -> dict[str, str]:
    """Name scales by their names, and those that would be taken for others by their digests too."""
    meant = {name: scale.digest for name, scale in SHIPPED_SCALES.items()}
    return {
        scale.digest: scale.name
        if meant.setdefault(scale.name, scale.digest) == scale.digest
        else f"{scale.name} {scale.digest[:12]}"
        for scale in scales
    }


def _judgment(judgment: StoredJudgment, names: Mapping[str, str]) -> dict[str, object]:
    return {
        "assessor": judgment.assessor,
        "kind": judgment.kind,
        "outcome": judgment.outcome,
        "scale": None if judgment.scale is None else names[judgment.scale.digest],
        "code": judgment.code,
        "confidence": judgment.confidence,
        "at": None if judgment.at is None else judgment.at.isoformat(),
    }


def export_parquet(
    connection: Connection, path: Path, scope: Scope, *, only_people: bool = False
) -> Mapping[str, int]:
    """Write one row a candidate, with the texts; what is absent is null.

    Returns:
        How many candidates were written, by label.

    Raises:
        MissingExtraError: When the extra ``parquet`` is not installed.
    """
    items = read_assessed(connection, scope, only_people=only_people)
    rows = [
        {
            "query_id": item.query,
            "corpus_snapshot": scope.snapshot,
            "evidence_id": item.evidence,
            "label": item.word,
            "state": item.state.value,
            "basis": None if item.label is None else item.label.basis.value,
            "policy": item.policy,
            "scale": None if item.scale is None else item.scale.name,
            "code": None if item.level is None else item.level.code,
            "systems": ";".join(f"{name}:{rank}" for name, rank in item.ranks.items()) or None,
            "query": item.query_text,
            "passage": item.passage,
        }
        for item in items
    ]
    with replacing(path) as file:
        write_parquet(file, rows, _COLUMNS)
    return Counter(item.word for item in items)
