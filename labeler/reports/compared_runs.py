"""What is compared, and what a comparison comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from labeler.evaluation.metrics import DEFAULT_METRICS, Metric
from labeler.evaluation.paired import PairedDifference
from labeler.evaluation.posterior import Interval
from labeler.reports.across_snapshots import SnapshotsDiffer
from labeler.reports.conditions import Conditions
from labeler.reports.evaluated import ALL
from labeler.reports.scope import ScopeOptions

__all__ = ["Adjustment", "ComparedRuns", "ComparisonOptions", "ComparisonReport", "Finding"]


class Adjustment(StrEnum):
    """How several comparisons share one error."""

    HOLM = "holm"
    MAX_T = "max-t"


class Finding(StrEnum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    BETTER_SO_FAR = "better on what is judged"
    """Labels that are still unknown could turn it round."""
    WORSE_SO_FAR = "worse on what is judged"
    OPEN = "no difference shown"
    FEW_CLUSTERS = "inconclusive: too few clusters"
    JUDGMENTS_FIRST = "refused: judgments first"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What is compared: every run with one reference, by every metric, on every slice.

    Attributes:
        scope: Runs, pool, labels, revision.
        against: The run that the others are compared with; the first by default.
        metrics: The metrics.
        slices: The slices.
        adjustment: How all of these comparisons share one error.
        seed: Decides bootstraps and sign flips.
    """

    scope: ScopeOptions
    against: str | None = None
    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    slices: tuple[str, ...] = (ALL,)
    adjustment: Adjustment = Adjustment.HOLM
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """One comparison.

    Attributes:
        run: The run.
        against: The run that it is compared with.
        metric: The metric's name, which says whose labels it takes.
        slice: The queries.
        found: The difference with its intervals, unknown labels as the metric's name says.
        micro: The difference of the micro averages, or None.
        weighted: The difference of means weighted by production share, or None.
        lowest: The difference with every unknown label at its worst for the run.
        highest: The difference with every unknown label at its best.
        coverage: The run's judged share, or None.
        other_coverage: The other's.
        unpooled: The share of a run's top that is outside of the frame: the larger of the two.
        adjusted_p: The p-value, adjusted for all comparisons that were declared.
        adjusted_interval: The interval that holds together with all others; by max-T alone.
        finding: What it comes to.
        command: What collects what is missing, or None.
    """

    run: str
    against: str
    metric: str
    slice: str
    found: PairedDifference
    micro: float | None
    weighted: float | None
    lowest: float | None
    highest: float | None
    coverage: float | None
    other_coverage: float | None
    unpooled: float
    adjusted_p: float | None
    adjusted_interval: Interval | None
    finding: Finding
    command: str | None

    @property
    def is_robust(self) -> bool:
        """Whether no way to label what is unknown changes the sign of the difference."""
        if self.lowest is None or self.highest is None:
            return False
        return self.lowest > 0 or self.highest < 0


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Several comparisons, declared together.

    Attributes:
        conditions: What every number rests on.
        adjustment: How the comparisons share one error.
        declared: How many there are.
        differences: In what the configurations differ from the reference's, by run.
        comparisons: By slice, metric and run.
        notices: What a reader should know besides.
        across: How the snapshots differ where runs stand on two, or None.
    """

    conditions: Conditions
    adjustment: str
    declared: int
    differences: dict[str, tuple[str, ...]]
    comparisons: tuple[ComparedRuns, ...]
    notices: tuple[str, ...]
    across: SnapshotsDiffer | None = None
