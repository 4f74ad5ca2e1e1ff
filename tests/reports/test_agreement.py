from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.agreement import NoInterval, NoValue
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import NATIVE, Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.records.scales import AssessorKind
from labeler.reports.agreement import AgreementReport, report_agreement
from labeler.reports.answers import Repeats
from labeler.reports.pairs import PairAgreement, Unmatched
from labeler.store.database import Store
from tests.shared import data_dir
from tests.small import HandJudge, judge, pooled, write_jsonl, write_run

FULLY, PARTIALLY, NOT = Grade.FULLY_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.NOT_RELEVANT

LABELS: list[dict[str, object]] = [
    {"query_id": "q1", "doc_id": "c01", "label": "fully", "rater": "ana"},
    {"query_id": "q1", "doc_id": "c03", "label": "partially", "rater": "ana"},
    {"query_id": "q2", "doc_id": "reset", "label": "not", "rater": "bo"},
    {"query_id": "q2", "doc_id": "c07", "label": "cannot_judge", "rater": "bo"},
    {"query_id": "q3", "doc_id": "c09", "label": "not", "rater": "bo"},
    {"query_id": "q3", "doc_id": "c12", "label": "fully", "rater": "bo"},
    {"query_id": "q3", "doc_id": "c12", "label": "not", "rater": "ana"},
    {"query_id": "q1", "doc_id": "elsewhere", "label": "not", "rater": "ana"},
]

ANSWERS: dict[str, tuple[Grade | Outcome, float]] = {
    "c01": (FULLY, 0.99),
    "c03": (FULLY, 0.6),
    "c05": (PARTIALLY, 0.6),
    "c09": (Outcome.ABSTAINED, 0.0),
    "c10": (Outcome.FAILED, 0.0),
}


def report(store: Store, **options: object) -> AgreementReport:
    with store.read() as connection:
        return report_agreement(connection, **options)  # type: ignore[arg-type]  # as told


def pair(found: AgreementReport, first: str, second: str) -> PairAgreement:
    (one,) = [one for one in found.pairs if (one.first, one.second) == (first, second)]
    return one


@pytest.fixture
def judged(store: Store, own_folder: Path) -> Store:
    """The small project with labels of two people and of a judge."""
    pooled(store, own_folder)
    import_labels(store, [write_jsonl(own_folder / "l.jsonl", LABELS)], LabelOptions())
    judge(store, HandJudge(ANSWERS))
    return store


def test_each_pair_is_compared_on_what_both_have_labelled(judged: Store) -> None:
    found = report(judged)
    assert [one.name for one in found.assessors] == ["ana", "bo", "by-hand"]
    assert [(one.first, one.second) for one in found.pairs] == [
        *(("ana", "bo"), ("ana", "by-hand"), ("bo", "by-hand"))
    ]
    ana = pair(found, "ana", "by-hand")
    # c01 fully and fully, c03 partially and fully, c12 not and not.
    assert (ana.common, ana.queries, ana.differing) == (3, 2, 1)
    assert ana.levels is not None
    assert ana.levels.levels == ("0 not_relevant", "1 partially_relevant", "2 fully_relevant")
    assert ana.levels.confusion == ((1, 0, 0), (0, 0, 1), (0, 0, 1))
    assert ana.levels.exact.value == pytest.approx(2 / 3)
    assert ana.levels.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert ana.levels.kappa.no_interval is NoInterval.FEW_QUERIES
    assert ana.relevance.confusion == ((1, 0), (0, 2))
    assert ana.relevance.kappa.value == 1.0


