from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.assessment.item_scores import ItemScores, add_scores
from labeler.assessment.label_states import LabelSource
from labeler.assessment.labels_in_force import items_of_pool
from labeler.evaluation.exact import hypergeometric_limits
from labeler.evaluation.gate_checks import Answer, GateVerdict, IntervalBy
from labeler.evaluation.metrics import parse_metric
from labeler.evaluation.proportions import clopper_pearson
from labeler.queue.sampled import ask_for_sample
from labeler.records import table
from labeler.records.evaluations import Evaluation, EvaluationValue, GateRules, GateRun
from labeler.records.scores import Calibration
from labeler.reports.completed_labels import read_completed_labels
from labeler.reports.evaluated import read_evaluated
from labeler.reports.gate import GateReport, run_gate
from labeler.reports.gate_file import parse_gate
from labeler.reports.gate_limits import exact_limits, sampled_positives
from labeler.reports.gate_markdown import as_markdown
from labeler.reports.gate_page import gate_page
from labeler.sampling.draw import draw_sample
from labeler.sampling.plan import SampleOptions
from labeler.sampling.population import Comparison
from labeler.store.database import Store
from labeler.store.registry import pool_named
from tests.gated import GATE, QUERIES, fill_gated, graded, label, write_gate

LESS = GATE.replace('metric = "P@2"', 'metric = "P@2"\ncompare = "baseline"')


def _run(store: Store, folder: Path, text: str = GATE, as_of: int | None = None) -> GateReport:
    return run_gate(store, parse_gate(write_gate(folder, text)), as_of=as_of)


def test_a_candidate_passes_fails_or_is_open_by_its_whole_interval(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20, "c": 16}))
    passed = _run(store, own_folder)
    assert passed.verdict is GateVerdict.PASSED
    (check,) = passed.checks
    assert (check.value, check.coverage, check.queries, check.clusters) == (0.9, 1.0, 20, 20)
    assert check.low is not None
    assert check.low > 0.5
    assert check.metric == "P@2[unknown=0][human]"
    assert _run(store, own_folder, GATE.replace("above", "below")).verdict is GateVerdict.FAILED
    between = _run(store, own_folder, GATE.replace("0.5", "0.88"))
    assert between.verdict is GateVerdict.INCONCLUSIVE
    assert between.checks[0].causes == ("too few queries",)
    assert between.checks[0].commands == ("labeler import queries FILE",)


def test_missing_labels_block_and_the_command_that_collects_them_is_told(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, {name: g for name, g in graded({"b": 20}).items() if "-c" not in name})
    found = _run(store, own_folder, GATE.replace("0.5", "0.7"))
    assert found.verdict is GateVerdict.BLOCKED
    (check,) = found.checks
    assert (check.lowest, check.highest, check.coverage) == (0.5, 1.0, 0.5)
    assert check.commands[0] == "labeler sample draw p --runs new --runs old --k 2 --votes 60"


def test_a_sample_answers_what_was_missing(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    everything = graded({"b": 20, "c": 18})
    label(store, own_folder, {name: g for name, g in everything.items() if "-c" not in name})
    rules = GATE.replace("0.5", "0.7")
    assert _run(store, own_folder, rules).verdict is GateVerdict.BLOCKED
    both = Comparison("p", ("new", "old"), 2)
    draw_sample(store, "audit", SampleOptions(both, votes=16), ask_for_sample)
    label(store, own_folder, _drawn(store, everything), name="auditors")
    found = _run(store, own_folder, rules)
    (check,) = found.checks
    assert found.sample is not None
    assert found.sample.startswith("audit: 16 of 16 drawn items are labelled")
    assert check.answer is Answer.PASS
    assert check.sampled is not None
    assert check.sampled >= 10
    assert check.low is not None
    assert 0.7 < check.low < (check.value or 0) < 1


def _drawn(store: Store, grades: dict[str, int]) -> dict[str, int]:
    statement = sa.text(
        "SELECT evidence.external_id FROM draw JOIN item ON item.id = draw.item_id "
        "JOIN evidence ON evidence.id = item.evidence_id"
    )
    with store.read() as connection:
        return {str(name): grades[str(name)] for (name,) in connection.execute(statement)}


def test_a_difference_knows_that_shared_results_move_both_alike(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, {name: g for name, g in graded({"c": 20}).items() if "-b" not in name})
    found = _run(store, own_folder, LESS.replace("0.5", "0.1"))
    (check,) = found.checks
    # b is unknown in both runs: whatever it is, c makes the new one better by a half.
    assert (check.value, check.lowest, check.highest) == (0.5, 0.5, 0.5)
    assert found.verdict is GateVerdict.PASSED


def test_targets_that_cannot_be_met_are_called_so(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20}))
    deeper = _run(store, own_folder, GATE.replace("P@2", "P@4"))
    (check,) = deeper.checks
    assert check.answer is Answer.UNREACHABLE
    assert check.ceiling == 0.25
    assert "0.250 at most" in check.why
    domain = GATE.replace("P@2", "domain_accuracy@2").replace("0.5", "0.95")
    (right,) = _run(store, own_folder, domain).checks
    assert right.answer is Answer.UNREACHABLE
    # 20 flawless queries show .025^(1/20) = .83 at best; 72 are the least for .95.
    assert "72 are the least" in right.why


