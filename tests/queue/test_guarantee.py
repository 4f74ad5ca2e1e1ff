"""The guarantee and the audit's ledger on TREC DL 2019: small versions of the two benchmarks."""

from __future__ import annotations

import pytest

from labeler.calibration.policies import NINE_OF_TEN, TargetPolicy
from tests.benchmarks.audit_ledger import read_retrieved, simulate, true_figures
from tests.benchmarks.guarantee import Collected, project_of, read_collection, run_project
from tests.shared import data_dir


@pytest.fixture(scope="module")
def collected() -> Collected:
    return read_collection(data_dir("trec-dl-2019"))


def test_accepted_labels_reach_the_target_and_some_are_accepted(collected: Collected) -> None:
    three_of_four = TargetPolicy("three-of-four", agreement=0.75)
    results = {NINE_OF_TEN: [], three_of_four: []}  # type: dict[TargetPolicy, list[float]]
    for seed in range(8):
        project = project_of(collected, seed)
        for policy, shares in results.items():
            found = run_project(collected, project, policy, seed)
            if found.accepted:
                shares.append(found.wrong / found.accepted)
            assert found.votes < found.size / 2
    for policy, shares in results.items():
        missed = sum(share > 1 - policy.agreement for share in shares)
        assert missed <= 1
    assert len(results[three_of_four]) >= 4


def test_the_audit_tells_the_truth_where_reviewed_labels_do_not(collected: Collected) -> None:
    retrieved = read_retrieved(data_dir("trec-dl-2019"))
    truth = true_figures(collected, retrieved)
    covered = dict.fromkeys(truth, 0)
    for seed in range(6):
        found = simulate(collected, retrieved, seed)
        for name, one in found.items():
            covered[name] += one.low <= truth[name] <= one.high
        # Votes that were given because an item looked doubtful are no sample.
        assert found["prevalence"].reviewed > truth["prevalence"] + 0.1
        assert found["prevalence"].hybrid < truth["prevalence"] - 0.05
    assert all(count >= 4 for count in covered.values())