def test_what_only_one_has_is_counted_by_what_the_other_has_there(judged: Store) -> None:
    bo = pair(report(judged), "bo", "by-hand")
    # reset not and partially, c12 fully and not; c09 not and abstained.
    assert (bo.common, bo.differing) == (2, 2)
    assert bo.first_alone == Unmatched(nothing=0, abstained=1, failed=0, undecided=0)
    # The judge has labels on eleven items less one abstention and one failure; bo on two of them,
    # and an abstention on c07.
    assert bo.second_alone == Unmatched(nothing=6, abstained=1, failed=0, undecided=0)
    ana = pair(report(judged), "ana", "by-hand")
    assert ana.first_alone.nothing == 1
    summary = {one.name: one for one in report(judged).assessors}
    assert (summary["by-hand"].labels, summary["by-hand"].abstained) == (9, 1)
    assert summary["by-hand"].failed == 1
    assert (summary["bo"].labels, summary["bo"].abstained) == (3, 1)


def test_counts_of_labels_by_level_are_those_of_the_common_items(judged: Store) -> None:
    ana = pair(report(judged), "ana", "by-hand")
    assert [(one.code, one.labels) for one in ana.first_labels] == [(0, 1), (1, 1), (2, 1)]
    assert [(one.code, one.labels) for one in ana.second_labels] == [(0, 1), (1, 0), (2, 2)]
    assert {one.scale for one in ana.first_labels} == {"native"}


def test_against_people_is_what_their_votes_come_to(judged: Store) -> None:
    found = report(judged, against="people")
    assert found.against == "people"
    (one,) = found.pairs
    # On c12 ana and bo contradict each other.
    assert (one.first, one.second, one.common) == ("people", "by-hand", 3)
    assert one.second_alone.undecided == 1
    assert "1 item left out: people contradict each other there" in found.notices


def test_against_decisions_says_which_the_judge_made_itself(judged: Store) -> None:
    before = report(judged, against="decisions")
    assert not [notice for notice in before.notices if "accepted" in notice]
    route_pool(judged, "p", UNCALIBRATED)
    found = report(judged, against="decisions")
    (one,) = found.pairs
    assert one.common > before.pairs[0].common
    (told,) = [notice for notice in found.notices if "accepted from a judge" in notice]
    assert "its own" in told


def test_against_one_assessor_everybody_else_is_compared(judged: Store) -> None:
    found = report(judged, against="bo")
    assert [(one.first, one.second) for one in found.pairs] == [("bo", "ana"), ("bo", "by-hand")]
    assert found.groups == ()


def test_people_together_and_judges_together(judged: Store) -> None:
    judge(judged, HandJudge(ANSWERS, name="second"))
    people, judges = report(judged).groups
    assert (people.group, people.members, people.items) == ("people", ("ana", "bo"), 1)
    assert people.scale == "native"
    assert people.alpha_ordinal is not None
    assert people.alpha_ordinal.value == 0.0
    assert (judges.members, judges.items) == (("by-hand", "second"), 9)
    assert judges.alpha_nominal is not None
    assert judges.alpha_nominal.value == 1.0


def test_judges_stand_beside_people_where_two_of_them_voted_on_an_item(judged: Store) -> None:
    found = report(judged)
    (one,) = found.with_people
    assert one == report(judged, against="people").pairs[0]
    assert any("they contradict each other" in notice for notice in found.notices)
    assert report(judged, against="bo").with_people == ()


def test_without_an_item_that_two_people_voted_on_nothing_stands_beside(
    sqlite_store: Store, own_folder: Path
) -> None:
    pooled(sqlite_store, own_folder)
    path = write_jsonl(own_folder / "l.jsonl", [*LABELS[:6], LABELS[7]])
    import_labels(sqlite_store, [path], LabelOptions())
    judge(sqlite_store, HandJudge(ANSWERS))
    found = report(sqlite_store)
    assert len(found.pairs) == 3
    assert found.with_people == ()


def test_equal_labels_are_told_so_that_somebody_looks(judged: Store) -> None:
    judge(judged, HandJudge(ANSWERS, name="second"))
    (told,) = [notice for notice in report(judged).notices if "copy" in notice]
    assert told.startswith("not one of the 9 labels of by-hand and second differs")


