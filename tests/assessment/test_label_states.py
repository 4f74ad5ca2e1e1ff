"""What is known of items: whose labels count, as of when, with which gain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.assessment.label_states import LabelSource, LabelStates, read_label_states
from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import Policy
from labeler.imports.labels import LabelOptions, import_labels
from labeler.labels import Grade, Outcome, StateCode
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.store.database import Store
from labeler.store.registry import pool_named
from tests.small import HandJudge, judge, pooled, write_jsonl


def _import(store: Store, folder: Path, rows: list[dict[str, object]], **options: object) -> int:
    file = write_jsonl(folder / "labels.jsonl", rows)
    report = import_labels(store, [file], LabelOptions(**options))  # type: ignore[arg-type]
    assert report.revision is not None
    return report.revision


def _states(
    store: Store, source: LabelSource = LabelSource.HUMAN, **options: object
) -> LabelStates:
    with store.read() as connection:
        pool = pool_named(connection, "p")
        return read_label_states(
            connection,
            snapshot_id=pool.snapshot_id,
            rubric_id=pool.rubric_id,
            source=source,
            pool_id=pool.id,
            **options,  # type: ignore[arg-type]
        )


def _by_name(store: Store, states: LabelStates) -> dict[str, tuple[int, float]]:
    with store.read() as connection:
        of = table(Evidence)
        rows = connection.execute(sa.select(of.c.id, of.c.external_id))
        names = {int(key): str(name) for key, name in rows}
    return {
        names[key]: (int(code), float(gain))
        for key, code, gain in zip(
            states.evidence.tolist(), states.states.tolist(), states.gains.tolist(), strict=True
        )
    }


LABELS: list[dict[str, object]] = [
    {"query_id": "q1", "document_id": "c03", "label": "fully_relevant"},
    {"query_id": "q1", "document_id": "c08", "label": "not_relevant"},
    {"query_id": "q2", "document_id": "c07", "label": "partially_relevant"},
    {"query_id": "q3", "document_id": "c09", "label": "cannot_judge"},
]


def test_states_tell_unknown_and_abstained_apart(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    _import(sqlite_store, tmp_path, LABELS)
    states = _states(sqlite_store)
    known = _by_name(sqlite_store, states)
    assert known["c03"] == (StateCode.RELEVANT, 2.0)
    assert known["c08"] == (StateCode.NOT_RELEVANT, 0.0)
    assert known["c07"] == (StateCode.RELEVANT, 1.0)
    assert known["c09"][0] == StateCode.UNKNOWN
    assert np.isnan(known["c09"][1])
    assert len(states.abstained) == 1
    assert states.states[states.abstained].tolist() == [StateCode.UNKNOWN]
    assert (states.states == StateCode.UNKNOWN).sum() == len(states.items) - 3


def test_only_fully_relevant_can_be_asked_for(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    _import(sqlite_store, tmp_path, LABELS)
    known = _by_name(sqlite_store, _states(sqlite_store, least=Grade.FULLY_RELEVANT))
    assert known["c03"][0] == StateCode.RELEVANT
    assert known["c07"] == (StateCode.NOT_RELEVANT, 1.0)


def test_an_earlier_revision_comes_back_as_it_was(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    before = _import(sqlite_store, tmp_path, LABELS[:1])
    first = _states(sqlite_store)
    _import(sqlite_store, tmp_path, LABELS)
    again = _states(sqlite_store, as_of=before)
    assert again.states.tolist() == first.states.tolist()
    assert again.states.tolist() != _states(sqlite_store).states.tolist()


def test_machine_labels_count_only_when_asked_for(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    _import(sqlite_store, tmp_path, LABELS[:1])
    judge(sqlite_store, HandJudge({"c04": (Outcome.FAILED, 0.0)}))
    route_pool(sqlite_store, "p", Policy("plain", 0.9))
    human = _by_name(sqlite_store, _states(sqlite_store))
    both = _by_name(sqlite_store, _states(sqlite_store, LabelSource.HUMAN_AUTO))
    assert sum(code != StateCode.UNKNOWN for code, _ in human.values()) == 1
    assert both["c03"] == human["c03"]
    assert both["c08"][0] == StateCode.NOT_RELEVANT


def test_gains_of_two_scales_give_way_to_those_of_grades(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    _import(
        sqlite_store,
        tmp_path,
        [{"query_id": "q1", "document_id": "c03", "label": 3}],
        scale="trec-0-3",
    )
    alone = _states(sqlite_store)
    assert _by_name(sqlite_store, alone)["c03"] == (StateCode.RELEVANT, 3.0)
    assert alone.top_gain == 3.0
    _import(sqlite_store, tmp_path, LABELS[1:])
    mixed = _states(sqlite_store)
    assert _by_name(sqlite_store, mixed)["c03"] == (StateCode.RELEVANT, 2.0)
    assert "grades" in mixed.gain_rule
    assert "trec-0-3" in mixed.gain_rule


def test_places_are_found_by_query_and_evidence(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    states = _states(sqlite_store)
    found = states.places(states.queries, states.evidence)
    assert found.tolist() == list(range(len(states.items)))
    strange = states.places(np.array([states.queries[0]] * 2), np.array([10**6, -3]))
    assert strange.tolist() == [-1, -1]
    assert states.states_at(strange).tolist() == [StateCode.UNKNOWN] * 2
    assert np.isnan(states.gains_at(strange)).all()


def test_without_a_pool_all_of_the_snapshot_counts(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path, depth=1)
    create_pool(sqlite_store, "wide", PoolOptions(depth=3, rubric=default_rubric()))
    with sqlite_store.read() as connection:
        pool = pool_named(connection, "p")
        everything = read_label_states(
            connection,
            snapshot_id=pool.snapshot_id,
            rubric_id=pool.rubric_id,
            source=LabelSource.HUMAN,
        )
    assert len(everything.items) > len(_states(sqlite_store).items)


@pytest.mark.parametrize("source", list(LabelSource))
def test_a_project_without_labels_knows_nothing(
    sqlite_store: Store, tmp_path: Path, source: LabelSource
) -> None:
    pooled(sqlite_store, tmp_path)
    states = _states(sqlite_store, source)
    assert set(states.states.tolist()) == {StateCode.UNKNOWN}
    assert states.scales == ()
