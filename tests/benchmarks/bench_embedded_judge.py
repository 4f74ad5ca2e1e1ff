"""Measure the embedded judge on test collections, and refit the coefficients that ship with it.

python -m tests.benchmarks.bench_embedded_judge CACHE [--cut N] [--write]

CACHE is a file for vectors (made when absent): a first run embeds some 13,000 passages, which takes
about 35 minutes of CPU. ``--write`` replaces labeler/calibration/embedded.json by a fit on the
openly licensed collections. Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from labeler.calibration.label_model import LabelModel
from labeler.judges.embedded_fit import (
    L2,
    L2_ELSEWHERE,
    CollectionFeatures,
    LabelledCollection,
    Skill,
    collection_features,
    cross_validated,
    evaluate,
    fit_on,
)
from labeler.labels import Grade
from labeler.providers.embeddings import E5_CUT, CachedEmbedder, E5Embedder

_ROOT = Path(__file__).resolve().parents[2]
_DATA = Path(os.environ.get("LABELER_DATA", _ROOT.parent / "shared" / "data"))
_NOT, _PARTLY, _FULLY = Grade.NOT_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.FULLY_RELEVANT
_TREC = {0: _NOT, 1: _NOT, 2: _PARTLY, 3: _FULLY}

# What the codes mean (others are left out), and how many queries are drawn (0: all).
_COLLECTIONS: dict[str, tuple[dict[int, Grade], int]] = {
    "dbpedia-entity-50": ({0: _NOT, 1: _PARTLY, 2: _FULLY}, 0),
    "quepid-rating-party": (_TREC, 0),
    "trec-dl-2019": (_TREC, 15),
    "trec-dl-2021": (_TREC, 15),
    "cranfield": ({1: _PARTLY, 2: _PARTLY, 3: _FULLY, 4: _FULLY}, 60),
    "scifact": ({1: _FULLY}, 60),
    "quati-pt": ({0: _NOT, 1: _PARTLY, 2: _PARTLY, 3: _FULLY}, 0),
}
# Without judged negatives. Cranfield's one "-1" a query is nearer to the query than what is
# relevant (AUC of the cosine 0.31), so it is no negative either.
_NO_NEGATIVES = ("cranfield", "scifact")
_OPEN = ("dbpedia-entity-50", "quepid-rating-party")


class FileCache:
    """An embedding cache in a file of its own."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS vector (key TEXT PRIMARY KEY, bytes BLOB)"
        )

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Give the vectors that are there, by key."""
        rows = (
            self._database.execute("SELECT key, bytes FROM vector WHERE key = ?", (key,)).fetchone()
            for key in keys
        )
        return dict(row for row in rows if row is not None)

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; a key that is there already stays as it is."""
        self._database.execute("BEGIN")
        self._database.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", vectors.items())
        self._database.execute("COMMIT")


def read_collection(name: str) -> LabelledCollection:
    """Read texts and labels; a seeded sample of the queries where all would take too long."""
    folder = _DATA / name
    grades, sample = _COLLECTIONS[name]
    passages = {record["_id"]: _text(record) for record in _records(folder / "corpus.jsonl")}
    queries = {record["_id"]: record["text"] for record in _records(folder / "queries.jsonl")}
    codes = {}
    for line in (folder / "qrels.txt").read_text("utf-8").splitlines():
        query, _, passage, code = line.split()
        if query in queries and passage in passages:
            codes[query, passage] = int(code)
    labelled = sorted({query for query, _ in codes})
    source = random.Random(7)  # noqa: S311 - draws a sample, keeps no secret
    kept = set(source.sample(labelled, sample) if sample else labelled)
    labels = {
        pair: grades[code] for pair, code in codes.items() if pair[0] in kept and code in grades
    }
    if name in _NO_NEGATIVES:
        assumed = _assumed_not_relevant(folder / "runs" / "bm25-k09-nostem.run", kept)
        labels |= {pair: grade for pair, grade in assumed.items() if pair not in codes}
    return LabelledCollection(name, queries, passages, labels)


def _assumed_not_relevant(run: Path, queries: set[str]) -> dict[tuple[str, str], Grade]:
    """Take the top 10 of a run as not relevant: good for a rough look at a collection only.

    Nothing is ever fitted on these.
    """
    assumed = {}
    for line in run.read_text("utf-8").splitlines():
        query, _, passage, rank, _, _ = line.split()
        if query in queries and int(rank) <= 10:
            assumed[query, passage] = _NOT
    return assumed


def _records(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def _text(record: dict[str, str]) -> str:
    title, text = record.get("title", "").strip(), record["text"].strip()
    return text if text.startswith(title) else f"{title} {text}"


def show(label: str, skill: Skill) -> None:
    """Print one line of the table."""

    def number(value: float | None) -> str:
        return "     " if value is None else f"{value:.3f}"

    print(
        f"{label:44} {skill.pairs:5} {skill.queries:4}  {number(skill.auc)}"
        f"  {number(skill.auc_within_query)}  {skill.log_loss:.3f} ({skill.prior_log_loss:.3f})"
        f"  {skill.calibration_error:.3f} {skill.relevance_calibration_error:.3f}  "
        + "/".join(f"{share:.2f}" for share in skill.accuracy)
        + "  "
        + "/".join(f"{share:.2f}" for share in skill.state_accuracy),
        flush=True,
    )


def shipped_fit(features: Mapping[str, CollectionFeatures]) -> LabelModel:
    """Fit what ships: on all labels of the openly licensed collections."""
    return fit_on([features[name] for name in _OPEN], name="embedded", l2=L2_ELSEWHERE)


def main() -> None:
    """Print skill by where a model was fitted and where it answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--cut", type=int, default=E5_CUT)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    embedder = CachedEmbedder(E5Embedder(cut=options.cut), FileCache(options.cache))
    features = {name: collection_features(read_collection(name), embedder) for name in _COLLECTIONS}
    print("fitted on -> measured on; pairs, queries, AUC, AUC within query, log loss (prior),")
    print("ECE of grade and of state, accuracy at the surest 20/40/60/100 % of grade and of state")
    for penalty in (L2, L2_ELSEWHERE):
        print(f"penalty {penalty:.1f}")
        for name in (*_OPEN, "trec-dl-2019", "trec-dl-2021"):
            show(f"{name}, folds by query", cross_validated(features[name], l2=penalty))
        for sources in ((_OPEN[0],), (_OPEN[1],), _OPEN, ("trec-dl-2019",)):
            model = fit_on([features[name] for name in sources], name="other", l2=penalty)
            label = "both open" if sources == _OPEN else sources[0]
            for name, measured in features.items():
                if name not in sources:
                    show(f"{label} -> {name}", evaluate(model, measured))
    if options.write:
        target = _ROOT / "labeler" / "calibration" / "embedded.json"
        target.write_text(shipped_fit(features).to_json() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
