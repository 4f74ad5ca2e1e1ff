"""The planted misses: one of each class, told by the rules or by a person's ruling."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.rubric import read_rubric
from labeler.demo.build import write_demo
from labeler.demo.planted import KNOWN
from labeler.demo.project import DemoProject
from labeler.demo.reading import read_demo
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.records.evaluations import FailureClass
from labeler.reports.misses import Miss, MissReport, has_ruling, read_misses, rule_on_miss
from labeler.reports.scope import ScopeOptions
from labeler.store.database import Store

RUNS = ("planted-lexical", "planted-dense")


@pytest.fixture(scope="module")
def demo() -> DemoProject:
    return read_demo()


@pytest.fixture
def planted(store: Store, own_folder: Path, demo: DemoProject) -> Store:
    folder = own_folder / "s"
    write_demo(folder, demo, ())
    import_corpus(store, [folder / "corpus.jsonl"], CorpusOptions(snapshot="help"))
    import_queries(store, [folder / "queries.jsonl"], QueryOptions())
    for run in RUNS:
        options = RunOptions(configs={"retrieval": run.removeprefix("planted-")})
        import_runs(store, [folder / f"planted/{run}.run"], options)
    rubric = read_rubric(folder / "rubric.toml")
    import_labels(store, [folder / KNOWN], LabelOptions(rubric=rubric, scale="native"))
    return store


def _report(store: Store, run: str, cutoff: int = 20) -> MissReport:
    with store.read() as connection:
        return read_misses(connection, ScopeOptions(runs=(run,)), cutoff=cutoff)[0]


def _miss(report: MissReport, query: str) -> Miss:
    (one,) = [miss for miss in report.misses if miss.query == query]
    return one


def test_there_is_one_of_each_class(demo: DemoProject) -> None:
    planted = [miss.failure for miss in demo.misses]
    assert sorted(planted) == sorted(set(FailureClass) - {FailureClass.UNDETERMINED})


def test_rules_tell_each_class_but_the_one_that_only_a_person_knows(
    planted: Store, demo: DemoProject
) -> None:
    reports = {run: _report(planted, run) for run in RUNS}
    for miss in demo.misses:
        found = _miss(reports[miss.run], miss.query)
        expected = "undetermined" if miss.is_ruled else miss.failure
        assert (miss.query, found.told.value) == (miss.query, expected)
        assert found.evidence == miss.relevant


def test_a_ruling_counts_and_what_the_rules_tell_stays(planted: Store, demo: DemoProject) -> None:
    (ruled,) = [miss for miss in demo.misses if miss.is_ruled]
    with planted.read() as connection:
        assert not has_ruling(connection, ruled.run, ruled.query)
    for failure in (FailureClass.NOT_IN_INDEX, FailureClass(ruled.failure)):
        rule_on_miss(
            planted,
            run=ruled.run,
            query=ruled.query,
            evidence=ruled.relevant,
            failure=failure,
            note=ruled.why,
        )
    report = _report(planted, ruled.run)
    found = _miss(report, ruled.query)
    assert (found.failure.value, found.told) == (ruled.failure, FailureClass.UNDETERMINED)
    assert found.ruled_by is not None
    assert report.by_class["permission_filter"] == 1
    with planted.read() as connection:
        assert has_ruling(connection, ruled.run, ruled.query)


def test_unknown_results_are_neither_hits_nor_misses(planted: Store) -> None:
    report = _report(planted, "planted-dense")
    assert (report.known_relevant, report.found) == (1, 0)
    assert [(one.query, one.rank) for one in report.unknown] == [("dev-06", 1), ("dev-06", 2)]
    deep = _report(planted, "planted-lexical", cutoff=100)
    assert "ret-25" not in {miss.query for miss in deep.misses}