def test_only_the_items_of_a_pool(judged: Store, own_folder: Path) -> None:
    import_runs(
        judged, [write_run(own_folder / "n.run", "n", {"q1": ["c01", "c08"]})], RunOptions()
    )
    create_pool(judged, "narrow", PoolOptions(depth=2, rubric=default_rubric(), runs=("n",)))
    found = report(judged, pool="narrow")
    assert found.frame == "the items of pool narrow"
    assert [one.name for one in found.assessors] == ["ana", "by-hand"]
    assert found.pairs[0].common == 1
    assert pair(report(judged, pool="p"), "ana", "by-hand").first_alone.nothing == 0
    with pytest.raises(NotFoundError, match="no pool 'broad'"):
        report(judged, pool="broad")


def test_an_earlier_state_is_never_lost(judged: Store, own_folder: Path) -> None:
    before = report(judged)
    later = [{**LABELS[1], "label": "fully", "at": "2026-08-01"}, {**LABELS[0], "rater": "cy"}]
    import_labels(judged, [write_jsonl(own_folder / "later.jsonl", later)], LabelOptions())
    now = report(judged)
    assert [one.name for one in now.assessors] == ["ana", "bo", "cy", "by-hand"]
    again = report(judged, as_of=before.revision)
    assert again == before
    with pytest.raises(NotFoundError, match="no revision 99; the newest is"):
        report(judged, as_of=99)
    with pytest.raises(NotFoundError, match="no pool 'p' at revision 1"):
        report(judged, pool="p", as_of=1)


def test_nobody_to_compare(sqlite_store: Store, own_folder: Path) -> None:
    with pytest.raises(NotFoundError, match="two assessors with labels; here there is nobody"):
        report(sqlite_store)
    import_labels(sqlite_store, [write_jsonl(own_folder / "l.jsonl", LABELS[:1])], LabelOptions())
    with pytest.raises(NotFoundError, match="here there is ana"):
        report(sqlite_store)
    for group in ("people", "decisions"):
        with pytest.raises(NotFoundError, match="a judge with labels"):
            report(sqlite_store, against=group)


def test_an_assessor_is_found_by_name_and_by_digest(judged: Store) -> None:
    with pytest.raises(NotFoundError, match="no assessor 'cy'") as told:
        report(judged, against="cy")
    assert told.value.hint is not None
    assert "ana, bo, by-hand" in told.value.hint
    judge(judged, HandJudge({}, version="2"))
    with pytest.raises(UsageError, match="several assessors are called 'by-hand'"):
        report(judged, against="by-hand")
    digest = HandJudge({}, version="2").digest[:12]
    found = report(judged, against=digest)
    assert found.against == f"by-hand (llm {digest})"
    assert report(judged, against=f"by-hand (llm {digest})") == found


def test_a_person_called_people_is_not_taken_for_all(sqlite_store: Store, own_folder: Path) -> None:
    rows = [{**LABELS[0], "rater": "people"}, {**LABELS[0], "rater": "ana"}]
    import_labels(sqlite_store, [write_jsonl(own_folder / "l.jsonl", rows)], LabelOptions())
    assert [one.name for one in report(sqlite_store).assessors] == ["ana", "people (person)"]
    assert report(sqlite_store, against="people (person)").pairs[0].common == 1


def write_qrels(path: Path, codes: list[int]) -> Path:
    path.write_text("".join(f"q{place} 0 d{place} {code}\n" for place, code in enumerate(codes)))
    return path


def import_codes(
    store: Store, folder: Path, name: str, codes: list[int], scale: str, kind: AssessorKind
) -> None:
    options = LabelOptions(assessor=name, scale=scale, kind=kind)
    import_labels(store, [write_qrels(folder / f"{name}.txt", codes)], options)


