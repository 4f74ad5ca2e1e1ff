from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.corrections import Correction, correct
from labeler.assessment.rubric import default_rubric
from labeler.assessment.verdict import Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.agreement import NoInterval
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import NATIVE, Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import CorrectionTarget
from labeler.records.project import Revision
from labeler.records.scales import AssessorKind
from labeler.reports.judge_comparison import JudgeComparison, compare_judges
from labeler.reports.judges_and_people import Sided
from labeler.store.database import Store
from tests.sampled_answers import answer_again
from tests.small import HandJudge, judge, passages, pooled, write_jsonl, write_run

FULLY, PARTIALLY, NOT = Grade.FULLY_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.NOT_RELEVANT
ABSTAINED, FAILED, REFUSED = Outcome.ABSTAINED, Outcome.FAILED, Outcome.REFUSED

Told = Mapping[str, tuple[Grade | Outcome, float]]

# q1 is asked about c01, c03, c04 and c08, q2 about c05 (two facts), c06 and c07, q3 about
# c09, c10, c11 and c12.
BEFORE: Told = {
    "c01": (FULLY, 0.9),
    "c03": (PARTIALLY, 0.8),
    "c04": (ABSTAINED, 0),
    "c09": (FULLY, 0.7),
    "c10": (FAILED, 0),
}
AFTER: Told = {
    "c01": (PARTIALLY, 0.9),
    "c03": (NOT, 0.8),
    "c04": (FULLY, 0.9),
    "c07": (PARTIALLY, 0.6),
    "c09": (FULLY, 0.7),
    "c10": (REFUSED, 0),
    "c11": (ABSTAINED, 0),
}


@dataclass
class Explaining(HandJudge):
    """A judge that gives a reason and a quote."""

    def judge(self, block: Block) -> list[Verdict]:
        return [
            replace(one, reason=f"{self.name} thinks so", quote="about\x1b[31m fact")
            if one.outcome is Outcome.JUDGED
            else one
            for one in super().judge(block)
        ]


def compared(store: Store, a: str = "before", b: str = "after", **more: object) -> JudgeComparison:
    with store.read() as connection:
        return compare_judges(connection, a, b, **more)  # type: ignore[arg-type]  # as told


@pytest.fixture
def judged(store: Store, own_folder: Path) -> Store:
    """The small project, judged before and after a change of the prompt."""
    pooled(store, own_folder)
    judge(store, Explaining(BEFORE, name="before"))
    judge(store, Explaining(AFTER, name="after"))
    return store


def test_every_answer_has_its_place_in_the_table(judged: Store) -> None:
    found = compared(judged)
    assert (found.both, found.queries, found.only_first, found.only_second) == (11, 3, 0, 0)
    assert (found.scale, found.levels_not_compared) == ("native", None)
    assert found.levels is not None
    assert found.levels.names == (
        *("2 fully_relevant", "1 partially_relevant", "0 not_relevant", "abstained", "failed"),
    )
    assert found.levels.counts == (
        (1, 1, 0, 0, 0),  # c09; c01
        (0, 0, 1, 0, 0),  # c03
        (0, 1, 4, 1, 0),  # c07; c05, c05, c08, c12; c11
        (1, 0, 0, 0, 0),  # c04
        (0, 0, 0, 0, 1),  # c10
    )
    assert found.relevance.names == ("relevant", "not_relevant", "abstained", "failed")
    assert found.relevance.counts == ((2, 1, 0, 0), (1, 4, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1))


def test_outcomes_are_told_one_by_one(judged: Store) -> None:
    found = compared(judged)
    assert list(found.first.outcomes.items()) == [
        *(("judged", 9), ("abstained", 1), ("refused", 0), ("truncated", 0), ("failed", 1))
    ]
    assert (found.second.outcomes["refused"], found.second.outcomes["failed"]) == (1, 0)
    assert [(one.code, one.labels) for one in found.first.levels] == [(0, 6), (1, 1), (2, 2)]


def test_flips_count_the_items_with_two_labels(judged: Store) -> None:
    found = compared(judged)
    assert found.levels is not None
    flips = found.levels.flips
    assert (flips.labels, flips.flipped, flips.raised, flips.lowered) == (8, 3, 1, 2)
    assert flips.share.value == pytest.approx(3 / 8)
    assert flips.share.no_interval is NoInterval.FEW_QUERIES
    flips = found.relevance.flips
    assert (flips.labels, flips.flipped, flips.raised, flips.lowered) == (8, 2, 1, 1)


def test_turned_round_it_is_the_transposed_table(judged: Store) -> None:
    one, other = compared(judged), compared(judged, "after", "before")
    assert one.levels is not None
    assert other.levels is not None
    assert one.levels.counts == tuple(zip(*other.levels.counts, strict=True))
    assert one.levels.flips.raised == other.levels.flips.lowered
    assert one.levels.flips.share == other.levels.flips.share