def test_an_earlier_revision_gives_the_earlier_answer(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20, "c": 16}))
    before = _run(store, own_folder)
    wrong = {f"{query}-b": 0 for query in QUERIES}
    label(store, own_folder, wrong, name="others")
    assert _run(store, own_folder).checks != before.checks
    assert _run(store, own_folder, as_of=before.revision).checks == before.checks


def test_rules_are_stored_once_and_every_run_is_logged(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20}))
    first, again = _run(store, own_folder), _run(store, own_folder)
    assert first.declared == again.declared
    with store.read() as connection:
        counts = [
            connection.execute(sa.select(sa.func.count()).select_from(table(one))).scalar()
            for one in (GateRules, GateRun, Evaluation, EvaluationValue)
        ]
    assert counts == [1, 2, 2, 2]


def test_a_summary_shows_markup_from_names_as_it_stands(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20}))
    evil = "<script>alert(1)</script> [x](javascript:1) | \\u001b[2J"
    report = _run(store, own_folder, GATE.replace('"precision"', f'"{evil}"'))
    markdown, html = as_markdown(report), gate_page(report)
    assert "<script" not in markdown
    assert "\\[x\\](javascript" in markdown
    for text in (markdown, html):
        assert "\x1b" not in text
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 8 for line in rows)


def _score(store: Store, chance: float, calibration: Calibration = Calibration.CALIBRATED) -> None:
    with store.write("score") as tx:
        pool = pool_named(tx.connection, "p")
        keys = tx.connection.execute(items_of_pool(pool.id).order_by(sa.text("1")))
        items = np.array([int(key) for (key,) in keys])
        rows = np.tile([1 - chance, chance / 2, chance / 2], (len(items), 1))
        add_scores(tx, pool.id, ItemScores("fit", calibration, "{}", 200, 20, items, rows))


def test_a_check_tells_how_many_relevant_ones_among_the_unknown_reverse_it(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, {name: g for name, g in graded({"b": 20}).items() if "-c" not in name})
    rules = GATE.replace("0.5", "0.7")
    (check,) = _run(store, own_folder, rules).checks
    # P@2 is 20 of 40 places; more than 28 are asked for, and each query has one unknown place.
    assert (check.least_flips, check.most_flips, check.available) == (9, 9, 20)
    assert check.chance_of_flips is None
    assert check.no_chance == "nothing is scored: labeler calibrate p"
    _score(store, 0.5, Calibration.UNCALIBRATED)
    assert _run(store, own_folder, rules).checks[0].chance_of_flips is None
    _score(store, 0.5)
    half = _run(store, own_folder, rules)
    # P(X >= 9) of 20 fair coins.
    assert half.checks[0].chance_of_flips == pytest.approx(0.748278, abs=1e-6)
    assert half.verdict is GateVerdict.BLOCKED
    assert "9 of 20 unknown items being relevant would reverse it" in half.checks[0].why
    assert "0.748 at most" in as_markdown(half)


