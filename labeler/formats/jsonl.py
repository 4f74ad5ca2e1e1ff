"""Write JSON lines that strict parsers read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import BinaryIO

__all__ = ["write_jsonl"]


def write_jsonl(file: BinaryIO, rows: Iterable[Mapping[str, object]]) -> int:
    """Write one compact object a line, in UTF-8, with keys in the order given.

    Texts must hold no lone surrogates: they are cleaned when they are imported.

    Returns:
        How many rows were written.

    Raises:
        ValueError: When a value is NaN or infinite, which JSON can't say.
    """
    count = 0
    for row in rows:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        file.write(line.encode("utf-8") + b"\n")
        count += 1
    return count
