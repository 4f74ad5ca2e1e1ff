from __future__ import annotations

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.records import table
from labeler.records.corpus import Chunk
from labeler.reports.number_rows import read_numbers
from labeler.store.bulk import insert_rows
from labeler.store.database import Store


@pytest.mark.parametrize("count", [0, 1, 50_000, 50_001])
def test_rows_come_as_they_are_stored(store: Store, count: int) -> None:
    chunk = table(Chunk)
    with store.work() as connection:
        names = ((number, f"c{number}") for number in range(1, count + 1))
        insert_rows(connection, chunk, ["id", "external_id"], names)
        statement = sa.select(chunk.c.id, -chunk.c.id, sa.literal(7)).order_by(chunk.c.id)
        found = read_numbers(connection, statement, np.int64)
    assert found.shape == (count, 3)
    assert found.dtype == np.int64
    keys = np.arange(1, count + 1)
    assert (found == np.stack([keys, -keys, np.full(count, 7)], axis=1)).all()


def test_numbers_with_a_fraction(store: Store) -> None:
    with store.read() as connection:
        found = read_numbers(connection, sa.select(sa.literal(0.25), sa.literal(2)), np.float64)
    assert found.tolist() == [[0.25, 2.0]]


def test_a_null_is_refused(store: Store) -> None:
    with store.read() as connection, pytest.raises(TypeError):
        read_numbers(connection, sa.select(sa.null()), np.int64)