def test_examples_show_what_each_said(judged: Store) -> None:
    found = compared(judged)
    assert [one.boundary for one in found.examples] == ["across", "across", "within"]
    (c03,) = [one for one in found.examples if one.passage and " c03 " in one.passage]
    assert (c03.query_id, c03.query, c03.evidence_id) == ("q1", "returns within 30 days", "c03")
    assert c03.passage == "passage c03 about fact 2"
    assert (c03.first.level, c03.first.code, c03.first.state) == (
        *("partially_relevant", 1, "relevant"),
    )
    assert (c03.second.level, c03.second.state) == ("not_relevant", "not_relevant")
    assert (c03.first.reason, c03.first.confidence) == ("before thinks so", 0.8)
    assert c03.second.quote == "about\x1b[31m fact"
    assert c03.people is None


def test_the_seed_chooses_the_examples(judged: Store) -> None:
    one = [compared(judged, examples=1, seed=seed).examples for seed in range(12)]
    assert compared(judged, examples=1, seed=3).examples == one[3]
    assert {example.boundary for (example,) in one} == {"across"}
    assert len({example.evidence_id for (example,) in one}) == 2
    assert compared(judged, examples=0).examples == ()
    with pytest.raises(UsageError):
        compared(judged, examples=-1)


def test_a_pool_and_what_only_one_was_asked(judged: Store, own_folder: Path) -> None:
    run = write_run(own_folder / "third.run", "third", {"q1": ["c03", "c12"]})
    import_runs(judged, [run], RunOptions())
    create_pool(judged, "small", PoolOptions(depth=2, rubric=default_rubric(), runs=("third",)))
    judge(judged, Explaining(BEFORE, name="before"), "small")
    found = compared(judged, pool="small")
    assert found.frame == "the items of pool small"
    assert (found.both, found.only_first, found.only_second) == (1, 1, 0)
    assert compared(judged).only_first == 1
    assert compared(judged, "after", "before").only_second == 1
    with pytest.raises(NotFoundError, match="no pool 'q'"):
        compared(judged, pool="q")


def test_judges_without_a_common_item(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge(name="before"))
    path = own_folder / "gpt.txt"
    path.write_text("q1 0 c12 1\n")
    options = LabelOptions(assessor="after", kind=AssessorKind.LLM, scale="native")
    import_labels(store, [path], options)
    found = compared(store)
    assert (found.both, found.only_first, found.only_second) == (0, 11, 1)
    assert (found.levels, found.levels_not_compared) == (None, "no level was given")
    assert (found.relevance.flips.labels, found.relevance.flips.share.value) == (0, None)
    assert (found.examples, found.people) == ((), None)


def test_of_several_samples_the_most_frequent_level_counts(judged: Store) -> None:
    again = Explaining(BEFORE, name="before")
    answer_again(judged, again, "c03", NOT, NOT)
    answer_again(judged, again, "c10", FAILED, FULLY)
    found = compared(judged)
    assert found.levels is not None
    assert found.levels.flips.flipped == 2
    assert found.levels.counts[0][4] == 1  # c10, fully relevant at last and refused by the other
    assert found.first.outcomes["failed"] == 0
    # A failure beside an answer is no second sample.
    assert found.first.sampled == 1
    assert "gave several answers: 1;" in " ".join(found.notices)


def test_a_query_that_changed_is_asked_anew_and_the_last_answer_counts(
    judged: Store, own_folder: Path
) -> None:
    rows: list[dict[str, object]] = [{"_id": "q1", "text": "returns within 60 days"}]
    import_queries(judged, [write_jsonl(own_folder / "q.jsonl", rows)], QueryOptions(update=True))
    judge(judged, Explaining({**BEFORE, "c01": (NOT, 0.9)}, name="before"))
    found = compared(judged)
    assert found.levels is not None
    assert found.levels.counts[0] == (1, 0, 0, 0, 0)
    assert found.levels.counts[2] == (0, 2, 4, 1, 0)
    assert found.first.sampled == 0
    (c01,) = [one for one in found.examples if one.evidence_id == "return-30"]
    assert c01.query == "returns within 60 days"


def test_what_was_withdrawn_is_left_out(judged: Store) -> None:
    wrong = Correction(CorrectionTarget.JUDGMENT, "c03", query="q1", assessor="after")
    correct(judged, wrong, "misread")
    found = compared(judged)
    assert (found.both, found.only_first) == (10, 1)


def test_circular_labels_are_told(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    told: Told = {"c03": (FULLY, 0.9), "c01": (NOT, 0.9)}
    flags = {"c03": ("circular",), "c01": ("circular", "other"), "c04": ("other",)}
    judge(store, HandJudge(name="before"))
    judge(store, HandJudge(told, "after", flags=flags))
    found = compared(store)
    assert (found.first.circular, found.second.circular) == (0, 2)
    (notice,) = found.notices
    assert "2 of 11 answers of after@" in notice
    assert "circular" in notice
    (c03,) = found.examples
    assert c03.second.flags == ("circular",)


def labels(store: Store, folder: Path, name: str, lines: str, **more: object) -> None:
    path = folder / f"{name}.txt"
    path.write_text(lines)
    import_labels(store, [path], LabelOptions(assessor=name, **more))  # type: ignore[arg-type]


def test_levels_of_different_scales_are_not_compared(judged: Store, own_folder: Path) -> None:
    labels(
        judged,
        own_folder,
        "yes-or-no",
        "q1 0 return-30 1\nq1 0 c03 0\nq3 0 c12 0\n",
        kind=AssessorKind.LLM,
        scale="binary",
    )
    found = compared(judged, "before", "yes-or-no")
    assert (found.scale, found.levels) == (None, None)
    assert found.levels_not_compared == "different scales (binary, native)"
    assert found.relevance.counts == ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))
    assert [one.evidence_id for one in found.examples] == ["c03"]


