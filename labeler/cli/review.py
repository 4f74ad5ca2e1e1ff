"""`labeler review`: clear the queue, blind."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from labeler.cli.project import Database, open_project


def review(
    *,
    plain: Annotated[bool, Parameter(negative="")] = False,
    pool: str | None = None,
    reviewer: str | None = None,
    limit: int | None = None,
    skipped: Annotated[bool, Parameter(negative="")] = False,
    db: Database = None,
) -> None:
    """Judge one blind item after the other; a vote is on disk before the next item shows.

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
    from labeler.errors import UsageError
    from labeler.queue.counts import pool_key
    from labeler.queue.session import ReviewSession
    from labeler.store.database import login_name

    if not plain:
        raise UsageError(
            "this version reviews line by line", hint="add --plain: labeler review --plain"
        )
    from labeler.cli.review_lines import review_lines

    with open_project(db) as store:
        with store.read() as connection:
            key = pool_key(connection, pool) if pool is not None else None
        session = ReviewSession(store, reviewer or login_name(), pool_id=key, with_skipped=skipped)
        try:
            review_lines(session, sys.stdin, sys.stdout, limit=limit)
        finally:
            session.close()
