"""Reports on runs of TREC are equal to the values that others published, topic by topic."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from labeler.evaluation.metrics import parse_metric
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.runs import RunOptions, import_runs
from labeler.reports.recall import report_recall
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store
from tests.shared import data_dir


def published(collection: str) -> dict[tuple[str, str], float]:
    with (data_dir(collection) / "ref" / "ndcg_cut10.csv").open(encoding="utf-8") as file:
        return {
            (row["runid"], row["topic"]): float(row["ndcg_cut_10"])
            for row in csv.DictReader(file)
            if row["topic"] != "average"
        }


def ndcg_by_topic(
    store: Store, collection: str, runs: Sequence[Path], order: str
) -> dict[tuple[str, str], float | None]:
    folder = data_dir(collection)
    import_runs(store, list(runs), RunOptions())
    import_labels(store, [folder / "qrels.txt"], LabelOptions(scale="trec-0-3"))
    with store.read() as connection:
        report = report_recall(
            connection,
            ScopeOptions(order=order),  # type: ignore[arg-type]  # one of two words
            metrics=[parse_metric("nDCG@10")],
            per_query=True,
        )
    return {(one.run, one.query): one.value for one in report.queries}


@pytest.mark.parametrize(
    ("collection", "folder", "names"),
    [
        ("trec-dl-2021", "runs", ["p_bm25", "TUW_TAS-B_768", "bcai_p_mbert", "NLE_P_quick"]),
        (
            "trec-dl-2019",
            "official",
            ["bm25base_p", "idst_bert_p1", "TUW19-p3-f", "ms_duet_passage"],
        ),
    ],
)
def test_ndcg_is_that_of_trec_eval_on_every_topic(
    sqlite_store: Store, collection: str, folder: str, names: list[str]
) -> None:
    runs = [data_dir(collection) / folder / f"{name}.run" for name in names]
    found = ndcg_by_topic(sqlite_store, collection, runs, "score")
    expected = published(collection)
    by_run = {run for run, _ in found}
    assert len(by_run) == len(names)
    wanted = {key: value for key, value in expected.items() if key[0] in by_run}
    assert len(wanted) == len(names) * (53 if collection == "trec-dl-2021" else 43)
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, abs=5.1e-5), key