PEOPLE = "q1 0 return-30 2\nq1 0 c03 0\nq3 0 c09 1\nq2 0 c07 0\nq3 0 c10 1\nq3 0 c12 0\n"


def test_people_are_the_measure_where_they_decided(judged: Store, own_folder: Path) -> None:
    labels(judged, own_folder, "ana", PEOPLE, scale="native")
    labels(judged, own_folder, "bo", "q3 0 c12 2\n", scale="native")
    people = compared(judged).people
    assert people is not None
    # c01, c03, c07 and c09; c10 has no label of the judges, on c12 people contradict each other.
    assert (people.items, people.queries, people.disputed) == (4, 3, 1)
    assert people.first.levels is not None
    assert people.second.levels is not None
    # fully fully partially, not partially not, not not partially, partially fully fully.
    assert people.first.levels.exact.value == pytest.approx(2 / 4)
    assert people.second.levels.exact.value == pytest.approx(1 / 4)
    assert people.first.relevance.exact.value == pytest.approx(3 / 4)
    assert people.second.relevance.exact.value == pytest.approx(3 / 4)
    assert people.on_levels == Sided(3, with_first=2, with_second=1, with_neither=0)
    assert people.on_relevance == Sided(2, with_first=1, with_second=1, with_neither=0)
    (c03,) = [one for one in compared(judged).examples if one.evidence_id == "c03"]
    assert c03.people == "not_relevant"


def test_people_on_another_scale_are_compared_by_relevance(judged: Store, own_folder: Path) -> None:
    labels(judged, own_folder, "nist", "q1 0 c03 0\nq3 0 c09 2\n", scale="trec-0-3")
    people = compared(judged).people
    assert people is not None
    assert (people.items, people.on_levels) == (2, None)
    assert people.first.levels is None
    assert "different scales" in (people.first.levels_not_compared or "")
    assert people.second.relevance.exact.value == 1.0


def test_what_people_said_in_sight_of_the_labels_does_not_count(judged: Store) -> None:
    wrong = Correction(CorrectionTarget.JUDGMENT, "c03", query="q1", assessor="before", level="2")
    correct(judged, wrong, "the judge is wrong")
    judge(judged, Explaining(BEFORE, name="before", version="2"))
    found = compared(judged)
    assert found.people is None


def test_a_vote_in_a_sitting_counts(judged: Store) -> None:
    route_pool(judged, "p", UNCALIBRATED)
    sitting = ReviewSession(judged, "ana")
    for _ in range(4):
        assert sitting.current is not None
        sitting.vote(NATIVE.level(2))
    people = compared(judged).people
    assert people is not None
    assert 0 < people.items <= 4
    assert people.first.relevance.confusion[0] == (0, 0)


def test_eight_queries_have_an_interval(store: Store, own_folder: Path) -> None:
    import_corpus(
        store, [write_jsonl(own_folder / "c.jsonl", passages())], CorpusOptions(snapshot="s")
    )
    queries: list[dict[str, object]] = [
        {"_id": f"q{number}", "text": f"question {number}"} for number in range(9)
    ]
    import_queries(store, [write_jsonl(own_folder / "q.jsonl", queries)], QueryOptions())
    results = {f"q{number}": ["c01", "c03", f"c{4 + number % 4:02d}"] for number in range(9)}
    import_runs(store, [write_run(own_folder / "r.run", "r", results)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=3, rubric=default_rubric()))
    judge(store, HandJudge(name="before"))
    judge(store, HandJudge({"c04": (FULLY, 0.9), "c05": (FULLY, 0.9)}, name="after"))
    share = compared(store).relevance.flips.share
    assert share.value is not None
    assert share.low is not None
    assert share.high is not None
    assert 0 <= share.low < share.value < share.high <= 1


def test_the_report_is_plain_values(judged: Store, own_folder: Path) -> None:
    labels(judged, own_folder, "ana", PEOPLE, scale="native")
    found = compared(judged)
    plain = json.loads(json.dumps(asdict(found), allow_nan=False))
    assert plain["levels"]["counts"][0] == [1, 1, 0, 0, 0]
    assert plain["people"]["first"]["levels"]["exact"]["value"] == 0.6
    assert plain["examples"][0]["first"]["reason"] == "before thinks so"
    with judged.read() as connection:
        newest = connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar_one()
    assert plain["revision"] == newest
