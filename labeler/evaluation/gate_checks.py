"""What a release gate answers: pure decisions over values, intervals and counts.

A check passes only when its whole interval lies beyond the boundary, and it fails only when the
whole interval lies on the other side; the favourable end of an interval never decides. A gate
passes when all of its checks do, which keeps the error of each (an intersection-union test: Berger
1982, Technometrics 24, 295-300), so that checks are not adjusted for one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from labeler.evaluation.estimators import LEAST_POSITIVES
from labeler.evaluation.intervals import LEAST_CLUSTERS
from labeler.evaluation.posterior import Interval
from labeler.evaluation.reversal import Reversal

__all__ = [
    "Answer",
    "Cause",
    "CheckAnswer",
    "Direction",
    "Evidence",
    "GateVerdict",
    "IntervalBy",
    "Requirement",
    "Role",
    "answer_check",
    "clusters_for_boundary",
    "confidence_for",
    "gate_verdict",
    "least_queries_for_quantile",
    "least_queries_for_share",
    "needs_exact_limits",
]


_FEW_POSITIVES = 5


class Role(StrEnum):
    """What hangs on a check."""

    VETO = "veto"
    """It must pass, whatever else does."""
    AGGREGATE = "aggregate"
    """It must pass, once no veto stands in the way."""
    REVIEW = "review"
    """Where it doesn't pass, a person is told to look; the gate's verdict stays."""


class Direction(StrEnum):
    """On which side of its boundary a metric is to lie."""

    ABOVE = "above"
    BELOW = "below"


class Answer(StrEnum):
    """What a check comes to."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    BLOCKED = "blocked by missing labels"
    UNREACHABLE = "unreachable"


class Cause(StrEnum):
    """Why a check neither passes nor fails."""

    FEW_QUERIES = "too few queries"
    INCOMPLETE = "incomplete judgments"
    RARE_POSITIVES = "rare positives"
    UNSTABLE = "unstable labels"
    CEILING = "the ceiling"
    SAMPLE_SIZE = "the sample size"
    UNDEFINED = "undefined"


class IntervalBy(StrEnum):
    """How the interval of a check was made."""

    BOUNDS = "cluster-t, unknown labels at worst and at best"
    SAMPLE = "cluster-t over label sets of a sample"
    WEIGHTED_SAMPLE = "cluster-t over weighted totals of a sample"
    EXACT_SAMPLE = "exact limits of a sample, and cluster-t"
    EXACT_SHARE = "exact limits of a share, unknown labels at worst and at best"
    ORDER = "order statistics"


