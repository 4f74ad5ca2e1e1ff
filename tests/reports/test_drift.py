import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import NotFoundError
from labeler.evaluation.drift import ShiftVerdict
from labeler.imports.labels import LabelOptions, import_labels
from labeler.records.scales import AssessorKind
from labeler.reports.drift import read_drift
from labeler.store.database import Store
from tests.gated import QUERIES, fill_gated, graded


def _judge(store: Store, folder: Path, name: str, grades: dict[str, int]) -> None:
    path = folder / f"{name}.qrels"
    lines = [f"{one[:3]} 0 {one} {grade}\n" for one, grade in grades.items()]
    path.write_text("".join(lines), encoding="utf-8")
    options = LabelOptions(assessor=name, kind=AssessorKind.LLM, scale="native")
    import_labels(store, [path], options)


@pytest.fixture
def judged(store: Store, own_folder: Path) -> Store:
    fill_gated(store, own_folder)
    before = graded({"a": 10, "b": 10, "c": 10})
    _judge(store, own_folder, "old", before)
    _judge(store, own_folder, "same", before)
    _judge(store, own_folder, "lax", before | {f"{query}-c": 1 for query in QUERIES})
    return store


def test_a_judge_that_gives_more_has_drifted(judged: Store) -> None:
    with judged.read() as connection:
        found = read_drift(connection, "old", "lax")
    assert (found.labelled, found.queries) == (60, 20)
    assert (found.relevance.raised, found.relevance.lowered) == (10, 0)
    assert found.relevance.value == pytest.approx(10 / 60)
    assert found.relevance.verdict is ShiftVerdict.DRIFTED
    assert found.levels is not None
    assert (found.levels.before, found.levels.after) == ((30, 0, 30), (20, 20, 20))
    assert found.levels.stuart_maxwell.p < 0.001
    assert any("few for a sentinel set" in notice for notice in found.notices)


def test_nothing_moved_is_steady_only_within_what_so_few_queries_can_show(judged: Store) -> None:
    with judged.read() as connection:
        narrow = read_drift(connection, "old", "same")
        wide = read_drift(connection, "old", "same", margin=0.2)
    assert narrow.relevance.value == 0
    assert narrow.relevance.verdict is ShiftVerdict.UNDECIDED
    assert wide.relevance.verdict is ShiftVerdict.STEADY
    assert narrow.kappa.value == 1.0


def test_the_command_prints_it_and_its_json(
    judged: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "drift", "old", "lax", "--db", judged.location.address]
    assert run(words) == 0
    assert "drifted" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["relevance"]["verdict"] == "drifted"
    assert run([*words, "--margin", "0"]) == 2


def test_a_judge_of_one_occasion_is_told_how_it_gets_a_second(judged: Store) -> None:
    with judged.read() as connection, pytest.raises(NotFoundError, match="one occasion") as caught:
        read_drift(connection, "old")
    assert "--occasion 2" in (caught.value.hint or "")


def test_judges_without_a_common_item_are_told(judged: Store, own_folder: Path) -> None:
    _judge(judged, own_folder, "elsewhere", {"q01-zz": 0})
    with judged.read() as connection, pytest.raises(NotFoundError):
        read_drift(connection, "old", "elsewhere")
