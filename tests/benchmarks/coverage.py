"""Measure how often the intervals of samples cover the truth.

python -m tests.benchmarks.coverage [draws]

Four parts, each with 1,000 seeded draws by default:

1. Frames of TREC DL 2019: the judged part of the top 100 of six systems; what BM25 and TAS-B have
   in their top 10 is known, the rest is drawn from. Strata as `labeler sample` makes them, over
   who retrieved an item at 20 and thirds of a raw language-model judge; where it says calibrated,
   of that judge calibrated on other queries, on which the interval's prior leans then.
2. Simulated frames: what was retrieved is known, of the rest some are drawn; few are relevant.
3. Slices of a frame, from the same draws (tests/benchmarks/coverage_of_slices.py).
4. Queries and labels together (tests/benchmarks/coverage_of_queries.py).

It ends with status 1 when an interval covers less often than it should, by more than two standard
errors. Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.evaluation.estimators import Known, Strength
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import DrawnStratum, Estimand, estimate, facts_of
from tests.benchmarks.measuring import collection
from tests.benchmarks.track_frames import (
    K,
    Track,
    TrackSetting,
    framed,
    inside_of,
    known_of,
    truth_of,
)

__all__ = ["Coverage", "SimulatedFrame", "Tally", "cover_simulated", "cover_track", "floor_of"]

DRAWS = 1_000
ENOUGH, FEW = 20.0, 5.0
MOSTLY = 0.95


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often an interval covered.

    Attributes:
        what: The setting and what was estimated.
        positives: Relevant items in the sample, on average.
        covered: The share of intervals that held the truth.
        width: Their mean width.
        weak: The share of draws whose status was weak, or that found nothing relevant.
        draws: How many draws.
        floor: The least share that would do, two standard errors taken off; None is reported only.
    """

    what: str
    positives: float
    covered: float
    width: float
    weak: float
    draws: int
    floor: float | None

    @property
    def is_enough(self) -> bool:
        """Whether it covers often enough, and a weak sample says so."""
        says_so = self.weak >= MOSTLY or not self.positives < FEW
        return self.floor is None or (self.covered >= self.floor and says_so)


def floor_of(positives: float, draws: int, goal: float = 0.93) -> float | None:
    """Give the least share that would do, for so many expected positives."""
    if FEW <= positives < ENOUGH:
        return None
    share = goal if positives >= ENOUGH else 0.95
    return share - 2 * math.sqrt(share * (1 - share) / draws)


SETTINGS = (
    TrackSetting("REP_LLAMA", "BM25", 60),
    TrackSetting("REP_LLAMA", "BM25", 100),
    TrackSetting("REP_LLAMA", "BM25", 200),
    TrackSetting("REP_LLAMA", "BM25", 400),
    TrackSetting("REP_LLAMA", "BM25", 100, least_grade=3),
    TrackSetting("REP_LLAMA", "BM25", 200, least_grade=3),
    TrackSetting("REP_LLAMA", "BM25", 100, queries=10),
    TrackSetting("REP_LLAMA", "BM25", 60, depth=20),
    TrackSetting("SPLADE_P_P_ENSEMBLE_DISTIL", "OPEN_AI_ADA2", 100),
    TrackSetting("SPLADE_P_P_ENSEMBLE_DISTIL", "OPEN_AI_ADA2", 200, least_grade=3),
    TrackSetting("REP_LLAMA", "BM25", 100, calibrated=True),
    TrackSetting("REP_LLAMA", "BM25", 200, calibrated=True),
    TrackSetting("REP_LLAMA", "BM25", 200, least_grade=3, calibrated=True),
    TrackSetting("SPLADE_P_P_ENSEMBLE_DISTIL", "OPEN_AI_ADA2", 100, calibrated=True),
)


def cover_track(track: Track, setting: TrackSetting, draws: int, seed: int) -> list[Coverage]:
    """Draw from a frame of a track many times; tell how often each interval covers."""
    inside = inside_of(track, setting)
    relevant = {pair: track.grades[pair] >= setting.least_grade for pair in inside}
    frame = framed(track, setting, inside, relevant)
    truth = truth_of(track, setting, [pair for pair in inside if relevant[pair]], setting.queries)
    held = known_of(track, setting, [pair for pair in frame.known if relevant[pair]])
    rng = np.random.default_rng(seed)
    tally = Tally()
    for number in range(draws):
        drawn = []
        for who, count, of, rate in zip(
            frame.retrieved, frame.counts, frame.labels, frame.rates, strict=True
        ):
            found = int(rng.choice(of, count, replace=False).sum())
            part = LabelledStratum(
                len(of), count, found, setting.first in who, setting.second in who, rate
            )
            drawn.append(DrawnStratum(part))
        facts = facts_of(drawn)
        for measure, value in truth.items():
            interval = estimate(
                measure, drawn, held, seed=number, places=setting.queries * K, draws=1000
            ).interval
            tally.add(measure, value, interval.low, interval.high)
        tally.sample(facts.relevant, facts.strength)
    return tally.told(str(setting), draws)