class GateVerdict(StrEnum):
    """What a gate comes to."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    BLOCKED = "blocked by missing labels"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a check asks for.

    Attributes:
        role: What hangs on it.
        boundary: The boundary that the metric's interval is compared with.
        direction: On which side of it the metric is to lie.
        alpha: The error, in (0, 0.5); a veto's is from one side.
        least_clusters: Clusters of queries without which nothing is decided, 8 or more.
        least_coverage: The share of judged places without which it can't pass, in [0, 1], unless a
            sample stands in for the others.
        least_positives: Sampled relevant items without which a sample decides nothing.
        least_agreement: Agreement between people without which it can't pass, or None.
        most_coverage_gap: By how much the judged shares of two compared runs may differ.
    """

    role: Role
    boundary: float
    direction: Direction
    alpha: float = 0.05
    least_clusters: int = LEAST_CLUSTERS
    least_coverage: float = 0.0
    least_positives: int = LEAST_POSITIVES
    least_agreement: float | None = None
    most_coverage_gap: float = 0.05


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a check's metric.

    Attributes:
        value: The metric, unknown labels as its name says; None where it is undefined.
        interval: Of the confidence that `confidence_for` gives, with the uncertainty of queries,
            and with that of labels: from a sample, or from the worst to the best that unknown
            labels could be. None with too few clusters.
        lowest: The metric when every unknown label is what hurts it most, or None where no label
            matters.
        highest: The metric when every unknown label is what helps it most.
        ceiling: The best that any ranking could reach if every unknown item of the frame were
            relevant, or None where there is no such limit.
        clusters: Clusters of the queries that count.
        queries: Queries that count.
        needed_queries: The least queries with which a flawless result could pass; 0 if any can.
        coverage: The share of judged places, or None where no label matters.
        query_share: The share of the interval's variance that more queries would remove, [0, 1].
        positives: Relevant items among the sampled ones, or None where no sample was used.
        agreement: Between people on relevant or not, as Krippendorff's alpha, or None where
            nobody measured it.
        coverage_gap: By how much the judged shares of two compared runs differ; 0 for one run.
        reversal: How many unknown items would have to be relevant to carry the value across the
            boundary; None where nobody counted them, and then the limits above tell.
        chance_of_flips: The calibrated probability that at least so many are, or None.
        interval_by: How the interval was made.
    """

    value: float | None
    interval: Interval | None
    lowest: float | None
    highest: float | None
    ceiling: float | None
    clusters: int
    queries: int
    needed_queries: int = 0
    coverage: float | None = None
    query_share: float = 1.0
    positives: int | None = None
    agreement: float | None = None
    coverage_gap: float = 0.0
    reversal: Reversal | None = None
    chance_of_flips: float | None = None
    interval_by: IntervalBy = IntervalBy.BOUNDS


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """What a check comes to, and why.

    Attributes:
        answer: The answer.
        causes: Why it is neither pass nor fail, the weightiest first.
    """

    answer: Answer
    causes: tuple[Cause, ...] = ()


def confidence_for(role: Role, alpha: float) -> float:
    """Give the confidence of the two-sided interval that a check is decided by.

    ``1 - 2 alpha`` for a veto, which is one-sided at alpha, and ``1 - alpha`` for the others.
    """
    return 1 - 2 * alpha if role is Role.VETO else 1 - alpha


def needs_exact_limits(role: Role, positives: int) -> bool:
    """Tell whether so few sampled items are relevant that an interval has to be exact.

    Below 5 always, and for a veto below 10: other intervals miss more often on one side than on
    the other there, and a veto looks at one side alone.
    """
    return positives < (LEAST_POSITIVES if role is Role.VETO else _FEW_POSITIVES)


def answer_check(asked: Requirement, found: Evidence) -> CheckAnswer:
    """Decide one check.

    What no answer of people could change comes first: a target that can't be met on these queries,
    then a failure that holds whatever the unknown labels are.
    """
    impossible = _impossible(asked, found)
    if impossible is not None:
        return CheckAnswer(Answer.UNREACHABLE, (impossible,))
    if found.value is None:
        if found.coverage is not None and found.coverage < 1:
            return CheckAnswer(Answer.BLOCKED, (Cause.INCOMPLETE, Cause.UNDEFINED))
        return CheckAnswer(Answer.INCONCLUSIVE, (Cause.UNDEFINED,))
    few = found.clusters < max(asked.least_clusters, LEAST_CLUSTERS) or found.interval is None
    if found.interval is not None and not few and _is_beyond(asked, found.interval, failing=True):
        return CheckAnswer(Answer.FAIL)
    if not few and _labels_decide(asked, found):
        return CheckAnswer(Answer.BLOCKED, (Cause.INCOMPLETE,))
    beyond = found.interval is not None and _is_beyond(asked, found.interval, failing=False)
    causes = list(_unmet(asked, found))
    if few:
        causes.insert(0, Cause.FEW_QUERIES)
    elif not beyond:
        causes = list(dict.fromkeys((*causes, _weightier(found))))
    return CheckAnswer(Answer.INCONCLUSIVE, tuple(causes)) if causes else CheckAnswer(Answer.PASS)


def _impossible(asked: Requirement, found: Evidence) -> Cause | None:
    if (
        asked.direction is Direction.ABOVE
        and found.ceiling is not None
        and found.ceiling <= asked.boundary
    ):
        return Cause.CEILING
    return Cause.SAMPLE_SIZE if found.needed_queries > found.queries else None


def _is_beyond(asked: Requirement, interval: Interval, *, failing: bool) -> bool:
    above = (asked.direction is Direction.ABOVE) != failing
    return interval.low > asked.boundary if above else interval.high < asked.boundary


def _labels_decide(asked: Requirement, found: Evidence) -> bool:
    """Tell whether unknown labels alone put the metric on one side of the boundary or the other.

    They do when some number of them being relevant reverses it, unless so many are less probable
    than alpha. Where a sample tells how many are relevant they no longer do.
    """
    if found.lowest is None or found.highest is None or found.positives is not None:
        return False
    if found.reversal is not None:
        is_probable = found.chance_of_flips is None or found.chance_of_flips >= asked.alpha
        return found.reversal.least is not None and is_probable
    return found.lowest <= asked.boundary <= found.highest and found.lowest < found.highest


def _unmet(asked: Requirement, found: Evidence) -> Iterable[Cause]:
    """Give what was demanded beforehand and isn't there."""
    short = found.coverage is not None and found.coverage < asked.least_coverage
    uneven = found.coverage_gap > asked.most_coverage_gap
    # A sample stands in for what isn't judged: its interval holds what it leaves open.
    if (short or uneven) and found.positives is None:
        yield Cause.INCOMPLETE
    if found.positives is not None and found.positives < asked.least_positives:
        yield Cause.RARE_POSITIVES
    if asked.least_agreement is not None and (
        found.agreement is None or found.agreement < asked.least_agreement
    ):
        yield Cause.UNSTABLE


