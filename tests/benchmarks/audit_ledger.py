"""Measure whether the audit's ledger tells the truth after people have reviewed what was doubtful.

python -m tests.benchmarks.audit_ledger [simulations]

TREC DL 2019 with its seven recorded judges. Each time some items of each query are labelled, the
label model is fitted, and people (NIST) review in the order `margin` until a tenth of all pairs is
done. Then scores are frozen on the rest, an audit is drawn by `plan_audit`, and prevalence and
recall@20 of six runs are estimated: from all labels people gave, from reviewed labels with the
model's on the rest, and from the audit's ledger, where reviewed items are known with certainty.
Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.label_model import fit
from labeler.calibration.policies import TargetPolicy
from labeler.draws.audit_ledger import cells_of
from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import draw_totals
from labeler.labels import Grade
from labeler.queue.audit_plan import ScoredLabel, plan_audit
from labeler.queue.order import ItemWorth, order_named, place_items
from tests.benchmarks.guarantee import Collected, frame_of, read_collection
from tests.benchmarks.measuring import collection

__all__ = ["Estimates", "read_retrieved", "simulate", "true_figures"]

SIMULATIONS = 300
_REVIEWED = 0.1
_WARM = 4
_CUT = 20
_POLICY = TargetPolicy("audit", votes=120)


@dataclass(frozen=True, slots=True)
class Estimates:
    """What one simulation says of prevalence, or of one run's recall.

    Attributes:
        reviewed: From the labels that people gave, as if they were a sample.
        hybrid: From reviewed labels, with the model's on the rest.
        audit: The middle of the audit's interval.
        low: Its lower limit.
        high: Its upper limit.
        votes: Votes of the audit.
    """

    reviewed: float
    hybrid: float
    audit: float
    low: float
    high: float
    votes: int


def read_retrieved(folder: Path) -> dict[str, frozenset[int]]:
    """Give the places of the judged pairs that each run has in its top 20, by the run's name."""
    lines = (folder / "qrels.txt").read_text().splitlines()
    pairs = {(line.split()[0], line.split()[2]): place for place, line in enumerate(lines)}
    found: dict[str, frozenset[int]] = {}
    for path in sorted((folder / "posthoc").glob("*.run")):
        ranked: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for line in path.read_text().splitlines():
            query, _, document, _, score, *_ = line.split()
            ranked[query].append((-float(score), document))
        top = {
            (query, document)
            for query, hits in ranked.items()
            for _, document in sorted(hits)[:_CUT]
        }
        found[path.stem] = frozenset(pairs[pair] for pair in top & pairs.keys())
    return found


