"""A small project whose pool waits for people, on disk, for the app to open by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.calibration.policies import UNCALIBRATED
from labeler.queue.route import route_pool
from labeler.store.database import Store
from tests.small import pooled


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where `sqlite_store` keeps its database."""
    return tmp_path / "queue.db"


@pytest.fixture
def queue(sqlite_store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait."""
    pooled(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", UNCALIBRATED)
    return sqlite_store
