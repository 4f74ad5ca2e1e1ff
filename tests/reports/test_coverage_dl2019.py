"""Holes in the labels of TREC DL 2019: published shares, leaving runs out, a reversed decision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.evaluation.metrics import parse_metric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.reports.coverage import report_coverage
from labeler.reports.scope import ScopeOptions
from labeler.reports.sensitivity import Verdict, report_sensitivity
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.shared import data_dir

RUNS = ["BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "REP_LLAMA"]
RUNS += ["SPLADE_P_P_ENSEMBLE_DISTIL"]
SHALLOW = RUNS[:2]
DEPTH = 20


def store_with(folder: Path, qrels: Path) -> Iterator[Store]:
    runs = [data_dir("trec-dl-2019") / "posthoc" / f"{name}.run" for name in RUNS]
    with open_store(Location(str(folder / "queue.db")), create=True) as store:
        import_runs(store, runs, RunOptions(name_by_file=True))
        import_labels(store, [qrels], LabelOptions(scale="trec-0-3"))
        yield store


@pytest.fixture(scope="module")
def judged_by_nist(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The six runs and all labels of NIST."""
    yield from store_with(tmp_path_factory.mktemp("all"), data_dir("trec-dl-2019") / "qrels.txt")


@pytest.fixture(scope="module")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The six runs pooled to depth 20, with the labels of what BM25 and BM25+RM3 brought alone."""
    folder = tmp_path_factory.mktemp("shallow")
    source = data_dir("trec-dl-2019")
    kept: set[tuple[str, str]] = set()
    for name in SHALLOW:
        for line in (source / "posthoc" / f"{name}.run").read_text().splitlines():
            query, _, document, rank, *_ = line.split()
            if int(rank) <= DEPTH:
                kept.add((query, document))
    lines = (source / "qrels.txt").read_text().splitlines(keepends=True)
    qrels = folder / "qrels.txt"
    qrels.write_text("".join(one for one in lines if (one.split()[0], one.split()[2]) in kept))
    for store in store_with(folder, qrels):
        options = PoolOptions(depth=DEPTH, rubric=default_rubric(), order="rank")
        create_pool(store, "six", options)
        yield store


def test_judged_shares_and_what_leaving_runs_out_does_are_as_published(
    judged_by_nist: Store,
) -> None:
    with judged_by_nist.read() as connection:
        report = report_coverage(
            connection, ScopeOptions(order="rank"), cutoff=10, metric=parse_metric("P@10")
        )
    assert [row.run for row in report.rows] == RUNS
    shares = [round(row.judged or 0, 2) for row in report.rows]
    assert shares == [1.00, 0.99, 0.90, 0.91, 0.92, 0.93]
    assert [row.candidate_only for row in report.rows] == [0, 5, 32, 24, 27, 24]
    changes = [round(one.change or 0, 3) for one in report.left_out]
    assert changes == [-0.035, -0.047, -0.079, -0.098, -0.109, -0.077]
    values = {one.run: round(one.value or 0, 3) for one in report.left_out}
    assert (values["BM25"], values["REP_LLAMA"]) == (0.412, 0.660)
    # Pairs whose shares differ by more than 5 points: each of the two old runs with each new one.
    pairs = {(one.first, one.second) for one in report.refusals}
    assert pairs == {(old, new) for old in SHALLOW for new in RUNS[2:]}
    assert all(len(row.by_rank) == 10 for row in report.rows)


def test_a_decision_that_holes_reverse_is_refused(shallow: Store) -> None:
    options = ScopeOptions(pool="six", runs=("BM25", "REP_LLAMA"))
    with shallow.read() as connection:
        report = report_sensitivity(connection, options, metric=parse_metric("P@10"))
    assert report.leader == "BM25"
    as_it_is = report.rows[0]
    assert as_it_is.leader == pytest.approx(0.412, abs=5e-4)
    assert as_it_is.other == pytest.approx(0.340, abs=5e-4)
    assert report.coverage[1] == pytest.approx(0.465, abs=5e-4)
    assert report.verdict is Verdict.REFUSED
    assert report.next == "labeler sample plan six --runs BM25 --runs REP_LLAMA --k 10"
    # BM25 leads by 31 places of 430: 32 of RepLLaMA's unknown places would put it ahead.
    assert as_it_is.difference is not None
    lead = round(as_it_is.difference * 430)
    assert report.least_flips == report.most_flips == lead + 1
    assert report.rows[-2].scenario.startswith("worst")
    assert report.rows[-2].difference is not None
    assert report.rows[-2].difference < 0 < (report.rows[-1].difference or 0)


@pytest.mark.parametrize(
    ("name", "first"),
    [("recall@10", "BM25"), ("nDCG@10", "BM25"), ("MRR@10", "D_BERT_KD_TASB")],
)
def test_other_metrics_have_numbers_that_fit(shallow: Store, name: str, first: str) -> None:
    options = ScopeOptions(pool="six", runs=(first, "REP_LLAMA"))
    with shallow.read() as connection:
        report = report_sensitivity(connection, options, metric=parse_metric(name))
    assert report.least_flips is not None
    assert report.most_flips is not None
    assert 0 < report.least_flips <= report.most_flips <= report.available
    if name != "nDCG@10":
        assert report.least_flips == report.most_flips


def test_a_lead_that_no_unknown_item_touches_is_robust(shallow: Store) -> None:
    """All that BM25 has in its first places is judged, and RepLLaMA leads on MRR all the same."""
    options = ScopeOptions(pool="six", runs=("BM25", "REP_LLAMA"))
    with shallow.read() as connection:
        report = report_sensitivity(connection, options, metric=parse_metric("MRR@10"))
    assert report.leader == "REP_LLAMA"
    assert (report.least_flips, report.chance_of_flips) == (None, 0.0)
    assert report.verdict is Verdict.ROBUST
