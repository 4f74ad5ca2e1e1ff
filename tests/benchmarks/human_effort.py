"""Measure how many reviews it takes until the labels of a whole pool agree with a person.

python -m tests.benchmarks.human_effort [--pool full|shallow|both] [--seeds 3]
    [--queries all|first|last] [--rows WORDS]

TREC DL 2019, seven recorded judges with their criterion scores; the reviewer answers with NIST's
label, relevant from grade 2. After every hundredth of the pool labels are refitted and the queue is
ordered anew. Printed is the share of pairs reviewed until Cohen's kappa of all labels (reviewed
ones as answered, the others as predicted) reaches 0.7, 0.8 and 0.9.

Rows that are called after an order go through the store: `labeler.queue.route.route_pool` orders,
votes on what comes first are appended by `labeler.queue.votes.record_event`, and
`labeler.calibration.calibrate.calibrate_pool` refits. The others are baselines over the same
arrays. "LARA-style" is a logistic regression on the mean level with the pairs nearest to 0.5 first,
after Takehi et al. 2025 (arXiv 2411.06877); not their code.

The last ten queries took part in no choice of method. Collections are found through LABELER_DATA,
or in ../shared/data.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from labeler.assessment.blind import Block
from labeler.assessment.item_scores import latest_scores
from labeler.assessment.reading import blocks_of
from labeler.calibration.calibrate import calibrate_pool
from labeler.calibration.label_model import GRADES, fit
from labeler.calibration.policies import UNCALIBRATED
from labeler.evaluation.agreement import cohen_kappa, confusion_tables, estimate
from labeler.labels import TREC
from labeler.queue.claims import Claim
from labeler.queue.route import route_pool
from labeler.queue.votes import Event, record_event
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, EventKind, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.registry import assessor_key, pool_named
from tests.benchmarks.measuring import collection
from tests.benchmarks.recorded_judges import (
    LAST_QUERIES,
    POOL,
    Collection,
    fill,
    read_collection,
)

TARGETS = (0.7, 0.8, 0.9)
LEAST, MOST = 0.22, 0.46
"""Rows through the store end at a kappa of 0.9, between these shares of the pool."""
NOISE = 0.1
AUDIT = 0.2

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a review stands.

    Attributes:
        share: Of the pairs that were reviewed.
        kappa: Of all labels.
        unreviewed: Of the labels nobody reviewed.
        error: Mean error of nDCG@10 over the official runs.
        tau: Kendall's tau of the runs' order.
    """

    share: float
    kappa: float
    unreviewed: float
    error: float
    tau: float


@dataclass(slots=True)
class Review:
    """A simulated review: what is true, what was answered."""

    pool: Collection
    noise: float
    seed: int
    answers: Flags = field(init=False)
    done: Flags = field(init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.seed)
        relevant = self.pool.people >= 2
        wrong = random.uniform(size=len(relevant)) < self.noise
        self.answers = relevant ^ wrong
        self.done = np.zeros(len(relevant), dtype=np.bool_)

    @property
    def batch(self) -> int:
        """A hundredth of the pool."""
        return max(round(len(self.pool.pairs) / 100), 1)

    @property
    def is_over(self) -> bool:
        """Whether nothing that is told of it can change any more."""
        last = self.steps[-1]
        return last.share >= MOST or (last.share >= LEAST and last.kappa >= TARGETS[-1])

    def note(self, predicted: Flags, runs: Runs) -> None:
        """Note where the review stands."""
        truth = self.pool.people >= 2
        labels = np.where(self.done, self.answers, predicted)
        error, tau = runs.compare(labels)
        open_ = ~self.done
        self.steps.append(
            Step(
                float(self.done.mean()),
                kappa(labels, truth),
                kappa(predicted[open_], truth[open_]),
                error,
                tau,
            )
        )


def kappa(labels: Flags, truth: Flags) -> float:
    """Give Cohen's kappa of two labels."""
    one = np.zeros(len(truth), dtype=np.int64)
    tables = confusion_tables(truth.astype(np.int64), labels.astype(np.int64), one, levels=2)
    found = estimate(tables, cohen_kappa).value
    return float("nan") if found is None else found


class Runs:
    """The official runs, whose nDCG@10 labels are to give; unlabelled passages gain nothing."""

    def __init__(self, pool: Collection) -> None:
        place = {pair: number for number, pair in enumerate(pool.pairs)}
        queries = pool.queries()
        self._discount = 1 / np.log2(np.arange(10) + 2)
        self._ranks = np.full((len(pool.official), len(queries), 10), -1, dtype=np.int64)
        for row, run in enumerate(pool.official.values()):
            for column, query in enumerate(queries):
                for rank, passage in enumerate(run.get(query, [])[:10]):
                    self._ranks[row, column, rank] = place.get((query, passage), -1)
        number = {query: column for column, query in enumerate(queries)}
        self._query = np.array([number[query] for query, _ in pool.pairs])
        self._truth = self._scores(pool.people >= 2)

    def compare(self, labels: Flags) -> tuple[float, float]:
        """Give the mean error, and Kendall's tau with the order by the true labels."""
        from scipy.stats import kendalltau

        found = self._scores(labels)
        return float(np.abs(found - self._truth).mean()), float(
            kendalltau(found, self._truth).statistic
        )

    def _scores(self, relevant: Flags) -> NDArray[np.float64]:
        gains = np.append(relevant.astype(np.float64), 0.0)[self._ranks]
        count = np.bincount(self._query, weights=relevant, minlength=self._ranks.shape[1])
        ideal = np.cumsum(np.append(0.0, self._discount))[np.minimum(count, 10).astype(np.int64)]
        reached = (gains * self._discount).sum(axis=2)
        found: NDArray[np.float64] = np.divide(
            reached, ideal, out=np.zeros_like(reached), where=ideal > 0
        ).mean(axis=1)
        return found