def test_levels_of_two_scales_are_not_compared_and_relevance_is(
    sqlite_store: Store, own_folder: Path
) -> None:
    person, llm = AssessorKind.PERSON, AssessorKind.LLM
    codes = [0, 1, 2, 3] * 5
    import_codes(sqlite_store, own_folder, "nist", codes, "trec-0-3", person)
    import_codes(
        sqlite_store, own_folder, "yes-or-no", [int(one > 1) for one in codes], "binary", llm
    )
    (one,) = report(sqlite_store, against="nist").pairs
    assert one.levels is None
    assert one.levels_not_compared == "different scales (binary, trec-0-3)"
    # By the grade mapping, 2 and 3 of the one and 1 of the other are relevant.
    assert one.relevance.confusion == ((10, 0), (0, 10))
    assert one.relevance.kappa.value == 1.0
    assert one.differing == 0


def test_one_label_in_use_is_undefined_with_its_reason(
    sqlite_store: Store, own_folder: Path
) -> None:
    for name in ("ana", "bo"):
        import_codes(sqlite_store, own_folder, name, [0] * 9, "native", AssessorKind.PERSON)
    (one,) = report(sqlite_store).pairs
    assert one.levels is not None
    assert one.levels.exact.value == 1.0
    for found in (one.levels.kappa, one.levels.quadratic_kappa, one.levels.ac1, one.relevance.ac1):
        assert (found.value, found.undefined) == (None, NoValue.ONE_LABEL)


def test_which_of_a_judges_labels_counts(sqlite_store: Store, own_folder: Path) -> None:
    import_codes(sqlite_store, own_folder, "ana", [2, 2], "native", AssessorKind.PERSON)
    path = own_folder / "j.txt"
    path.write_text("q0 0 d0 2\nq1 0 d1 0\nq0 0 d0 0\nq1 0 d1 2\nq1 0 d1 2\n")
    options = LabelOptions(assessor="twice", scale="native", kind=AssessorKind.LLM)
    import_labels(sqlite_store, [path], options)
    last, first = report(sqlite_store), report(sqlite_store, repeats=Repeats.FIRST)
    for found, codes in ((last, (0, 2)), (first, (2, 0))):
        (one,) = found.pairs
        assert one.levels is not None
        assert one.levels.exact.value == 0.5
        assert sorted(codes) == [0, 2]
        assert f"gave different labels to 2 items; the {found.repeats} counts" in found.notices[0]
    assert last.assessors[1].repeated == 2


def test_everything_is_plain_json(judged: Store) -> None:
    text = json.dumps(asdict(report(judged)), allow_nan=False)
    assert json.loads(text)["pairs"][0]["levels"]["scale"] == NATIVE.name


def test_three_people_and_a_model_of_quati(sqlite_store: Store) -> None:
    folder = data_dir("quati-pt")
    expected = {
        one["id"]: one["value"]
        for one in json.loads((data_dir("reference") / "agreement.json").read_text())
        if one["id"].startswith("quati-")
    }
    options = LabelOptions(scale="trec-0-3", fields={"label": "grade"})
    import_labels(sqlite_store, [folder / "annotations.tsv"], options)
    gpt = LabelOptions(scale="trec-0-3", assessor="gpt4", kind=AssessorKind.LLM)
    import_labels(sqlite_store, [folder / "llm_gpt4_qrels.txt"], gpt)
    found = report(sqlite_store)
    compared = 0
    for one in found.pairs:
        name = f"{one.first}-{one.second}"
        if one.second == "gpt4":
            name = f"gpt4-{one.first}"
        assert one.common == 240
        assert one.levels is not None
        assert one.levels.kappa.value == pytest.approx(expected[f"quati-{name}"], abs=5e-7)
        if f"quati-qw-{name}" in expected:
            compared += 1
            quadratic = one.levels.quadratic_kappa.value
            assert quadratic == pytest.approx(expected[f"quati-qw-{name}"], abs=5e-7)
    assert (len(found.pairs), compared) == (6, 3)
    (people,) = found.groups
    assert people.alpha_nominal is not None
    assert people.alpha_ordinal is not None
    assert people.alpha_nominal.value == pytest.approx(expected["quati-alpha-nominal"], abs=5e-7)
    assert people.alpha_ordinal.value == pytest.approx(expected["quati-alpha-ordinal"], abs=5e-7)
