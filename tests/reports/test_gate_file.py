from pathlib import Path

import pytest

from labeler.errors import InputError
from labeler.evaluation.gate_checks import Direction, Role
from labeler.reports.gate_file import GateFile, parse_gate

GATE = """
name = "release"
pool = "demo"
candidate = "filtered"
baseline = "lexical"

[defaults]
alpha = 0.05
least_clusters = 15

[[check]]
metric = "P@5"
role = "aggregate"
direction = "above"
boundary = 0.80

[[check]]
metric = "latency_p95"
role = "veto"
direction = "below"
boundary = 1000
alpha = 0.01

[[check]]
name = "no loss on returns"
metric = "recall@20"
slice = "domain:returns"
role = "veto"
direction = "above"
boundary = -0.02
compare = "baseline"
least_coverage = 0.9
"""


def _parsed(tmp_path: Path, text: str) -> GateFile:
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return parse_gate(path)


def test_a_gate_is_read_with_its_defaults(tmp_path: Path) -> None:
    gate = _parsed(tmp_path, GATE)
    assert (gate.name, gate.pool, gate.candidate, gate.baseline, gate.labels) == (
        "release",
        "demo",
        "filtered",
        "lexical",
        "human",
    )
    precision, latency, recall = gate.checks
    assert (precision.name, str(precision.metric)) == ("P@5", "P@5")
    assert (precision.asked.least_clusters, precision.asked.alpha) == (15, 0.05)
    assert (latency.asked.role, latency.asked.direction, latency.asked.alpha) == (
        Role.VETO,
        Direction.BELOW,
        0.01,
    )
    assert (latency.metric.is_latency, latency.metric.quantile) == (True, 0.95)
    assert (recall.slice, recall.against_baseline, recall.asked.boundary) == (
        "domain:returns",
        True,
        -0.02,
    )


def test_the_digest_is_that_of_the_rules_and_not_of_comments(tmp_path: Path) -> None:
    gate = _parsed(tmp_path, GATE)
    assert _parsed(tmp_path, f"# a comment\n{GATE}\n").digest == gate.digest
    for before, after in (("0.80", "0.79"), ('"veto"', '"review"'), ("least_coverage = 0.9", "")):
        assert _parsed(tmp_path, GATE.replace(before, after)).digest != gate.digest


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('name = "release"', "", "lacks 'name'"),
        ('"P@5"', '"P@0"', "no metric"),
        ('"P@5"', '"precision"', "no metric"),
        ('"P@5"', '"MRR@5"', "no metric"),
        ('"latency_p95"', '"latency_p99"', "no metric"),
        ('"aggregate"', '"must"', "role is"),
        ('"below"', '"under"', "direction is"),
        ("boundary = 0.80", "boundary = true", "boundary is a number"),
        ("boundary = 0.80", "", "boundary is a number"),
        ("alpha = 0.01", "alpha = 0.7", "alpha is from"),
        ("least_clusters = 15", "least_clusters = 3", "least_clusters is from"),
        ('compare = "baseline"', 'compare = "production"', "compare is"),
        ('baseline = "lexical"', "", "compares with the baseline"),
        ("least_coverage", "least_coverag", "has 'least_coverag'"),
        ('name = "no loss on returns"', 'name = "P@5"', "two checks"),
        ("[[check]]", "[[checks]]", "there is no [[check]]"),
        ('name = "release"', "name = release", "no TOML"),
        ('pool = "demo"', 'pool = "demo"\nlabels = "judge"', "labels is"),
        ("boundary = 1000\n", 'boundary = 1000\ncompare = "baseline"\n', "latencies are"),
    ],
)
def test_a_fault_is_told_and_nothing_is_guessed(
    tmp_path: Path, before: str, after: str, problem: str
) -> None:
    assert before in GATE
    with pytest.raises(InputError) as raised:
        _parsed(tmp_path, GATE.replace(before, after))
    assert any(problem in fault.problem for fault in raised.value.faults)


def test_all_faults_are_listed(tmp_path: Path) -> None:
    text = GATE.replace('"aggregate"', '"must"').replace('"below"', '"under"')
    with pytest.raises(InputError) as raised:
        _parsed(tmp_path, text)
    assert len(raised.value.faults) == 2


def test_a_fault_of_the_defaults_is_told_once_and_not_of_each_check(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        _parsed(tmp_path, GATE.replace("[defaults]\n", "[defaults]\nleast_coverag = 0.9\n"))
    assert len(raised.value.faults) == 1
    assert "defaults has 'least_coverag'" in raised.value.faults[0].problem


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        parse_gate(tmp_path / "nothing.toml")
