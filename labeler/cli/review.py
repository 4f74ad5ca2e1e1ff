"""`labeler review`: clear the queue, blind."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Self

from cyclopts import Parameter

from labeler.assessment.visible import visible
from labeler.cli.project import Database, open_project
from labeler.cli.sitting_desk import SittingDesk, check_saved, journal_of
from labeler.errors import LabelerError, UsageError
from labeler.settings import ReviewSettings, own_settings

if TYPE_CHECKING:
    from labeler.queue.evidence import EvidenceSearch, FoundPassage
    from labeler.queue.filters import QueueFilter
    from labeler.queue.sitting.orders import Answer, Order
    from labeler.store.database import Store

    ItemDesk = SittingDesk[Order, Answer]
else:
    ItemDesk = SittingDesk  # the orders are loaded with the app, not for --help

__all__ = ["OpenDesk", "OpenSearch", "review"]


def review(
    *,
    plain: Annotated[bool, Parameter(negative="")] = False,
    pool: str | None = None,
    reviewer: Annotated[str | None, Parameter(name=["--reviewer", "--as"])] = None,
    domain: str | None = None,
    language: str | None = None,
    limit: int | None = None,
    minutes: float | None = None,
    skipped: Annotated[bool, Parameter(negative="")] = False,
    questions: Annotated[bool, Parameter(negative="")] = False,
    lead: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
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
    domain
        Take items of one domain only.
    language
        Take items in one language only, by its tag; 'pt' takes 'pt-BR' too.
    limit
        End the sitting after so many votes.
    minutes
        End the sitting after so many minutes, with the item that is shown then.
    skipped
        Take items again that you skipped.
    questions
        Accept, edit or reject generated questions in place of judging passages.
    lead
        Show the lead's screens in place of a sitting: what waits, pace, agreement, disputes.
    force
        With --lead: let yourself settle disputes that you are part of.
    """
    from labeler.store.login import login_name

    name = reviewer or login_name()
    if questions and (lead or force or pool is not None or skipped):
        raise UsageError(
            "--questions goes with --domain, --language, --limit and --minutes only",
            hint="labeler review --questions --domain D",
        )
    if lead or force:
        _review_lead(name, pool=pool, lead=lead, plain=plain, force=force, db=db)
        return
    if minutes is not None and not minutes > 0:
        raise UsageError(f"--minutes is a number above 0, not {minutes:g}")
    settings = own_settings().review
    if questions:
        from labeler.cli.review_questions import AskedQuestions, review_questions

        about = AskedQuestions(name, domain, language, limit, minutes, db, settings)
        review_questions(about, plain=plain, has_screen=_has_screen())
        return
    asked = _Asked(name, pool, domain, language, limit, minutes, skipped, db, settings)
    if plain:
        _review_lines(asked)
    else:
        _review_screen(asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line and the settings ask for."""

    reviewer: str
    pool: str | None
    domain: str | None
    language: str | None
    limit: int | None
    minutes: float | None
    skipped: bool
    db: str | None
    settings: ReviewSettings


def _review_lines(asked: _Asked) -> None:
    from labeler.cli.review_lines import review_lines
    from labeler.queue.sitting.session import ReviewSession

    store, only, told = _open(asked.db, asked.pool, asked.domain, asked.language)
    if told:
        print(visible(told))
    words = {"pool": asked.pool, "domain": asked.domain, "language": asked.language}
    with store:
        session = ReviewSession(
            store,
            asked.reviewer,
            only,
            asked.skipped,
            limit=asked.limit,
            minutes=asked.minutes,
            reveal=asked.settings.reveal,
            repeats=asked.settings.repeats,
            journal=journal_of(store, asked.reviewer),
        )
        filters = [f"{name} {value}" for name, value in words.items() if value is not None]
        try:
            review_lines(session, sys.stdin, sys.stdout, filters=filters)
        finally:
            session.close()


def _open(
    db: str | None, pool: str | None, domain: str | None, language: str | None
) -> tuple[Store, QueueFilter, str]:
    """Open the project; give it, what a sitting takes, and what was left of earlier sittings."""
    from labeler.queue.filters import queue_filter
    from labeler.queue.sitting.replay import replay_journals

    store = open_project(db)
    try:
        with store.read() as connection:
            only = queue_filter(connection, pool=pool, domain=domain, language=language)
        return store, only, replay_journals(store).describe()
    except LabelerError:
        store.close()
        raise


def _is_in_browser() -> bool:
    """Tell whether `labeler serve` started this process: the screen is then at a websocket."""
    return os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def _has_screen() -> bool:
    """Tell whether this is a terminal that can place its cursor: the app would hang elsewhere."""
    from rich.console import Console

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return _is_in_browser() or (at_terminal and not Console().is_dumb_terminal)


def _review_screen(asked: _Asked) -> None:
    if not _has_screen():
        raise UsageError(
            "the review app needs a terminal that can place its cursor",
            hint="line by line: labeler review --plain",
        )
    from tui.app import Seat, run_review
    from tui.orphan import end_with_parent

    if _is_in_browser():
        end_with_parent()

    def open_desk() -> OpenDesk:
        return OpenDesk(
            asked.db,
            asked.reviewer,
            asked.pool,
            with_skipped=asked.skipped,
            domain=asked.domain,
            language=asked.language,
            repeats=asked.settings.repeats,
        )

    seat = Seat(
        asked.reviewer,
        asked.pool,
        asked.limit,
        minutes=asked.minutes,
        domain=asked.domain,
        language=asked.language,
        reveal=asked.settings.reveal,
        keys=asked.settings.keys,
    )
    with OpenSearch(asked.db) as find:
        tally, kept, lost = run_review(seat, open_desk, find)
    print(tally.describe())
    check_saved(kept, lost)


def _review_lead(
    name: str, *, pool: str | None, lead: bool, plain: bool, force: bool, db: str | None
) -> None:
    if not lead:
        raise UsageError("--force goes with --lead", hint="labeler review --lead --force")
    if plain or not _has_screen():
        raise UsageError(
            "the lead's screens need a terminal that can place its cursor",
            hint="as text: labeler queue, labeler report agreement, labeler pool show POOL",
        )
    from labeler.cli.sealing import open_shown, tell_seals
    from tui.lead import LeadSeat, run_lead

    with open_project(db) as store:
        tell_seals(open_shown(store, "review --lead", pool=pool, actor=name))
    seat = LeadSeat(name, pool, force, keys=own_settings().review.keys)
    run_lead(seat, lambda: _open_for_lead(db))


def _open_for_lead(db: str | None) -> Store:
    """Open the project, and store what a blind vote left that broke off."""
    from labeler.queue.sitting.replay import replay_journals

    store = open_project(db)
    try:
        replay_journals(store)
    except LabelerError:
        store.close()
        raise
    return store


class OpenSearch:
    """A search over snapshots with a connection of its own, made when it is first asked."""

    def __init__(self, db: str | None) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._search: EvidenceSearch | None = None

    def __call__(self, item_id: int, words: str) -> Sequence[FoundPassage]:
        """Search the snapshot of an item; from any thread."""
        from labeler.queue.evidence import EvidenceSearch

        with self._lock:
            if self._search is None:
                self._search = EvidenceSearch(open_project(self._db))
        return self._search.find(item_id, words)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._search is not None:
            self._search.store.close()


class OpenDesk(ItemDesk):
    """A place at the queue together with its database and journal, for the app's writer thread."""

    def __init__(
        self,
        db: str | None,
        reviewer: str,
        pool: str | None,
        *,
        with_skipped: bool,
        domain: str | None = None,
        language: str | None = None,
        repeats: float = 0.0,
    ) -> None:
        from labeler.queue.sitting.desk import Desk

        store, only, told = _open(db, pool, domain, language)
        desk = Desk(store, reviewer, only, with_skipped, repeats=repeats)
        super().__init__(store, desk, journal_of(store, reviewer), told)