def _reviewed(collected: Collected, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Have a tenth reviewed in the order `margin`; give what was, and the probabilities after."""
    random = np.random.default_rng([5, seed])
    count = len(collected.grades)
    done = np.zeros(count, dtype=np.bool_)
    for query in range(int(collected.queries.max()) + 1):
        own = np.flatnonzero(collected.queries == query)
        done[own[random.permutation(len(own))[:_WARM]]] = True
    queries = dict(enumerate(collected.queries.tolist()))
    probabilities = _fitted(collected, done)
    while done.sum() < _REVIEWED * count:
        worths = {
            int(item): ItemWorth(
                doubt=float(1 - probabilities[item].max()),
                relevance=float(1 - probabilities[item, 0]),
            )
            for item in np.flatnonzero(~done)
        }
        votes = dict.fromkeys(set(queries.values()), _WARM)
        places = place_items(order_named("margin"), queries, worths, seed=f"{seed}", votes=votes)
        step = min(250, round(_REVIEWED * count) - int(done.sum()))
        done[sorted(places, key=places.__getitem__)[: max(1, step)]] = True
        probabilities = _fitted(collected, done)
    return done, probabilities


def _fitted(collected: Collected, done: NDArray[np.bool_]) -> NDArray[np.float64]:
    places = np.flatnonzero(done)
    model = fit(
        collected.features[places],
        [collected.grades[place] for place in places],
        l2=1.0,
        name="audit ledger",
        fitted_on="reviewed labels",
        features=("mean", "spread", "least", "most"),
    )
    return model.probabilities(collected.features)


def simulate(
    collected: Collected, retrieved: dict[str, frozenset[int]], seed: int
) -> dict[str, Estimates]:
    """Review a tenth, audit the rest, and estimate: prevalence, and recall of each run."""
    done, probabilities = _reviewed(collected, seed)
    grades = (Grade.NOT_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.FULLY_RELEVANT)
    best = probabilities.argmax(axis=1)
    labels = [
        ScoredLabel(int(item), grades[best[item]], float(probabilities[item].max()), True)
        for item in np.flatnonzero(~done)
    ]
    frame = frame_of(plan_audit(labels, _POLICY), _POLICY, f"ledger {seed}")
    relevant = np.array([grade is not Grade.NOT_RELEVANT for grade in collected.grades])
    said: dict[int, Grade | None] = {item: collected.grades[item] for item in frame.drawn}
    relevance = dict(enumerate((1 - probabilities[:, 0]).tolist()))
    assumed = np.where(done, relevant, best > 0)
    known = frozenset(np.flatnonzero(done & relevant).tolist())
    found: dict[str, Estimates] = {}
    for name, own in {"prevalence": frozenset[int](), **retrieved}.items():
        cells = cells_of([(one.items, one.drawn()) for one in frame.strata], said, own, relevance)
        labelled = [cell.labelled for cell in cells]
        totals = draw_totals(labelled, Known(len(known), len(known & own)), seed=seed)
        places = np.array(sorted(own), dtype=np.int64)
        if name == "prevalence":
            interval = totals.relevant()
            scale = len(relevant)
            reviewed, hybrid = relevant[done].mean(), assumed.mean()
            middle = float(np.median(totals.total)) / scale
        else:
            interval = totals.recall()
            scale = 1
            reviewed = (relevant & done)[places].sum() / max(1, (relevant & done).sum())
            hybrid = assumed[places].sum() / max(1, assumed.sum())
            middle = float(np.median(totals.first / np.maximum(1, totals.total)))
        found[name] = Estimates(
            float(reviewed),
            float(hybrid),
            middle,
            interval.low / scale,
            interval.high / scale,
            len(frame.drawn),
        )
    return found


def true_figures(collected: Collected, retrieved: dict[str, frozenset[int]]) -> dict[str, float]:
    """Give prevalence, and recall@20 of each run, from the labels of all pairs."""
    relevant = np.array([grade is not Grade.NOT_RELEVANT for grade in collected.grades])
    return {"prevalence": float(relevant.mean())} | {
        name: float(relevant[sorted(own)].sum() / relevant.sum()) for name, own in retrieved.items()
    }


def main() -> None:
    """Print the truth, the mean of each estimate, and how often the audit's interval covers it."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    folder = collection("trec-dl-2019")
    collected = read_collection(folder)
    retrieved = read_retrieved(folder)
    truth = true_figures(collected, retrieved)
    results = [simulate(collected, retrieved, seed) for seed in range(simulations)]
    heads = f"{'truth':>8}{'reviewed':>10}{'hybrid':>8}{'audit':>8}{'covered':>9}{'width':>8}"
    print(f"{'figure':34}{heads}{'votes':>7}")
    for name, true in truth.items():
        rows = [one[name] for one in results]
        covered = np.mean([one.low <= true <= one.high for one in rows])
        label = name if name == "prevalence" else f"recall@20 of {name}"
        print(
            f"{label:34}{true:8.3f}{np.mean([one.reviewed for one in rows]):10.3f}"
            f"{np.mean([one.hybrid for one in rows]):8.3f}"
            f"{np.mean([one.audit for one in rows]):8.3f}{covered:9.3f}"
            f"{np.mean([one.high - one.low for one in rows]):8.3f}"
            f"{np.mean([one.votes for one in rows]):7.0f}"
        )


if __name__ == "__main__":
    main()
