"""Where the database is: a SQLite file or a PostgreSQL address."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labeler.errors import NetworkFilesystemError, UsageError
from labeler.settings import read_settings

__all__ = ["DEFAULT_NAME", "Location", "find_location", "refuse_network_filesystem"]

DEFAULT_NAME = "queue.db"

_NETWORK_FILESYSTEMS = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb2",
        "smb3",
        "smbfs",
        "virtiofs",
    }
)


@dataclass(frozen=True, slots=True)
class Location:
    """A database's place.

    Attributes:
        address: A file path, or a ``postgresql://`` address.
    """

    address: str

    def __post_init__(self) -> None:
        if "://" in self.address and not self.is_postgresql:
            raise UsageError(
                f"'{self.shown}' is neither a file nor a postgresql:// address",
                hint="give --db a path such as queue.db, or postgresql://user@host/name",
            )

    @property
    def is_postgresql(self) -> bool:
        """Whether a PostgreSQL server is meant."""
        return re.match(r"postgres(ql)?(\+\w+)?://", self.address) is not None

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self.address)

    @property
    def url(self) -> str:
        """The address as SQLAlchemy takes it."""
        if self.is_postgresql:
            return "postgresql+psycopg://" + self.address.split("://", 1)[1]
        return f"sqlite:///{self.path.absolute()}"

    @property
    def shown(self) -> str:
        """The address without its password, for messages."""
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", self.address)


def find_location(given: str | None, environment: Mapping[str, str], folder: Path) -> Location:
    """Decide which database a command works on.

    The option comes first, then ``LABELER_DB``, then ``db`` in ``labeler.toml`` (a relative path
    there is relative to that file), then ``queue.db`` in the folder.

    Raises:
        UsageError: When ``labeler.toml`` doesn't hold settings, or the address isn't one.
    """
    if given:
        return Location(given)
    if environment.get("LABELER_DB"):
        return Location(environment["LABELER_DB"])
    address = read_settings(folder, environment).db
    if address is not None:
        return Location(address if "://" in address else str(folder / address))
    return Location(str(folder / DEFAULT_NAME))


def _filesystem_of(path: Path, mounts: str) -> str | None:
    """Name the type of the file system that holds a path, from the text of a mountinfo file."""
    target = os.path.realpath(path)
    best, kind = "", None
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, after = left.split(" "), right.split(" ")
        if len(fields) < 5 or not after[0]:  # noqa: PLR2004 - see proc(5): the mount point is 5th
            continue
        point = fields[4].replace("\\040", " ")
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, after[0]
    return kind


def refuse_network_filesystem(path: Path, mounts: str) -> None:
    """Refuse a SQLite file on a network file system, where write-ahead logging isn't safe.

    Args:
        path: The database file, which need not exist yet.
        mounts: The text of ``/proc/self/mountinfo``; empty where the system has none.

    Raises:
        NetworkFilesystemError: When the file lies on one.
    """
    kind = _filesystem_of(path, mounts)
    if kind in _NETWORK_FILESYSTEMS:
        raise NetworkFilesystemError(
            f"{path} lies on a network file system ({kind}), where SQLite's locks can't be trusted",
            hint="use a local file or postgresql://, or set LABELER_ALLOW_NETWORK_FS=1 "
            "when just one machine writes",
        )
