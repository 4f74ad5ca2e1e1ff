"""Runs and judgements that come as one JSON object a file.

Shapes of a run, by query id:

- ``{"q1": {"d1": 3.0, "d2": 1.5}}``: documents with scores (ranx, pytrec_eval);
- ``{"q1": ["d1", "d2"]}``: documents in order, without scores;
- ``{"q1": [["d1", 3.0], ...]}`` and ``{"q1": [{"docid": "d1", "score": 3.0}, ...]}``.

A query with nothing found stays a query without rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from labeler.formats.fields import HITS, as_id
from labeler.formats.findings import Findings, shown
from labeler.formats.run_columns import RunColumns
from labeler.formats.source import read_bytes

__all__ = ["read_qrels_json", "read_run_json"]

_WANTED = (
    'wanted is {"query": {"document": score}} or {"query": ["document", ...]};'
    " rows with a query and a document each are read from .jsonl, .csv or .tsv,"
    " and TREC runs have 6 columns (query, iteration, document, rank, score, tag)"
)


class _RepeatedKeyError(ValueError):
    """A JSON object that says one key twice."""


def read_run_json(path: Path, findings: Findings) -> RunColumns | None:
    """Read a run in one of the shapes above; the file's name without its ending is the tag.

    Scores are NaN when the file has none; ranks are the places in a list, from 1, and absent
    (-1) for ``{document: score}``. Lines are 0.

    Returns:
        The columns, or None after a fault.
    """
    content = _load_object(path, findings, _WANTED)
    if content is None:
        return None
    queries: list[str] = []
    codes: dict[str, int] = {}
    rows: list[tuple[int, int, float, int]] = []
    before = findings.count_faults(path)
    for query, hits in content.items():
        for place, (document, score) in enumerate(_hits(path, query, hits, findings), 1):
            code = codes.setdefault(document, len(codes))
            rank = place if isinstance(hits, list) else -1
            rows.append((len(queries), code, score, rank))
        queries.append(query)
    scores = np.array([row[2] for row in rows], dtype=np.float64)
    missing = int(np.isnan(scores).sum())
    if 0 < missing < len(rows):
        findings.fault(path, None, f"{missing} of {len(rows)} hits have no score: all or none may")
    if findings.count_faults(path) != before:
        return None
    name = path.name.removesuffix(".gz")
    return RunColumns(
        path=str(path),
        tags=(name.removesuffix(".json"),),
        queries=queries,
        documents=list(codes),
        query_codes=np.array([row[0] for row in rows], dtype=np.int32),
        document_codes=np.array([row[1] for row in rows], dtype=np.int32),
        scores=scores,
        stated_ranks=np.array([row[3] for row in rows], dtype=np.int32),
        lines=np.zeros(len(rows), dtype=np.int64),
    )


def read_qrels_json(path: Path, findings: Findings) -> list[tuple[str, str, str]] | None:
    """Read ``{query: {document: grade}}`` as query, document and grade (text); None if faulty."""
    wanted = 'wanted is {"query": {"document": grade}}, or qrels with 4 columns'
    content = _load_object(path, findings, wanted)
    if content is None:
        return None
    before = findings.count_faults(path)
    rows: list[tuple[str, str, str]] = []
    for query, grades in content.items():
        if not isinstance(grades, dict):
            findings.fault(path, None, f"query {shown(query)} holds no object; {wanted}")
            break
        for document, grade in grades.items():
            if isinstance(grade, bool) or not isinstance(grade, str | int | float):
                findings.fault(
                    path, None, f"query {shown(query)}, document {shown(document)}: the grade"
                    f" {shown(grade)} is neither a number nor a text",
                )  # fmt: skip
            elif _sound_id(path, query, findings) and _sound_id(path, document, findings):
                rows.append((query, document, str(grade)))
    return rows if findings.count_faults(path) == before else None


def _load_object(path: Path, findings: Findings, wanted: str) -> dict[str, object] | None:
    content = read_bytes(path, findings)
    if content is None:
        return None
    line: int | None = None
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_without_repeats)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8: byte 0x{content[error.start]:02x}; save the file as UTF-8"
    except json.JSONDecodeError as error:
        rows = error.msg == "Extra data"
        line = error.lineno
        problem = f"several JSON values; {wanted}" if rows else f"not JSON: {error.msg}; {wanted}"
    except RecursionError:
        problem = f"nested too deeply; {wanted}"
    except ValueError as error:
        problem = str(error)
    else:
        if isinstance(value, dict):
            return value
        problem = f"the JSON is no object; {wanted}"
    findings.fault(path, line, problem)
    return None


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in value if keys.count(key) > 1)
        raise _RepeatedKeyError(f"the key {shown(twice)} comes twice in one JSON object")
    return value


def _hits(path: Path, query: str, hits: object, findings: Findings) -> Iterator[tuple[str, float]]:
    """Go through the hits of one query; NaN where there is no score."""
    if not _sound_id(path, query, findings):
        return
    if isinstance(hits, dict):
        pairs: list[tuple[object, object]] = list(hits.items())
    elif isinstance(hits, list):
        pairs = [_pair(hit) for hit in hits]
    else:
        findings.fault(path, None, f"query {shown(query)} holds neither object nor list; {_WANTED}")
        return
    scored = isinstance(hits, dict)
    for found, score in pairs:
        document = as_id(found)
        if document is None:
            findings.fault(path, None, f"query {shown(query)}: a hit has no document id; {_WANTED}")
            return
        if score is None and not scored:
            yield document, math.nan
        elif _is_finite(score):
            yield document, float(score)  # type: ignore[arg-type]
        else:
            findings.fault(
                path, None, f"query {shown(query)}, document {shown(document)}: the score"
                f" {shown(score)} is no finite number",
            )  # fmt: skip


def _pair(hit: object) -> tuple[object, object]:
    """Take document and score out of one entry of a list."""
    if isinstance(hit, list):
        document, score = hit if len(hit) == len(("document", "score")) else (None, None)
        return document, score
    if isinstance(hit, dict):
        names = (*HITS.names["document"], "_id", "id")
        document = next((hit[name] for name in names if hit.get(name) is not None), None)
        return document, hit.get("score")
    return hit, None


def _is_finite(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return False
    try:
        return math.isfinite(score)
    except OverflowError:
        return False


def _sound_id(path: Path, value: str, findings: Findings) -> bool:
    if as_id(value) is not None:
        return True
    findings.fault(path, None, f"the id {shown(value)} is empty or holds NUL or a lone surrogate")
    return False
