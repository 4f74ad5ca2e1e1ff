"""What to do about a check that doesn't pass: why in a sentence, and the command that helps."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass

from labeler.evaluation.gate_checks import (
    Answer,
    Cause,
    CheckAnswer,
    Direction,
    Evidence,
    clusters_for_boundary,
)
from labeler.reports.completed_labels import CompletedLabels
from labeler.reports.gate_file import Check, GateFile
from labeler.reports.gate_flips import CheckFlips, flips_in_words

__all__ = ["Advice", "Surroundings", "advise"]

_VOTES = 60
"""Votes of a first sample, where nothing tells how many are needed: it decided the reversal of
two systems on TREC DL 2019 rightly (tests/benchmarks/reversal.py)."""

_TOP = 10
"""How deep a sample looks for a metric without a cutoff of its own."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What is told beside a check.

    Attributes:
        why: One sentence.
        commands: What to type, in this order; empty where nothing that can be typed helps.
    """

    why: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What advice depends on beside the check.

    Attributes:
        gate: The gate.
        pooled_depths: The depth to which each run of the gate is in the pool; 0 for one that isn't.
        completed: What the latest sample of the pool shows, or None.
        has_query_log: Whether queries can be drawn from an imported log.
    """

    gate: GateFile
    pooled_depths: dict[str, int]
    completed: CompletedLabels | None
    has_query_log: bool


def advise(
    check: Check,
    found: Evidence,
    flips: CheckFlips | None,
    answer: CheckAnswer,
    around: Surroundings,
) -> Advice:
    """Say why a check came out as it did, and give the commands that collect what is missing."""
    if answer.answer is Answer.UNREACHABLE:
        return _unreachable(check, found, answer)
    if answer.answer in {Answer.PASS, Answer.FAIL}:
        side = "beyond" if answer.answer is Answer.PASS else "on the wrong side of"
        return Advice(f"the whole interval is {side} {check.asked.boundary:g}")
    whys, commands = [], []
    for cause in answer.causes:
        why, typed = _by_cause(cause, check, found, around)
        whys.append(why)
        commands += typed
    if answer.answer is Answer.BLOCKED and found.lowest is not None and found.highest is not None:
        whys.insert(
            0,
            f"the labels that are missing decide it: from {found.lowest:.3f} to "
            f"{found.highest:.3f} is possible",
        )
    if flips is not None and found.positives is None:
        words = flips_in_words(flips.reversal, flips.chance, flips.no_chance)
        whys += [words] if words is not None else []
    return Advice("; ".join(whys), tuple(dict.fromkeys(commands)))


def _unreachable(check: Check, found: Evidence, answer: CheckAnswer) -> Advice:
    boundary = check.asked.boundary
    if Cause.CEILING in answer.causes:
        return Advice(
            f"no ranking can pass: on these queries {check.metric} is {found.ceiling or 0:.3f} at "
            f"most, even with every unknown item of the frame relevant, and {boundary:g} is asked "
            "for; set a boundary below it, a smaller cutoff, or queries with more relevant evidence"
        )
    return Advice(
        f"no result can pass with {found.queries:,} measured queries; "
        f"{found.needed_queries:,} are the least with which a flawless one does",
        ("labeler import queries FILE",),
    )


def _by_cause(
    cause: Cause, check: Check, found: Evidence, around: Surroundings
) -> tuple[str, list[str]]:
    if cause is Cause.FEW_QUERIES:
        return _few_queries(check, found, around)
    if cause is Cause.INCOMPLETE:
        covered = "" if found.coverage is None else f" ({found.coverage:.1%} of places are judged)"
        return f"incomplete judgments{covered}", _sample_commands(check, found, around)
    if cause is Cause.RARE_POSITIVES:
        why = f"only {found.positives} of the sampled items are relevant"
        return f"{why}; {check.asked.least_positives} are the least", _sample_commands(
            check, found, around
        )
    if cause is Cause.UNSTABLE:
        told = "nobody measured how far people agree"
        if found.agreement is not None:
            told = f"people agree among themselves by {found.agreement:.2f} only"
        pool = shlex.quote(around.gate.pool)
        return f"unstable labels: {told}", [f"labeler report agreement --pool {pool}"]
    return "undefined: no query has what the metric divides by", []


