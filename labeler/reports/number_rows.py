"""Rows of numbers out of the store as an array, part by part."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

__all__ = ["read_numbers"]

_PART = 50_000

Number = TypeVar("Number", np.int64, np.float64)


def read_numbers(
    connection: Connection, statement: Select[*tuple[Any, ...]], kind: type[Number]
) -> NDArray[Number]:
    """Read rows that hold numbers alone, none of them null.

    A million rows of five numbers take 40 MB; as Python's own values they would take ten times
    that.

    Args:
        connection: A transaction's connection.
        statement: What to read.
        kind: The type of every number.

    Returns:
        Shape (rows, columns).
    """
    result = connection.execute(statement)
    width = len(result.keys())
    # Not by np.array: that asks each row for a dozen attributes which it doesn't have.
    parts = [
        np.fromiter(chain.from_iterable(part), dtype=kind, count=width * len(part))
        for part in result.partitions(_PART)
    ]
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=kind)
    return flat.reshape(-1, width)
