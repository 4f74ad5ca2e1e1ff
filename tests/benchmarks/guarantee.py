"""Measure whether accepted labels reach the target that a policy states.

python -m tests.benchmarks.guarantee [projects]

Each project is a resample of the queries of TREC DL 2019, with the labels of the seven recorded
judges and NIST's. A label model is fitted on the votes of a few items of each query, drawn at
random; `plan_audit` freezes its scores on the rest and draws; NIST answers; `judge_frame` says what
is accepted. A project misses when less than the target of what it accepted agrees with NIST.
Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.label_model import GRADES, LabelModel, fit
from labeler.calibration.policies import NINE_OF_TEN, TargetPolicy
from labeler.draws.audit_frames import AuditFrame, FrozenStratum
from labeler.evaluation.sampling import keyed_draw
from labeler.labels import TREC, Grade
from labeler.queue.audit_plan import AuditPlan, ScoredLabel, plan_audit
from labeler.queue.verdicts import judge_frame
from tests.benchmarks.measuring import collection

__all__ = ["Collected", "Project", "Result", "project_of", "read_collection", "run_project"]

PROJECTS = 500
_WARM = 8
_FEATURES = ("mean", "spread", "least", "most")


@dataclass(frozen=True, eq=False)
class Collected:
    """The pairs of a collection: features from the judges, and people's grades."""

    features: NDArray[np.float64]
    grades: tuple[Grade, ...]
    queries: NDArray[np.int64]
    unanimous: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Project:
    """A resample: the places of its items among the pairs, and which of them were voted on."""

    places: NDArray[np.int64]
    query: NDArray[np.int64]
    labelled: NDArray[np.bool_]
    probabilities: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one project.

    Attributes:
        accepted: Labels that were accepted.
        wrong: How many of them people disagree with.
        votes: Votes of the audit on what it tested.
        size: Items that people hadn't judged before the audit.
    """

    accepted: int
    wrong: int
    votes: int
    size: int


def read_collection(folder: Path) -> Collected:
    """Read the seven judges' and people's labels of all pairs."""
    human = _codes(folder / "qrels.txt")
    pairs = list(human)
    files = sorted(folder.glob("judges/naghmefarzi.*.txt"))
    judged = [_codes(path) for path in files]
    scores = np.array([[said[pair] for said in judged] for pair in pairs], dtype=np.float64)
    names = sorted({query for query, _ in pairs})
    place = {name: number for number, name in enumerate(names)}
    low, high = scores.min(axis=1), scores.max(axis=1)
    # The judges' scale is TREC's; a panel agrees where all lie on one side of relevance.
    return Collected(
        features=np.column_stack([scores.mean(axis=1), scores.std(axis=1), low, high]),
        grades=tuple(TREC.level(human[pair]).grade for pair in pairs),
        queries=np.array([place[query] for query, _ in pairs], dtype=np.int64),
        unanimous=(low >= 2) | (high < 2),
    )


def _codes(path: Path) -> dict[tuple[str, str], int]:
    rows = [line.split() for line in path.read_text().splitlines()]
    return {(query, document): int(float(code)) for query, _, document, code in rows}


def project_of(collected: Collected, seed: int) -> Project:
    """Draw the queries of a project, fit the label model on a few votes of each, and score it."""
    random = np.random.default_rng([2019, seed])
    count = int(collected.queries.max()) + 1
    chosen = random.integers(0, count, count)
    parts = [np.flatnonzero(collected.queries == query) for query in chosen]
    places = np.concatenate(parts)
    query = np.concatenate([np.full(len(part), copy) for copy, part in enumerate(parts)])
    labelled = np.zeros(len(places), dtype=np.bool_)
    start = 0
    for part in parts:
        labelled[start + random.permutation(len(part))[:_WARM]] = True
        start += len(part)
    model = _model(collected, places[labelled])
    return Project(places, query, labelled, model.probabilities(collected.features[places]))


def _model(collected: Collected, places: NDArray[np.int64]) -> LabelModel:
    return fit(
        collected.features[places],
        [collected.grades[place] for place in places],
        l2=1.0,
        name="guarantee",
        fitted_on="votes of a resample",
        features=_FEATURES,
    )


def scored_labels(collected: Collected, project: Project, *, panel: bool) -> list[ScoredLabel]:
    """Give the scores' label of every item that nobody has voted on."""
    best = project.probabilities.argmax(axis=1)
    sure = project.probabilities.max(axis=1)
    return [
        ScoredLabel(
            int(item),
            GRADES[int(best[item])],
            float(sure[item]),
            not panel or bool(collected.unanimous[project.places[item]]),
        )
        for item in np.flatnonzero(~project.labelled)
    ]