def _few_queries(check: Check, found: Evidence, around: Surroundings) -> tuple[str, list[str]]:
    by_spread = found.query_share >= 0.5  # noqa: PLR2004 - else more labels narrow it, not queries
    needed = clusters_for_boundary(check.asked, found) if by_spread else None
    least = max(check.asked.least_clusters, needed or 0)
    more = max(1, least - found.clusters)
    why = f"too few queries: {found.clusters:,} clusters"
    if found.value is not None and _is_on_wrong_side(check, found.value):
        why += ", and the value itself is on the wrong side: more queries would rather confirm that"
    elif needed is not None:
        why += f", about {least:,} would show a value like this one"
    command = "labeler import queries FILE"
    if around.has_query_log:
        command = f"labeler sample queries --n {more}"
    return why, [command]


def _is_on_wrong_side(check: Check, value: float) -> bool:
    above = check.asked.direction is Direction.ABOVE
    return value < check.asked.boundary if above else value > check.asked.boundary


def _sample_commands(check: Check, found: Evidence, around: Surroundings) -> list[str]:
    """Give what draws the missing judgments: a deeper or wider pool first, where one is needed.

    One sample serves all checks of a pool, so it is drawn over both runs and as deep as any of
    them looks.
    """
    gate = around.gate
    runs = [gate.candidate, *([gate.baseline] if gate.baseline is not None else [])]
    named = "".join(f" --runs {shlex.quote(run)}" for run in runs)
    depth = min(around.pooled_depths.get(run, 0) for run in runs)
    cutoffs = [one.metric.cutoff or _TOP for one in gate.checks if one.metric.is_of_labels]
    pool, cutoff, commands = gate.pool, check.metric.cutoff or _TOP, []
    if depth < cutoff:
        deepest = max(cutoffs)
        pool = f"{gate.pool}-top{deepest}"
        commands.append(
            f"labeler pool create {shlex.quote(pool)} --depth {deepest}{named} "
            f"--extends {shlex.quote(gate.pool)}"
        )
        cutoff = deepest
    elif around.completed is not None:
        more = _more_votes(check, found, around.completed)
        sample = shlex.quote(around.completed.sample)
        return [
            f"labeler sample draw {shlex.quote(pool)} --name {sample} --continue --votes {more}",
            f"labeler review --pool {shlex.quote(pool)}",
        ]
    else:
        cutoff = max(one for one in cutoffs if one <= depth)
    return [
        *commands,
        f"labeler sample draw {shlex.quote(pool)}{named} --k {cutoff} --votes {_VOTES}",
        f"labeler review --pool {shlex.quote(pool)}",
    ]


def _more_votes(check: Check, found: Evidence, completed: CompletedLabels) -> int:
    """Estimate how many more votes narrow the share of labels, ``n B / B'`` less what is there.

    B' is what the distance to the boundary leaves for labels beside the spread of queries; where
    it leaves nothing, as many again as there are.
    """
    labelled = max(completed.labelled, 1)
    if found.positives is not None and 0 < found.positives < check.asked.least_positives:
        return math.ceil(labelled * check.asked.least_positives / found.positives) - labelled
    if found.value is None or found.interval is None:
        return labelled
    distance = abs(found.value - check.asked.boundary)
    reach = found.interval.width / 2
    of_queries = found.query_share * reach**2
    of_labels = (1 - found.query_share) * reach**2
    room = distance**2 - of_queries
    if room <= 0:
        return labelled
    return max(1, math.ceil(labelled * of_labels / room) - labelled)