def baseline(review: Review, runs: Runs, order: str, *, adaptive: bool) -> None:
    """Review a whole pool in a fixed order, or by a logistic regression on the mean level."""
    random = np.random.default_rng(review.seed)
    levels = review.pool.levels
    mean, count = levels.mean(axis=1), len(levels)
    worth: dict[str, NDArray[np.float64]] = {
        "random": np.zeros(count),
        "dispute": levels.std(axis=1),
        "confidence": -np.abs(mean - 1.5),
    }
    predicted = mean.round() >= 2
    score = worth[order]
    review.note(predicted, runs)
    while not review.done.all():
        open_ = np.flatnonzero(~review.done)
        tie = random.uniform(size=len(open_))
        first = np.lexsort((tie, -score[open_]))[: review.batch]
        review.done[open_[first]] = True
        if adaptive:
            probability = _one_dimensional(mean, review)
            predicted, score = probability >= 0.5, -np.abs(probability - 0.5)
        review.note(predicted, runs)


def _one_dimensional(mean: NDArray[np.float64], review: Review) -> NDArray[np.float64]:
    grades = [GRADES[2] if answer else GRADES[0] for answer in review.answers[review.done]]
    if len(set(grades)) < 2:
        return np.where(mean.round() >= 2, 0.75, 0.25)
    x = mean[:, None]
    model = fit(x[review.done], grades, l2=0.5, name="one", fitted_on="", features=("mean",))
    return 1 - model.probabilities(x)[:, 0]


def through_the_store(
    review: Review, runs: Runs, store: Store, items: Sequence[int], *, order: str, audit: float
) -> None:
    """Review by the queue of the product: order, votes, refit, again."""
    random = np.random.default_rng(review.seed)
    keys = np.array(items)
    place = {item: number for number, item in enumerate(items)}
    with store.write("review start", actor="nist") as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, "nist")
        pool_id = int(pool_named(tx.connection, POOL).id)
    with store.read() as connection:
        blocks = {
            item.item_id: Block(block.query, (item,), block.rubric)
            for block in blocks_of(connection, list(items), seed="")
            for item in block.items
        }
    while True:
        calibrate_pool(store, POOL)
        with store.read() as connection:
            scores = latest_scores(connection, pool_id)
        if scores is None:
            raise RuntimeError("the pool was calibrated and has no scores")
        rows = np.searchsorted(scores.item_ids, keys)
        predicted = scores.probabilities[rows, 0] < 0.5
        review.note(predicted, runs)
        if review.is_over:
            return
        route_pool(store, POOL, UNCALIBRATED, order=order)
        waiting = _waiting(store)
        drawn = random.permutation(len(waiting))[: round(audit * review.batch)]
        chosen = [waiting[number] for number in drawn.tolist()]
        rest = (claim for number, claim in enumerate(waiting) if number not in set(drawn.tolist()))
        chosen += [claim for claim, _ in zip(rest, range(review.batch - len(chosen)), strict=False)]
        for claim in chosen:
            relevant = review.answers[place[claim.item_id]]
            event = Event(
                str(uuid.UUID(int=int.from_bytes(random.bytes(16), "big"), version=4)),
                EventKind.VOTE,
                blocks[claim.item_id],
                level=TREC.level(3 if relevant else 0),
            )
            record_event(store, reviewer, claim, event)
            review.done[place[claim.item_id]] = True


