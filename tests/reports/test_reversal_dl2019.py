"""Missing labels reverse a decision: what is said before an audit, and after one."""

import pytest

from labeler.evaluation.gate_checks import Answer, Cause, CheckAnswer, answer_check
from tests.reversal import (
    ASKED,
    BASELINE,
    CANDIDATE,
    Reversal,
    audited,
    evidence_before,
    load_reversal,
    mean_precision,
)
from tests.shared import data_dir


@pytest.fixture(scope="module")
def reversal() -> Reversal:
    return load_reversal(data_dir("trec-dl-2019"))


def test_the_fixture_is_the_one_that_is_published(reversal: Reversal) -> None:
    assert len(reversal.evaluated.queries) == 43
    assert int(reversal.in_frame.sum()) == 1728
    assert len(reversal.unknown) == 759
    assert mean_precision(reversal.evaluated, BASELINE) == pytest.approx(0.412, abs=0.0005)
    assert mean_precision(reversal.evaluated, CANDIDATE) == pytest.approx(0.340, abs=0.0005)
    assert mean_precision(reversal.under_truth(), BASELINE) == pytest.approx(0.412, abs=0.0005)
    assert mean_precision(reversal.under_truth(), CANDIDATE) == pytest.approx(0.660, abs=0.0005)


def test_a_naive_report_is_wrong_and_the_check_blocks(reversal: Reversal) -> None:
    found = evidence_before(reversal)
    assert found.value is not None
    assert found.value < 0  # unknown taken as not relevant: the candidate looks worse
    assert found.coverage_gap > 0.4
    assert answer_check(ASKED, found) == CheckAnswer(Answer.BLOCKED, (Cause.INCOMPLETE,))


@pytest.mark.parametrize("seed", range(3))
def test_sixty_votes_decide_it_rightly(reversal: Reversal, seed: int) -> None:
    assert audited(reversal, 60, seed) == CheckAnswer(Answer.PASS)


def test_a_few_votes_do_not_decide_it(reversal: Reversal) -> None:
    assert audited(reversal, 3, 0).answer is not Answer.FAIL