def _weightier(found: Evidence) -> Cause:
    return Cause.FEW_QUERIES if found.query_share >= 0.5 else Cause.INCOMPLETE  # noqa: PLR2004 - half


def gate_verdict(checks: Sequence[tuple[Role, Answer]]) -> GateVerdict:
    """Decide a gate from its checks.

    A veto that fails, then one that doesn't pass; then an aggregate check that fails whatever the
    missing labels are, then those that wait for labels, then those that are open otherwise. Checks
    for review decide nothing.
    """
    vetoes = {answer for role, answer in checks if role is Role.VETO}
    others = {answer for role, answer in checks if role is Role.AGGREGATE}
    for answers in (vetoes, others):
        if Answer.FAIL in answers:
            return GateVerdict.FAILED
        if Answer.BLOCKED in answers:
            return GateVerdict.BLOCKED
        if answers - {Answer.PASS}:
            return GateVerdict.INCONCLUSIVE
    return GateVerdict.PASSED


def clusters_for_boundary(asked: Requirement, found: Evidence) -> int | None:
    """Estimate the clusters with which an interval as wide as this one would clear the boundary.

    The width goes with one over the root of their number: ``G (reach / distance)^2``.

    Returns:
        A number above the present one; None where the value lies on the boundary, or where the
        interval isn't made of the spread between queries.
    """
    if found.value is None or found.interval is None:
        return None
    distance = abs(found.value - asked.boundary)
    reach = found.interval.width / 2
    if distance == 0 or reach == 0:
        return None
    needed = math.ceil(found.clusters * (reach / distance) ** 2)
    return max(needed, found.clusters + 1, asked.least_clusters)


def least_queries_for_share(boundary: float, confidence: float) -> int:
    """Give the least queries of which a flawless share shows that it is above a boundary.

    The lower limit of Clopper and Pearson (1934) for n of n is ``(alpha / 2)^(1/n)``.

    Args:
        boundary: In [0, 1).
        confidence: Of the two-sided interval.
    """
    tail = (1 - confidence) / 2
    return 1 if boundary <= 0 else math.floor(math.log(tail) / math.log(boundary)) + 1


def least_queries_for_quantile(quantile: float, confidence: float) -> int:
    """Give the least values whose largest one bounds a quantile from above.

    ``P(all below) = q^n <= alpha / 2`` (David and Nagaraja 2003, "Order Statistics", section 7.1).

    Args:
        quantile: In (0, 1).
        confidence: Of the two-sided interval.
    """
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(quantile))
