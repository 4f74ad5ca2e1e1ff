"""The lead's page of progress tells what each pool takes until nothing waits."""

from __future__ import annotations

from pathlib import Path

from labeler.calibration.policies import NINE_OF_TEN
from labeler.queue.route import route_pool
from labeler.store.database import Store
from tests.scored import judged_pool, score
from tui.lead_pages import plot_of, table_of
from tui.lead_views import Tab, read_view


def test_votes_and_audit_stand_on_the_page_once_scores_are_calibrated(
    sqlite_store: Store, own_folder: Path
) -> None:
    items = judged_pool(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    before = read_view(sqlite_store, Tab.PROGRESS, lead="lea", pool="p")
    score(sqlite_store, items, lambda place: 0.999 - 0.3 * (place / 400) ** 6)
    after = read_view(sqlite_store, Tab.PROGRESS, lead="lea", pool="p")
    for page in (plot_of, table_of):
        assert "until nothing waits" not in str(page(before, 80))
        told = str(page(after, 80))
        assert "p, until nothing waits:" in told
        assert "of them for the audit" in told
        assert "nine-of-ten: 90% of each grade's accepted labels agree with people" in told
        assert "nine times in ten" in told