def test_where_so_many_are_improbable_it_is_not_missing_labels_that_block(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, {name: g for name, g in graded({"b": 20}).items() if "-c" not in name})
    _score(store, 0.05)
    found = _run(store, own_folder, GATE.replace("0.5", "0.7"))
    (check,) = found.checks
    assert check.chance_of_flips is not None
    assert check.chance_of_flips < 0.05
    assert check.answer is Answer.INCONCLUSIVE
    assert found.verdict is GateVerdict.INCONCLUSIVE


def test_what_depends_on_no_label_has_nothing_to_reverse(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    domain = GATE.replace("P@2", "domain_accuracy@2").replace("0.5", "0.6")
    (check,) = _run(store, own_folder, domain).checks
    assert (check.least_flips, check.available, check.chance_of_flips) == (None, None, None)


VETO = GATE.replace("aggregate", "veto")


def test_a_veto_on_a_share_has_exact_limits(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 18}))
    (veto,) = _run(store, own_folder, VETO.replace("P@2", "P@1")).checks
    assert veto.interval_by == IntervalBy.EXACT_SHARE.value
    assert (veto.low, veto.high) == clopper_pearson(18, 20, confidence=0.9)
    (aggregate,) = _run(store, own_folder, GATE.replace("P@2", "P@1")).checks
    assert aggregate.interval_by == IntervalBy.BOUNDS.value


def test_a_veto_with_few_sampled_positives_has_the_sample_s_exact_limits(
    store: Store, own_folder: Path
) -> None:
    fill_gated(store, own_folder)
    everything = graded({"b": 20, "c": 7})
    label(store, own_folder, {name: g for name, g in everything.items() if "-c" not in name})
    both = Comparison("p", ("new", "old"), 2)
    draw_sample(store, "audit", SampleOptions(both, votes=16), ask_for_sample)
    label(store, own_folder, _drawn(store, everything), name="auditors")
    (aggregate,) = _run(store, own_folder, GATE).checks
    (veto,) = _run(store, own_folder, VETO).checks
    assert aggregate.interval_by == IntervalBy.SAMPLE.value
    assert veto.interval_by == IntervalBy.EXACT_SAMPLE.value
    assert veto.sampled is not None
    assert 5 <= veto.sampled <= 7
    assert veto.low is not None
    assert veto.high is not None
    # Of the 4 that nobody looked at none may be relevant, or all of them.
    least, most = hypergeometric_limits(20, 16, veto.sampled, (1 - 0.95) / 2)
    assert veto.low < (20 + least) / 40
    assert veto.high > (20 + most) / 40
    # A declared number of positives is still asked for.
    assert veto.causes[:1] == ("rare positives",)
    unsampled = VETO.replace("P@2", "recall@1")
    (other,) = _run(store, own_folder, unsampled).checks
    assert other.interval_by == IntervalBy.BOUNDS.value


def test_exact_limits_are_those_of_the_items_of_each_run(store: Store, own_folder: Path) -> None:
    fill_gated(store, own_folder)
    everything = graded({"b": 20, "c": 2})
    label(store, own_folder, {name: g for name, g in everything.items() if "-c" not in name})
    both = Comparison("p", ("new", "old"), 2)
    draw_sample(store, "audit", SampleOptions(both, votes=16), ask_for_sample)
    label(store, own_folder, _drawn(store, everything), name="auditors")
    with store.read() as connection:
        evaluated = read_evaluated(connection, "p", ["new", "old"], LabelSource.HUMAN)
        completed = read_completed_labels(connection, evaluated)
    assert completed is not None
    inside = np.ones(20, dtype=np.bool_)
    found = sampled_positives(evaluated, completed, inside)
    low, high = hypergeometric_limits(20, 16, found, (1 - 0.9) / 2)
    precision = parse_metric("P@2")
    alone = exact_limits(evaluated, completed, precision, ("new", None), inside, confidence=0.9)
    less = exact_limits(evaluated, completed, precision, ("new", "old"), inside, confidence=0.9)
    assert alone is not None
    assert less is not None
    assert (alone.low, alone.high) == pytest.approx(((20 + low) / 40, (20 + high) / 40))
    # What both have moves both alike, and only the new run has c.
    assert (less.low, less.high) == pytest.approx((low / 40, high / 40))
    assert (
        exact_limits(
            evaluated, completed, parse_metric("MRR"), ("new", None), inside, confidence=0.9
        )
        is None
    )
