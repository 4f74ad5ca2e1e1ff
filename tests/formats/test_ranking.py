from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats.findings import Findings
from labeler.formats.ranking import Duplicate, ranked
from labeler.formats.run_columns import RunColumns
from labeler.formats.trec import read_run
from tests.shared import data_dir

Row = tuple[str, str, float, int]


def columns_of(rows: list[Row]) -> RunColumns:
    queries = list(dict.fromkeys(row[0] for row in rows))
    documents = list(dict.fromkeys(row[1] for row in rows))
    return RunColumns(
        path="f",
        tags=("s",),
        queries=queries,
        documents=documents,
        query_codes=np.array([queries.index(row[0]) for row in rows], dtype=np.int32),
        document_codes=np.array([documents.index(row[1]) for row in rows], dtype=np.int32),
        scores=np.array([row[2] for row in rows], dtype=np.float64),
        stated_ranks=np.array([row[3] for row in rows], dtype=np.int32),
        lines=np.arange(1, len(rows) + 1, dtype=np.int64),
    )


def as_trec_eval(score: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def by_definition(rows: list[Row], query: str, order: str) -> list[str]:
    """The rule in plain words: sort, drop later copies."""
    mine = [row for row in rows if row[0] == query]
    mine.sort(key=lambda row: row[1].encode(), reverse=True)
    mine.sort(key=lambda row: as_trec_eval(row[2]), reverse=True)
    if order == "rank":
        mine.sort(key=lambda row: row[3] if row[3] >= 0 else 10**9)
    return list(dict.fromkeys(row[1] for row in mine))


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3"]),
        st.sampled_from(["a", "b", "B", "é", "z", "\U0001f600", "\uff5e", "a1", "a10"]),
        st.sampled_from([1.0, 0.5, 0.0, -0.0, -1.0, 1.0 + 1e-12, 1e39, 2e39]),
        st.integers(-1, 4),
    ),
    min_size=1,
    max_size=25,
)
ORDER = st.sampled_from(["score", "rank"])


@given(ROWS, ORDER)
def test_the_order_is_that_of_the_rule(rows: list[Row], order: Literal["score", "rank"]) -> None:
    columns = columns_of(rows)
    run = ranked(columns, order)
    for code, query in enumerate(columns.queries):
        if order == "score" or len({row[:2] for row in rows}) == len(rows):
            assert run.documents_of(code) == by_definition(rows, query, order)
        else:
            assert set(run.documents_of(code)) == {row[1] for row in rows if row[0] == query}
    assert len(run.order) + len(run.duplicates) == len(rows)
    assert run.ranks().tolist() == [
        place
        for code in range(len(columns.queries))
        for place in range(1, len(run.rows_of(code)) + 1)
    ]


@given(ROWS, st.randoms(), ORDER)
def test_the_order_of_the_lines_plays_no_part(
    rows: list[Row], random: object, order: Literal["score", "rank"]
) -> None:
    rows = list({row[:2]: row for row in rows}.values())
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, two = ranked(columns_of(rows), order), ranked(columns_of(mixed), order)
    assert one.tied_rows == two.tied_rows
    assert sorted(one.contradictions) == sorted(two.contradictions)
    for code, query in enumerate(one.columns.queries):
        assert one.documents_of(code) == two.documents_of(two.columns.queries.index(query))


@given(ROWS)
def test_contradictions_and_ties_by_definition(rows: list[Row]) -> None:
    rows = list({row[:2]: row for row in rows}.values())
    run = ranked(columns_of(rows), "score")
    against, tied = set(), 0
    for query in run.columns.queries:
        mine = [(as_trec_eval(row[2]), row[3]) for row in rows if row[0] == query]
        scores = [score for score, _ in mine]
        tied += sum(scores.count(score) > 1 for score in scores)
        if all(rank >= 0 for _, rank in mine) and any(
            one[0] > two[0] and one[1] > two[1] for one in mine for two in mine
        ):
            against.add(query)
    assert set(run.contradictions) == against
    assert run.tied_rows == tied


def test_a_duplicate_keeps_the_better_copy_and_ranks_close_up() -> None:
    rows = [
        ("q1", "d1", 1.0, 4), ("q1", "d2", 3.0, 1), ("q1", "d1", 2.0, 2), ("q1", "d3", 1.5, 3),
        ("q1", "d1", 0.5, 5), ("q2", "d1", 1.0, 1),
    ]  # fmt: skip
    for order in ("score", "rank"):
        run = ranked(columns_of(rows), order)
        assert run.documents_of(0) == ["d2", "d1", "d3"]
        assert run.rows_of(0).tolist() == [1, 2, 3]
        assert run.duplicates == (Duplicate("q1", "d1", 1, 3), Duplicate("q1", "d1", 1, 5))
        assert run.ranks().tolist() == [1, 2, 3, 1]
        assert run.contradictions == ()


def test_a_run_without_scores_is_ordered_by_rank() -> None:
    rows = [("q1", "a", float("nan"), 2), ("q1", "b", float("nan"), 1)]
    run = ranked(columns_of(rows), "score")
    assert run.documents_of(0) == ["b", "a"]
    assert run.documents_of(0, depth=1) == ["b"]
    assert run.tied_rows == 0
    assert run.contradictions == ()


def test_queries_without_rows_stay_queries_without_rows() -> None:
    columns = columns_of([])
    columns.queries.append("q1")
    run = ranked(columns, "score")
    assert run.documents_of(0) == []
    assert run.starts.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["results.test", "results.trunc", "results.comment.test"])
def test_the_order_of_trec_eval_fixtures(name: str) -> None:
    columns = read_run(data_dir("reference") / "trec_eval" / name, Findings())
    assert columns is not None
    run = ranked(columns, "score")
    rows = [
        (columns.queries[query], columns.documents[document], float(score), 0)
        for query, document, score in zip(
            columns.query_codes, columns.document_codes, columns.scores, strict=True
        )
    ]
    for code, query in list(enumerate(columns.queries))[:5]:
        assert run.documents_of(code) == by_definition(rows, query, "score")
