"""Corrections append, exports look back: an earlier state is never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.corrections import Correction, correct, find_touched
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError, UsageError
from labeler.exports.candidates import export_jsonl
from labeler.exports.qrels import export_qrels
from labeler.exports.scope import find_scope
from labeler.exports.testset import export_testset
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import BINARY, NATIVE, TREC, Grade
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import CorrectionTarget
from labeler.records.project import Revision
from labeler.store.database import Store
from labeler.store.projections import rebuild
from tests.small import HandJudge, judge, passages, pooled, write_jsonl, write_run

LABELS: list[dict[str, object]] = [
    {"query_id": "q1", "doc_id": "c01", "label": "fully", "rater": "ana"},
    {"query_id": "q1", "doc_id": "c03", "label": "partially", "rater": "ana"},
    {"query_id": "q2", "doc_id": "reset", "label": "not", "rater": "bo"},
    {"query_id": "q2", "doc_id": "c07", "label": "cannot_judge", "rater": "bo"},
]


@pytest.fixture
def labelled(store: Store, own_folder: Path) -> Store:
    """A pool with four labels of people, one of them an abstention."""
    pooled(store, own_folder)
    import_labels(store, [write_jsonl(own_folder / "l.jsonl", LABELS)], LabelOptions())
    return store


def newest(store: Store) -> int:
    with store.read() as connection:
        return int(connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar_one())


def qrels(store: Store, folder: Path, as_of: int | None = None) -> list[str]:
    path = folder / "out.qrels"
    with store.read() as connection:
        scope = find_scope(connection, pool="p", as_of=as_of)
        export_qrels(connection, path, scope, scale=NATIVE)
    return path.read_text().splitlines()


BEFORE = ["q1 0 c03 1", "q1 0 return-30 2", "q2 0 reset 0"]


def test_a_label_on_a_chunk_is_one_on_its_evidence(labelled: Store, own_folder: Path) -> None:
    assert qrels(labelled, own_folder) == BEFORE


def test_an_export_twice_gives_the_same_bytes(labelled: Store, own_folder: Path) -> None:
    first = qrels(labelled, own_folder)
    meta = (own_folder / "out.qrels.meta.json").read_bytes()
    assert qrels(labelled, own_folder) == first
    assert (own_folder / "out.qrels.meta.json").read_bytes() == meta
    assert json.loads(meta)["unknown"] == 8
    assert json.loads(meta)["abstained"] == 1


@pytest.mark.parametrize(
    ("correction", "after"),
    [
        (Correction(CorrectionTarget.JUDGMENT, "c03", query="q1"), [BEFORE[1], BEFORE[2]]),
        (
            Correction(CorrectionTarget.JUDGMENT, "c03", query="q1", level="fully"),
            ["q1 0 c03 2", *BEFORE[1:]],
        ),
        (Correction(CorrectionTarget.EVIDENCE, "return-30"), [BEFORE[0], BEFORE[2]]),
        (Correction(CorrectionTarget.DOCUMENT, "doc-0"), [BEFORE[2]]),
        (Correction(CorrectionTarget.RUBRIC, "relevance"), []),
    ],
)
def test_a_correction_takes_labels_out_of_force_and_keeps_the_earlier_state(
    labelled: Store, own_folder: Path, correction: Correction, after: list[str]
) -> None:
    earlier = newest(labelled)
    with labelled.read() as connection:
        foreseen = find_touched(connection, correction)
    assert correct(labelled, correction, "the policy was withdrawn") == foreseen
    assert qrels(labelled, own_folder) == after
    assert qrels(labelled, own_folder, as_of=earlier) == BEFORE
    before, now = rebuild(labelled)
    assert before == now


def test_what_was_corrected_goes_to_people_and_can_be_judged_again(
    labelled: Store, own_folder: Path
) -> None:
    judge(labelled, HandJudge())
    route_pool(labelled, "p", UNCALIBRATED)
    correct(labelled, Correction(CorrectionTarget.EVIDENCE, "return-30"), "wrong text")
    report = route_pool(labelled, "p", UNCALIBRATED)
    assert report.reasons == {"not_judged": 1}
    session = ReviewSession(labelled, "ana")
    while session.current is not None and "passage c01" not in session.current.item.passage:
        session.skip()
    session.vote(NATIVE.level_for(Grade.PARTIALLY_RELEVANT))
    assert "q1 0 return-30 1" in qrels(labelled, own_folder)


def test_a_correction_needs_a_reason_and_something_to_correct(labelled: Store) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        correct(labelled, Correction(CorrectionTarget.EVIDENCE, "return-30"), " ")
    with pytest.raises(NotFoundError, match="no evidence 'nothing'"):
        correct(labelled, Correction(CorrectionTarget.EVIDENCE, "nothing"), "wrong")
    with pytest.raises(NotFoundError, match="nothing in force"):
        correct(labelled, Correction(CorrectionTarget.EVIDENCE, "c12"), "wrong")


def test_a_revision_that_is_not_there(labelled: Store, own_folder: Path) -> None:
    with pytest.raises(NotFoundError, match="no revision 99"):
        qrels(labelled, own_folder, as_of=99)


def test_a_scale_is_converted_by_grades_and_never_across_relevance(
    labelled: Store, own_folder: Path
) -> None:
    path = own_folder / "out.qrels"
    with labelled.read() as connection:
        scope = find_scope(connection, pool="p")
        assert export_qrels(connection, path, scope, scale=TREC).converted == 3
        assert path.read_text().splitlines() == ["q1 0 c03 2", "q1 0 return-30 3", "q2 0 reset 0"]
        export_qrels(connection, path, scope, scale=BINARY)
        assert path.read_text().splitlines() == ["q1 0 c03 1", "q1 0 return-30 1", "q2 0 reset 0"]


def test_chunk_ids_as_runs_name_them(labelled: Store, own_folder: Path) -> None:
    path = own_folder / "out.qrels"
    with labelled.read() as connection:
        export_qrels(connection, path, find_scope(connection, pool="p"), ids="chunk")
    assert path.read_text().splitlines() == [
        *("q1 0 c03 1", "q1 0 c01 2", "q1 0 c02 2", "q2 0 c05 0", "q2 0 c06 0")
    ]


def test_the_json_shape(labelled: Store, own_folder: Path) -> None:
    path = own_folder / "out.jsonl"
    with labelled.read() as connection:
        export_jsonl(connection, path, find_scope(connection, pool="p"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    unknown = next(row for row in rows if row["evidenceId"] == "c09")
    assert unknown == {
        "queryId": "q3",
        "corpusSnapshot": "2026-07",
        "evidenceId": "c09",
        "label": "unknown",
        "judgmentPool": [{"retriever": "lexical", "rank": 1}],
        "assessment": None,
    }
    labels = {row["evidenceId"]: row["label"] for row in rows}
    assert labels["return-30"] == "fully_relevant"
    assert labels["c07"] == "cannot_judge"


def test_the_test_set_holds_what_is_known_to_be_relevant(labelled: Store, own_folder: Path) -> None:
    path = own_folder / "out.json"
    with labelled.read() as connection:
        report = export_testset(connection, path, find_scope(connection, pool="p"))
    assert json.loads(path.read_text()) == [
        {
            "query": "returns within 30 days",
            "relevant_chunk_ids": ["c01", "c02", "c03"],
            "domain": None,
            "source": "historical",
        }
    ]
    assert (report.queries, report.without_relevant, report.unknown) == (1, 2, 9)


def test_a_label_counts_in_another_snapshot_where_the_text_is_the_same(
    labelled: Store, own_folder: Path
) -> None:
    rows = passages()
    rows[2]["text"] = "another wording of c03"
    corpus = write_jsonl(own_folder / "later.jsonl", rows)
    import_corpus(labelled, [corpus], CorpusOptions(snapshot="2026-08"))
    run = write_run(own_folder / "new.run", "new", {"q1": ["c01", "c03"]})
    import_runs(labelled, [run], RunOptions(snapshot="2026-08"))
    from labeler.assessment.rubric import default_rubric

    create_pool(labelled, "later", PoolOptions(2, default_rubric(), snapshot="2026-08"))
    report = route_pool(labelled, "later", UNCALIBRATED)
    assert (report.carried, report.to_people) == (1, 1)
    path = own_folder / "later.qrels"
    with labelled.read() as connection:
        export_qrels(connection, path, find_scope(connection, pool="later"))
    assert path.read_text() == "q1 0 return-30 2\n"
