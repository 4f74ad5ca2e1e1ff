import json
from dataclasses import replace
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import NotFoundError
from labeler.reports.gate import run_gate
from labeler.reports.gate_file import parse_gate
from labeler.reports.report_log import ReportValue, log_report
from labeler.reports.trend import Trend, read_trends, trend_page
from labeler.store.database import Store
from tests.gated import GATE, QUERIES, fill_gated, graded, label, write_gate


def _trends(store: Store, **more: str) -> list[Trend]:
    with store.read() as connection:
        return read_trends(connection, **more)


@pytest.fixture
def gated(store: Store, own_folder: Path) -> Store:
    """A gate that was run three times: on some labels, on more, and on another's labels too."""
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20}))
    run_gate(store, parse_gate(write_gate(own_folder)))
    more = {f"{query}-c": 2 for query in QUERIES[:8]}
    label(store, own_folder, more, name="more")
    run_gate(store, parse_gate(write_gate(own_folder)))
    automatic = GATE.replace('pool = "p"', 'pool = "p"\nlabels = "human+auto"')
    run_gate(store, parse_gate(write_gate(own_folder, automatic)))
    return store


def test_values_come_in_their_order_with_what_they_stood_on(gated: Store) -> None:
    human, both = _trends(gated, metric="P@2")
    assert (human.metric, both.metric) == ("P@2[unknown=0][human+auto]", "P@2[unknown=0][human]")
    assert [len(one.points) for one in (human, both)] == [1, 2]
    first, second = both.points
    assert first.value == 0.5
    assert first.revision < second.revision
    assert second.changed == ()
    assert (first.command, first.pool, first.snapshot) == ("gate", "p", "s")


def test_a_rubric_or_scale_that_changed_breaks_the_line(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    before: dict[str, object] = {"snapshot": "s", "labels": "human", "revision": 1, "rubric": "a"}
    values = [ReportValue("new", "P@2[unknown=0][human]", 0.5, 20)]
    now = before | {"rubric": "b", "scales": ["native"]}
    for conditions in (before, before, now):
        log_report(store, "report recall", conditions, result={}, values=values)
    ((_, same, other),) = [one.points for one in _trends(store)]
    assert same.changed == ()
    # Which scale the first ones stood on was not logged, so that nothing can be said of it.
    assert other.changed == ("rubric: a before, b now",)


def test_nothing_like_it_is_told(gated: Store) -> None:
    with pytest.raises(NotFoundError):
        _trends(gated, metric="P")
    with pytest.raises(NotFoundError):
        _trends(gated, run="old")


def test_the_command_prints_a_table_and_writes_a_page(
    gated: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "trend", "--metric", "P@2", "--db", gated.location.address]
    assert run([*words, "--html", "t.html"]) == 0
    assert "new, P@2[unknown=0][human], all" in capsys.readouterr().out
    written = Path("t.html").read_text(encoding="utf-8")
    assert "<svg" in written
    assert "http" not in written.replace("http-equiv", "")
    assert run([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trends"]) == 2


def test_a_page_of_undefined_values_is_a_page(gated: Store) -> None:
    (trend, *_) = _trends(gated)
    (point, *_) = trend.points
    nothing = replace(point, value=None, low=None, high=None)
    undefined = Trend("<i>", trend.metric, "all", (nothing,))
    page = trend_page([undefined])
    assert "no value is defined" in page
    assert "<i>" not in page