def frame_of(plan: AuditPlan, policy: TargetPolicy, seed: str) -> AuditFrame:
    """Draw from a plan's strata, as the store does."""
    strata: list[FrozenStratum] = []
    for stratum in plan.strata:
        keys = {str(item): item for item in stratum.items}
        drawn = keyed_draw(seed, sorted(keys), stratum.draw)
        strata.append(
            FrozenStratum(
                stratum.name,
                frozenset(stratum.items),
                (frozenset(keys[key] for key in drawn),),
            )
        )
    return AuditFrame(0, "", policy.digest, seed, tuple(strata))


def run_project(
    collected: Collected, project: Project, policy: TargetPolicy, seed: int, *, panel: bool = True
) -> Result:
    """Plan the audit of a project, have it answered, and compare what is accepted with people."""
    labels = scored_labels(collected, project, panel=panel)
    frame = frame_of(plan_audit(labels, policy), policy, f"project {seed}")
    truth = {one.item_id: collected.grades[project.places[one.item_id]] for one in labels}
    answered: dict[int, Grade | None] = {item: truth[item] for item in frame.drawn}
    verdict = judge_frame(frame, policy, answered)
    tested = [one for one in frame.strata if one.name.part]
    return Result(
        accepted=len(verdict.accepted),
        wrong=sum(truth[item] is not grade for item, grade in verdict.accepted.items()),
        votes=sum(len(one.drawn()) for one in tested),
        size=len(labels),
    )


def _tell(name: str, results: list[Result], policy: TargetPolicy) -> None:
    some = [one for one in results if one.accepted]
    missed = sum(one.wrong > (1 - policy.agreement) * one.accepted for one in some)
    share = missed / len(results)
    limit = 1 - policy.confidence + 2 * math.sqrt(0.05 * 0.95 / len(results))
    accepted = np.mean([one.accepted / one.size for one in some]) if some else 0.0
    votes = np.mean([one.votes for one in results if one.votes] or [0])
    wrong = sum(one.wrong for one in some) / max(1, sum(one.accepted for one in some))
    print(
        f"{name:34}{len(results):9d}{share:9.3f}{limit:9.3f}{len(some) / len(results):11.3f}"
        f"{accepted:11.3f}{wrong:9.3f}{votes:8.0f}"
    )


def main() -> None:
    """Print the share of projects that miss the target, and of those that accept something."""
    projects = int(sys.argv[1]) if len(sys.argv) > 1 else PROJECTS
    collected = read_collection(collection("trec-dl-2019"))
    policies = {
        "nine of ten": NINE_OF_TEN,
        "three of four, at 95%": TargetPolicy("three-of-four", agreement=0.75),
        "nine of ten, two looks": TargetPolicy("two-looks", looks=2),
    }
    heads = f"{'projects':>9}{'missed':>9}{'at most':>9}{'accepting':>11}{'accepted':>11}"
    print(f"{'policy and panel':34}{heads}{'wrong':>9}{'votes':>8}")
    made = [project_of(collected, seed) for seed in range(projects)]
    for panel, words in ((True, "unanimous"), (False, "any")):
        for name, policy in policies.items():
            results = [
                run_project(collected, project, policy, seed, panel=panel)
                for seed, project in enumerate(made)
            ]
            _tell(f"{name}, {words}", results, policy)


if __name__ == "__main__":
    main()
