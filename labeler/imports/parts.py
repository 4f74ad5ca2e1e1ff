"""The files that are meant by a path: itself, or a part of a folder in the layout of BEIR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from labeler.formats.beir import beir_parts
from labeler.formats.findings import Findings

__all__ = ["files_of"]


def files_of(
    paths: Sequence[Path], part: Literal["corpus", "queries"], findings: Findings
) -> list[Path]:
    """List the files; a folder stands for its corpus.jsonl or its queries.jsonl."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        parts = beir_parts(path, Findings())
        found = None if parts is None else getattr(parts, part)
        if found is None:
            findings.fault(path, None, f"the folder holds no {part}.jsonl")
        else:
            files.append(found)
    return files
