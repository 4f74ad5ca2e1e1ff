"""What to do about a check that doesn't pass: why in a sentence, and the command that helps."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from labeler.evaluation.gate_checks import (
    Answer,
    Cause,
    CheckAnswer,
    Direction,
    Evidence,
    clusters_for_boundary,
)
from labeler.reports.completed_labels import AnsweredSample, CompletedLabels
from labeler.reports.gate_file import Check, GateFile
from labeler.reports.gate_flips import CheckFlips, flips_in_words

__all__ = ["Advice", "Judged", "Surroundings", "advise"]

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


@dataclass(frozen=True, eq=False)
class Judged:
    """A check with what is known about it and its answer.

    Attributes:
        check: The check.
        found: What is known.
        flips: What it takes to reverse it, or None where no label matters.
        answer: Its answer.
    """

    check: Check
    found: Evidence
    flips: CheckFlips | None
    answer: CheckAnswer

    @property
    def wants_labels(self) -> bool:
        """Whether more labels would bring it forward."""
        return bool({Cause.INCOMPLETE, Cause.RARE_POSITIVES} & set(self.answer.causes))

    @property
    def wants_a_sample(self) -> bool:
        """Whether a sample of labels would do."""
        return self.wants_labels and self.check.metric.name != "recall"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What advice depends on beside the checks.

    Attributes:
        gate: The gate.
        pooled_depths: The depth to which each run of the gate is in the pool; 0 for one that isn't.
        sample: The latest sample of the pool with what is answered of it, or None.
        completed: What it shows, or None.
        has_query_log: Whether queries can be drawn from an imported log.
    """

    gate: GateFile
    pooled_depths: dict[str, int]
    sample: AnsweredSample | None
    completed: CompletedLabels | None
    has_query_log: bool


def advise(judged: Sequence[Judged], around: Surroundings) -> list[Advice]:
    """Say why each check came out as it did, and give the commands that collect what is missing.

    One sample of one pool serves all checks, so that those which want labels get the same commands:
    for the deepest of them, and for the one that takes the most votes.
    """
    wanting = [one for one in judged if one.wants_a_sample]
    sampling = _sampling(wanting, around) if wanting else Advice("")
    return [_advice(one, sampling, around) for one in judged]


def _advice(judged: Judged, sampling: Advice, around: Surroundings) -> Advice:
    check, found, answer = judged.check, judged.found, judged.answer
    if answer.answer is Answer.UNREACHABLE:
        return _unreachable(check, found, answer)
    if answer.answer in {Answer.PASS, Answer.FAIL}:
        side = "beyond" if answer.answer is Answer.PASS else "on the wrong side of"
        return Advice(f"the whole interval is {side} {check.asked.boundary:g}")
    told = [_by_cause(cause, check, found, around) for cause in answer.causes]
    whys, commands = [one.why for one in told], [typed for one in told for typed in one.commands]
    if judged.wants_labels:
        labels = sampling if judged.wants_a_sample else _every_label(judged, around)
        whys += [labels.why] if labels.why else []
        commands += labels.commands
    if answer.answer is Answer.BLOCKED and found.lowest is not None and found.highest is not None:
        whys.insert(
            0,
            f"the labels that are missing decide it: from {found.lowest:.3f} to "
            f"{found.highest:.3f} is possible",
        )
    if judged.flips is not None and found.positives is None:
        flips = judged.flips
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


def _by_cause(cause: Cause, check: Check, found: Evidence, around: Surroundings) -> Advice:
    if cause is Cause.FEW_QUERIES:
        return _few_queries(check, found, around)
    if cause is Cause.INCOMPLETE:
        covered = "" if found.coverage is None else f" ({found.coverage:.1%} of places are judged)"
        return Advice(f"incomplete judgments{covered}")
    if cause is Cause.RARE_POSITIVES:
        why = f"only {found.positives} of the sampled items are relevant"
        return Advice(f"{why}; {check.asked.least_positives} are the least")
    if cause is Cause.UNSTABLE:
        told = "nobody measured how far people agree"
        if found.agreement is not None:
            told = f"people agree among themselves by {found.agreement:.2f} only"
        pool = shlex.quote(around.gate.pool)
        return Advice(f"unstable labels: {told}", (f"labeler report agreement --pool {pool}",))
    return Advice("undefined: no query has what the metric divides by")


def _few_queries(check: Check, found: Evidence, around: Surroundings) -> Advice:
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
    return Advice(why, (command,))


def _is_on_wrong_side(check: Check, value: float) -> bool:
    above = check.asked.direction is Direction.ABOVE
    return value < check.asked.boundary if above else value > check.asked.boundary


def _sampling(wanting: Sequence[Judged], around: Surroundings) -> Advice:
    """Give what draws the missing judgments: first a deeper or wider pool, where one is needed."""
    gate, completed = around.gate, around.completed
    runs = [gate.candidate, *([gate.baseline] if gate.baseline is not None else [])]
    named = "".join(f" --runs {shlex.quote(run)}" for run in runs)
    depth = min(around.pooled_depths.get(run, 0) for run in runs)
    deepest = max(one.check.metric.cutoff or _TOP for one in wanting)
    if depth < deepest:
        pool = f"{gate.pool}-top{deepest}"
        made = (
            f"labeler pool create {shlex.quote(pool)} --depth {deepest}{named} "
            f"--extends {shlex.quote(gate.pool)}"
        )
        why = (
            f"the pool holds the top {depth} of them all, and {deepest} are looked at: make a "
            f'deeper one, and name it in the gate file (pool = "{pool}")'
        )
        return Advice(why, (made, *_drawing(pool, f"{named} --k {deepest} --votes {_VOTES}")))
    if around.sample is None:
        return Advice("", _drawing(gate.pool, f"{named} --k {deepest} --votes {_VOTES}"))
    drawn = around.sample
    if drawn.waiting:
        why = f"{drawn.waiting:,} drawn items wait for people"
        return Advice(why, (f"labeler review --pool {shlex.quote(gate.pool)}",))
    if not drawn.left:
        return Advice("the sample holds all that was unknown to it when it was drawn")
    votes = _VOTES
    if completed is not None:
        votes = max(_more_votes(one.check, one.found, completed) for one in wanting)
    named = f" --name {shlex.quote(drawn.sample.name)}"
    return Advice("", _drawing(gate.pool, f"{named} --continue --votes {min(votes, drawn.left)}"))


def _every_label(judged: Judged, around: Surroundings) -> Advice:
    """Give what asks for all labels of a pool, for what no sample can tell."""
    pool, metric = shlex.quote(around.gate.pool), judged.check.metric
    why = (
        "a sample that crosses queries can't tell the mean of their recall, so that all of the "
        f"pool has to be judged; recall over all queries together, pooled_{metric}, needs a sample"
    )
    return Advice(why, (f"labeler route {pool}", f"labeler review --pool {pool}"))


def _drawing(pool: str, options: str) -> tuple[str, str]:
    named = shlex.quote(pool)
    return f"labeler sample draw {named}{options}", f"labeler review --pool {named}"


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