class Tally:
    """Adds up what intervals covered."""

    def __init__(self) -> None:
        self.covered: dict[Estimand, int] = defaultdict(int)
        self.width: dict[Estimand, float] = defaultdict(float)
        self.positives = 0
        self.weak = 0

    def add(self, measure: Estimand, truth: float, low: float, high: float) -> None:
        self.covered[measure] += low - 1e-9 <= truth <= high + 1e-9
        self.width[measure] += high - low

    def sample(self, positives: int, strength: Strength) -> None:
        self.positives += positives
        self.weak += strength is not Strength.SOUND

    def told(self, setting: str, draws: int) -> list[Coverage]:
        mean = self.positives / draws
        return [
            Coverage(
                f"{setting}: {measure}",
                mean,
                self.covered[measure] / draws,
                self.width[measure] / draws,
                self.weak / draws,
                draws,
                floor_of(mean, draws),
            )
            for measure in self.covered
        ]


@dataclass(frozen=True, slots=True)
class SimulatedFrame:
    """What was retrieved is known; of the rest some are drawn."""

    size: int
    rate: float
    drawn: int
    known: int = 60

    def __str__(self) -> str:
        return f"{self.size:,} at {self.rate:.2%}, {self.drawn} drawn, {self.known} known"


SIMULATED = (
    SimulatedFrame(8400, 0.25, 200),
    SimulatedFrame(8400, 0.10, 250),
    SimulatedFrame(8400, 0.02, 200),
    SimulatedFrame(8400, 0.005, 800),
    SimulatedFrame(2000, 0.01, 200),
    SimulatedFrame(8400, 0.005, 200),
    SimulatedFrame(2000, 0.01, 60),
    SimulatedFrame(100_000, 0.0005, 3000),
)


def cover_simulated(frame: SimulatedFrame, draws: int, seed: int) -> list[Coverage]:
    """Draw from a simulated frame many times; tell how often the interval of recall covers."""
    rng = np.random.default_rng(seed)
    relevant = round(frame.size * frame.rate)
    truth = frame.known / (frame.known + relevant)
    tally = Tally()
    for number in range(draws):
        found = int(rng.hypergeometric(relevant, frame.size - relevant, frame.drawn))
        drawn = [DrawnStratum(LabelledStratum(frame.size, frame.drawn, found))]
        known = Known(frame.known, frame.known, 0)
        interval = estimate(Estimand.RECALL, drawn, known, seed=number, draws=1000).interval
        tally.add(Estimand.RECALL, truth, interval.low, interval.high)
        tally.sample(found, facts_of(drawn).strength)
    return tally.told(str(frame), draws)


def _print(found: Sequence[Coverage]) -> bool:
    for one in found:
        said = "reported" if one.floor is None else f"at least {one.floor:.3f}"
        verdict = "" if one.is_enough else "  TOO LOW"
        over = "  over" if one.covered > 0.97 else ""
        print(
            f"{one.what:<90} {one.positives:8.1f} {one.covered:7.3f} {one.width:7.3f} "
            f"{one.weak:6.3f}  {said}{over}{verdict}",
            flush=True,
        )
    return all(one.is_enough for one in found)


def main() -> None:
    """Print how often each interval covers."""
    from tests.benchmarks.coverage_of_queries import cover_queries, cover_recall
    from tests.benchmarks.coverage_of_slices import cover_slices

    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    track = Track.read(collection("trec-dl-2019"))
    print(f"{'setting':<90} positive covered   width   weak  goal")
    enough = True
    for number, setting in enumerate(SETTINGS):
        enough &= _print(cover_track(track, setting, draws, seed=number))
    for number, frame in enumerate(SIMULATED):
        enough &= _print(cover_simulated(frame, draws, seed=number))
    for number, votes in enumerate((200, 400)):
        setting = TrackSetting("REP_LLAMA", "BM25", votes)
        enough &= _print(cover_slices(track, setting, 4, draws, seed=number))
    for clusters in (15, 30, 60):
        enough &= _print(cover_queries(track, clusters, 2 * clusters, draws, seed=clusters))
        enough &= _print(cover_recall(track, clusters, 8 * clusters, draws, seed=clusters))
    sys.exit(0 if enough else 1)


if __name__ == "__main__":
    main()