def _waiting(store: Store) -> list[Claim]:
    """List what waits, in the order of the queue."""
    slot = table(Assignment)
    statement = (
        sa.select(slot.c.id, slot.c.task_id, slot.c.item_id, slot.c.purpose)
        .where(slot.c.state == AssignmentState.WAITING.value)
        .order_by(slot.c.priority, slot.c.id)
    )
    with store.read() as connection:
        rows = connection.execute(statement)
        return [Claim(key, task, item, VotePurpose(why)) for key, task, item, why in rows]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: how pairs are chosen, by whom, with what errors."""

    name: str
    order: str
    stored: bool = False
    adaptive: bool = False
    noise: float = 0.0
    audit: float = 0.0


ROWS = (
    Row("random, panel's labels", "random"),
    Row("dispute first, panel's labels", "dispute"),
    Row("lowest confidence first, panel's labels", "confidence"),
    Row("LARA-style", "confidence", adaptive=True),
    Row("labeler, --order margin", "margin", stored=True),
    Row("labeler, --order value", "value", stored=True),
    Row("LARA-style, reviewer errs in 10%", "confidence", adaptive=True, noise=NOISE),
    Row("labeler, --order value, reviewer errs in 10%", "value", stored=True, noise=NOISE),
    Row("labeler, --order value, 20% to the audit", "value", stored=True, audit=AUDIT),
)


def measured(
    row: Row, pool: Collection, seed: int, project: Callable[[int], tuple[Path, list[int]]]
) -> list[Step]:
    """Simulate one review."""
    review, runs = Review(pool, row.noise, seed), Runs(pool)
    if not row.stored:
        baseline(review, runs, row.order, adaptive=row.adaptive)
        return review.steps
    made, items = project(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queue.db"
        shutil.copy(made, path)
        with open_store(Location(str(path))) as store:
            through_the_store(review, runs, store, items, order=row.order, audit=row.audit)
    return review.steps


def _reached(steps: Sequence[Step], target: float) -> float | None:
    return next((step.share for step in steps if step.kappa >= target), None)


def _at(steps: Sequence[Step], share: float) -> Step:
    return min(steps, key=lambda step: abs(step.share - share))


def _told(values: Iterator[float | None] | list[float | None]) -> str:
    found = list(values)
    if any(value is None for value in found):
        return "-"
    known = [100 * value for value in found if value is not None]
    mean = sum(known) / len(known)
    spread = f" ({min(known):.0f}-{max(known):.0f})" if len(known) > 1 else ""
    return f"{mean:.1f}{spread}"


def _print(name: str, by_seed: list[list[Step]], seconds: float) -> None:
    cells = [_told([_reached(steps, target) for steps in by_seed]) for target in TARGETS]
    at_20 = [_at(steps, 0.2) for steps in by_seed]
    at_10 = [_at(steps, 0.1) for steps in by_seed]
    lowest = min(min(step.kappa for step in steps) - steps[0].kappa for steps in by_seed)

    def mean(values: list[float]) -> str:
        return f"{sum(values) / len(values):.3f}"

    more = [
        mean([step.unreviewed for step in at_20]),
        f"{lowest:+.3f}",
        f"{mean([one.error for one in at_10])} / {mean([one.error for one in at_20])}",
        f"{mean([one.tau for one in at_10])} / {mean([one.tau for one in at_20])}",
        f"{seconds:.0f} s",
    ]
    print(f"| {' | '.join([name, *cells, *more])} |", flush=True)


def main() -> None:
    """Print the tables."""
    options = _options()
    folder = collection("trec-dl-2019")
    everything = read_collection(folder)
    queries = everything.queries()
    chosen = {
        "all": queries,
        "first": queries[:-LAST_QUERIES],
        "last": queries[-LAST_QUERIES:],
    }[options.queries]
    everything = everything.among([query in set(chosen) for query, _ in everything.pairs])
    pools = {"full": everything, "shallow": everything.shallow()}
    names = ["full", "shallow"] if options.pool == "both" else [options.pool]
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            pool = pools[name]
            print(f"\n{name} pool: {len(pool.pairs):,} pairs of {len(chosen)} queries")
            print("(percent of pairs reviewed, mean of the seeds and least-most)\n")
            print(
                "| reviewed | kappa .7 | .8 | .9 | kappa of unreviewed at 20% "
                "| least kappa, against the start | error of nDCG@10 at 10 / 20% "
                "| tau at 10 / 20% | time of a run |"
            )
            print("|---|---|---|---|---|---|---|---|---|")
            projects = _Projects(folder, Path(scratch) / name, pool)
            for row in _rows(options.rows):
                started = time.perf_counter()
                by_seed = [
                    measured(row, pool, seed, projects.made) for seed in range(options.seeds)
                ]
                _print(row.name, by_seed, (time.perf_counter() - started) / options.seeds)


def _rows(words: str | None) -> list[Row]:
    """Choose rows: the one of a name, else those whose name holds the words; all by default."""
    named = [row for row in ROWS if row.name == words]
    return named or [row for row in ROWS if words is None or words in row.name]


class _Projects:
    """Projects of a pool, one for each seed: the pool's digest decides what the queue draws."""

    def __init__(self, folder: Path, scratch: Path, pool: Collection) -> None:
        self._folder, self._scratch, self._pool = folder, scratch, pool
        self._made: dict[int, tuple[Path, list[int]]] = {}

    def made(self, seed: int) -> tuple[Path, list[int]]:
        """Give the database, and the items in the order of the pool's pairs."""
        if seed not in self._made:
            path = self._scratch / f"{seed}.db"
            files = self._scratch / str(seed)
            files.mkdir(parents=True)
            with open_store(Location(str(path)), create=True) as store:
                items = fill(store, self._folder, files, self._pool, seed=seed)
            self._made[seed] = path, [items[pair] for pair in self._pool.pairs]
        return self._made[seed]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure human effort on TREC DL 2019.")
    parser.add_argument("--pool", choices=["full", "shallow", "both"], default="both")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queries", choices=["all", "first", "last"], default="all")
    parser.add_argument("--rows", help="only the row of this name, or whose name holds it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
