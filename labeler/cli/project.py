"""Opening the project's database, as every command does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from labeler.store.database import Store

__all__ = ["Database", "JsonOutput", "open_project"]

Database = Annotated[
    str | None,
    Parameter(
        name="--db",
        help="The database: a file or a postgresql:// address. "
        "Else LABELER_DB, else 'db' in labeler.toml, else queue.db.",
    ),
]

JsonOutput = Annotated[
    bool,
    Parameter(name="--json", negative="", help="Print one JSON object in place of the table."),
]


def open_project(db: str | None, *, create: bool = False) -> Store:
    """Open the database that the option, the environment or the settings name."""
    from labeler.store.database import network_filesystem_allowed, open_store
    from labeler.store.location import find_location

    return open_store(
        find_location(db, os.environ, Path.cwd()),
        create=create,
        allow_network_filesystem=network_filesystem_allowed(),
    )
