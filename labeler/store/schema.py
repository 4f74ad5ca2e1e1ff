"""The version of the schema: migrations applied on open, and the guards made again after each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import BrokenDatabaseError, NewerDatabaseError
from labeler.store.guards import install_guards

__all__ = ["HEAD", "bring_up_to_date", "schema_version"]

HEAD: Final = "0008"
"""The newest migration; a test compares it with the folder."""

KNOWN: Final = tuple(f"{number:04}" for number in range(1, int(HEAD) + 1))

Transaction = Callable[[], AbstractContextManager[Connection]]


def schema_version(connection: Connection) -> str | None:
    """Tell the version of the schema, or None for an empty database.

    Raises:
        BrokenDatabaseError: When there are tables, but none of them tells a version.
    """
    inspector = sa.inspect(connection)
    names = inspector.get_table_names()
    if "alembic_version" in names:
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
        if found is not None:
            return str(found)
        names.remove("alembic_version")
    if names:
        raise BrokenDatabaseError(
            f"not a Labeler database: it holds {', '.join(sorted(names)[:3])} and no version",
            hint="give --db a file of its own",
        )
    return None


def bring_up_to_date(read: Transaction, work: Transaction, shown: str) -> None:
    """Apply the migrations that a database lacks.

    Raises:
        NewerDatabaseError: When its version isn't one that this program knows.
        BrokenDatabaseError: When it isn't a Labeler database.
    """
    with read() as connection:
        version = schema_version(connection)
    if version == HEAD:
        return
    if version is not None and version not in KNOWN:
        raise NewerDatabaseError(
            f"{shown} was written by a later version of Labeler (schema {version}, this one "
            f"knows {HEAD})",
            hint="pip install --upgrade labeler",
        )
    with work() as connection:
        # Another process may have migrated while this one waited for the lock.
        if schema_version(connection) != HEAD:
            _migrate(connection)
            install_guards(connection)


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "labeler.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
