import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.cli.app import run
from labeler.errors import UsageError
from labeler.evaluation.metrics import parse_metric
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.queries import Query
from labeler.records.splits import Split, SplitGroup, SplitMember, SplitPart
from labeler.reports.grid import GridCell, GridOptions, read_grid
from labeler.store.database import Store
from tests.gated import QUERIES, fill_gated, graded, label

P1, P2 = parse_metric("P@1"), parse_metric("P@2")
DEV = QUERIES[:12]


def _freeze(store: Store) -> None:
    """Put the first 12 queries into dev, the others into the sealed part."""
    split, group, member, query = (table(o) for o in (Split, SplitGroup, SplitMember, Query))
    with store.write("split freeze") as tx:
        snapshot = tx.connection.execute(sa.select(table(Snapshot).c.id)).scalar_one()
        key = tx.connection.execute(
            sa.insert(split)
            .values(
                name="main",
                snapshot_id=snapshot,
                seed="1",
                scheme="{}",
                root_digest="r",
                revision_id=tx.revision_id,
            )
            .returning(split.c.id)
        ).scalar_one()
        keys = {
            str(name): int(one)
            for one, name in tx.connection.execute(sa.select(query.c.id, query.c.external_id))
        }
        for number, name in enumerate(QUERIES):
            part = SplitPart.DEV if name in DEV else SplitPart.TEST
            statement = sa.insert(group).values(
                split_id=key, number=number, part=part.value, digest=f"d{number}"
            )
            made = tx.connection.execute(statement.returning(group.c.id)).scalar_one()
            tx.connection.execute(sa.insert(member).values(group_id=made, query_id=keys[name]))


@pytest.fixture
def filled(store: Store, own_folder: Path) -> Store:
    fill_gated(store, own_folder)
    # On dev 6 of 12 b's and 9 of 12 c's are relevant; on the sealed part everything is.
    label(store, own_folder, graded({"b": 6, "c": 9}))
    return store


def _cells(store: Store, **more: object) -> list[GridCell]:
    options = GridOptions(pool="p", run="new", metrics=(P1, P2), **more)  # type: ignore[arg-type]
    with store.read() as connection:
        return list(read_grid(connection, options).cells)


def test_settings_are_not_chosen_without_a_split(filled: Store) -> None:
    with pytest.raises(UsageError, match="no split is frozen"):
        _cells(filled)


def test_only_development_queries_count(filled: Store) -> None:
    _freeze(filled)
    first, second = _cells(filled)
    assert first.value == pytest.approx(6 / 12)
    assert second.value == pytest.approx((6 + 9) / 24)
    assert second.coverage == 1.0


def test_candidates_and_thresholds_cut_the_run(filled: Store) -> None:
    _freeze(filled)
    # The run scores its results 99 and 98; a place that is gone still divides.
    shallow = _cells(filled, candidates=(1, 2))
    assert [cell.returned for cell in shallow] == [1.0, 1.0, 2.0, 2.0]
    assert shallow[1].value == pytest.approx(6 / 24)
    assert shallow[3].value == pytest.approx(15 / 24)
    strict = _cells(filled, thresholds=(98.5, 200.0))
    assert [cell.returned for cell in strict] == [1.0, 1.0, 0.0, 0.0]
    assert strict[2].value == 0.0


def test_a_reranker_sees_the_candidates_of_its_first_stage_alone(filled: Store) -> None:
    _freeze(filled)
    # The old run found a and b: of the new one's b and c only b was among its two candidates, and
    # none was its first.
    cells = _cells(filled, candidates=(1, 2), first_stage="old")
    assert [cell.returned for cell in cells] == [0.0, 0.0, 1.0, 1.0]
    assert cells[2].value == pytest.approx(6 / 12)


def test_the_command_prints_a_table_and_json(
    filled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    _freeze(filled)
    words = ["report", "grid", "new", "--pool", "p", "--metric", "P@2", "--candidates", "1"]
    words += ["--db", filled.location.address]
    assert run(words) == 0
    assert "12, the dev part of the split main" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["queries"], content["pool"], content["changed"]) == (12, "p", [])
    assert run([*words, "--html", "grid.html"]) == 0
    assert "N=1" in Path("grid.html").read_text(encoding="utf-8")
    capsys.readouterr()
    # What is named twice is one setting.
    twice = [*words, "--candidates", "1", "--threshold", "0.5", "0.5", "0.5000001"]
    twice += ["--metric", "P@2"]
    assert run([*twice, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 2
    trend = ["report", "trend", "--slice", "dev", "--db", filled.location.address]
    assert run(trend) == 0
    assert "new, P@2[unknown=0][human] N=1, dev" in capsys.readouterr().out
