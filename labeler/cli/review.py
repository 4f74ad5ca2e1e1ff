"""`labeler review`: clear the queue, blind."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.project import Database, open_project

if TYPE_CHECKING:
    from labeler.queue.sitting.orders import Answer, Order

__all__ = ["OpenDesk", "review"]


def review(
    *,
    plain: Annotated[bool, Parameter(negative="")] = False,
    pool: str | None = None,
    reviewer: str | None = None,
    limit: int | None = None,
    skipped: Annotated[bool, Parameter(negative="")] = False,
    db: Database = None,
) -> None:
    """Judge one blind item after the other; what is shown as saved is on disk.

    Parameters
    ----------
    plain
        Work line by line, on any terminal, with a screen reader or from a pipe.
    pool
        Take items of one pool only.
    reviewer
        Who you are; your login name by default.
    limit
        End the sitting after so many votes.
    skipped
        Take items again that you skipped.
    """
    from labeler.store.database import login_name

    name = reviewer or login_name()
    if plain:
        _review_lines(name, pool=pool, limit=limit, skipped=skipped, db=db)
    else:
        _review_screen(name, pool=pool, limit=limit, skipped=skipped, db=db)


def _review_lines(
    reviewer: str, *, pool: str | None, limit: int | None, skipped: bool, db: str | None
) -> None:
    from labeler.cli.review_lines import review_lines
    from labeler.queue.sitting.session import ReviewSession
    from labeler.store.registry import pool_named

    with open_project(db) as store:
        with store.read() as connection:
            key = int(pool_named(connection, pool).id) if pool is not None else None
        session = ReviewSession(store, reviewer, pool_id=key, with_skipped=skipped)
        try:
            review_lines(session, sys.stdin, sys.stdout, limit=limit)
        finally:
            session.close()


def _review_screen(
    reviewer: str, *, pool: str | None, limit: int | None, skipped: bool, db: str | None
) -> None:
    from labeler.errors import StoreError, UsageError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the review app needs a terminal", hint="line by line: labeler review --plain"
        )
    from tui.app import Seat, run_review

    def open_desk() -> OpenDesk:
        return OpenDesk(db, reviewer, pool, with_skipped=skipped)

    tally, lost = run_review(Seat(reviewer, pool, limit), open_desk)
    print(tally.describe())
    if lost:
        raise StoreError(f"{lost} events were not saved: the database was busy")


class OpenDesk:
    """A place at the queue together with its database, for the app's writer thread."""

    def __init__(
        self, db: str | None, reviewer: str, pool: str | None, *, with_skipped: bool
    ) -> None:
        from labeler.queue.sitting.desk import Desk
        from labeler.store.registry import pool_named

        self._store = open_project(db)
        with self._store.read() as connection:
            key = int(pool_named(connection, pool).id) if pool is not None else None
        self._desk = Desk(self._store, reviewer, key, with_skipped)

    def perform(self, order: Order) -> Answer:
        """Do what a sitting asks for."""
        return self._desk.perform(order)

    def close(self) -> None:
        """Give back what is held, and close the database."""
        self._desk.close()
        self._store.close()
