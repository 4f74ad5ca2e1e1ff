"""Fixtures that all tests share: a user's folder of their own, and databases of both kinds."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.cluster import Cluster, find_binaries, running_cluster
from tests.nursery import Nursery, running_nursery
from tests.quick_store import quick_stores
from tests.ready_workers import forking, running_server

_MEMORY = Path("/dev/shm")  # noqa: S108 - tests make folders of their own there
_ROOM = 4 * 2**30


def pytest_configure() -> None:
    """Keep temporary files in memory where there is room: a database waits for the disk a lot."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_MEMORY).free > _ROOM:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run three processes for two cores: a test waits a third of its time for others."""
    return max(1, 3 * (os.cpu_count() or 1) // 2)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in an empty folder, without the user's settings."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("DB", "ALLOW_NETWORK_FS", "REVIEW_REVEAL", "REVIEW_REPEATS"):
        monkeypatch.delenv(f"LABELER_{name}", raising=False)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _quick_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Migrate and compile once, not in each test that makes a database."""
    with quick_stores(tmp_path_factory.mktemp("migrated")):
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL, or a skip that says why there is none."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed on this machine")
    with running_cluster(binaries) as running:
        yield running


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Starts `labeler` processes that have loaded their libraries already."""
    with running_nursery(tmp_path_factory.mktemp("nursery")) as running:
        yield running


@pytest.fixture(scope="session")
def _worker_server() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.fixture
def ready_workers(_worker_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the worker of `labeler generate` be forked from a process that has it loaded."""
    monkeypatch.setattr("labeler.synthesis.process.subprocess", forking(_worker_server))


class Ticking:
    """A clock that goes on by one second each time it is read, and by more when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Ticking:
    """A clock that tests control."""
    return Ticking()


BOTH_KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(params=BOTH_KINDS)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Location]:
    """Where a project that holds nothing yet is, in a database of each kind."""
    if request.param == "sqlite":
        yield Location(str(tmp_path / "queue.db"))
        return
    running: Cluster = request.getfixturevalue("cluster")
    address = running.new_database()
    yield Location(address)
    running.drop(address)


@pytest.fixture(params=BOTH_KINDS)
def empty_location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """Where no table is yet, in a database of each kind."""
    if request.param == "sqlite":
        return Location(str(tmp_path / "empty.db"))
    running: Cluster = request.getfixturevalue("cluster")
    return Location(running.empty_database())


@pytest.fixture
def store(location: Location, clock: Ticking) -> Iterator[Store]:
    """An open database of each kind."""
    with open_store(location, create=True, clock=clock) as opened:
        yield opened


@pytest.fixture
def sqlite_store(tmp_path: Path, clock: Ticking) -> Iterator[Store]:
    """An open SQLite database, for what doesn't depend on the database."""
    with open_store(Location(str(tmp_path / "queue.db")), create=True, clock=clock) as opened:
        yield opened


Command = Callable[..., int]
