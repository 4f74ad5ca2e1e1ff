import math
from collections.abc import Mapping

import pytest

from labeler.formats.fields import (
    CORPUS,
    HITS,
    LABELS,
    QUERIES,
    Fields,
    FieldTable,
    as_id,
    lookup,
    resolve,
)
from labeler.formats.findings import Findings
from labeler.formats.records import Record


def resolved(
    names: list[str], table: FieldTable, overrides: Mapping[str, str] | None = None
) -> tuple[Fields | None, Findings]:
    findings = Findings()
    return resolve(names, table, overrides or {}, path="f", findings=findings), findings


@pytest.mark.parametrize(
    ("names", "table", "expected"),
    [
        (["_id", "title", "text"], CORPUS, {"id": "_id", "title": "title", "text": "text"}),
        (["Doc ID", "Passage"], CORPUS, {"id": "Doc ID", "text": "Passage"}),
        (["chunk_id", "doc_id", "content"], CORPUS,
         {"id": "chunk_id", "document": "doc_id", "text": "content"}),
        (["id", "doc_id", "text"], CORPUS, {"id": "id", "document": "doc_id", "text": "text"}),
        (["queryId", "question"], QUERIES, {"id": "queryId", "text": "question"}),
        (["query-id", "corpus-id", "score"], LABELS,
         {"query": "query-id", "document": "corpus-id", "label": "score"}),
        (["query", "docid", "rating"], LABELS,
         {"query": "query", "document": "docid", "label": "rating"}),
        (["query_id", "query", "evidenceId", "retriever", "rank"], HITS,
         {"query": "query_id", "query_text": "query", "document": "evidenceId",
          "system": "retriever", "rank": "rank"}),
    ],
)  # fmt: skip
def test_columns_are_known_by_the_table(
    names: list[str], table: FieldTable, expected: dict[str, str]
) -> None:
    found, findings = resolved(names, table)
    assert found == expected
    assert findings.faults == []
    assert findings.notices == []


def test_a_flat_pool_is_read_three_ways() -> None:
    names = ["id", "query_id", "query", "doc_id", "passage", "system", "rank"]
    corpus, _ = resolved(names, CORPUS)
    queries, _ = resolved(names, QUERIES)
    hits, _ = resolved(names, HITS)
    assert corpus is not None
    assert (corpus["id"], corpus["text"]) == ("doc_id", "passage")
    assert queries is not None
    assert (queries["id"], queries["text"]) == ("query_id", "query")
    assert hits is not None
    assert (hits["query"], hits["document"], hits["rank"]) == ("query_id", "doc_id", "rank")


def test_a_missing_column_is_told_with_what_was_found_and_the_option() -> None:
    found, findings = resolved(["qid", "Wortlaut"], QUERIES)
    assert found is None
    (fault,) = findings.faults
    assert "'qid', 'Wortlaut'" in fault.problem
    assert "--field text=NAME" in fault.problem


def test_the_user_decides_and_a_wrong_name_is_a_fault() -> None:
    names = ["qid", "Wortlaut", "text"]
    found, _ = resolved(names, QUERIES, {"text": "Wortlaut", "rank": "of another table"})
    assert found is not None
    assert found["text"] == "Wortlaut"
    found, _ = resolved(names, QUERIES, {"queries.text": "Wortlaut", "text": "text"})
    assert found is not None
    assert found["text"] == "Wortlaut"
    found, findings = resolved(names, QUERIES, {"text": "none"})
    assert found is None
    assert "'none'" in findings.faults[0].problem


def test_a_choice_between_two_columns_is_told() -> None:
    found, findings = resolved(["query_id", "doc_id", "score", "label"], LABELS)
    assert found is not None
    assert found["label"] == "label"
    assert "'label' is taken as the label, not 'score'" in findings.notices[0].text


@pytest.mark.parametrize("table", [CORPUS, QUERIES, HITS])
def test_nested_rows_are_said_to_be_nested(table: FieldTable) -> None:
    record = Record(
        1, {"query": {"id": "q1", "text": "x"}, "hits": [{"docid": "d1", "content": "y"}]}
    )
    findings = Findings()
    found = resolve(record.values, table, {}, path="f", findings=findings, example=record)
    assert found is None
    assert "nested" in findings.faults[0].problem
    assert "flat" in findings.faults[0].problem


def test_nested_columns_that_nobody_needs_are_let_alone() -> None:
    record = Record(1, {"_id": "q1", "text": "x", "metadata": {"a": {}}, "extra": {"b": [{}]}})
    findings = Findings()
    assert resolve(record.values, QUERIES, {}, path="f", findings=findings, example=record)
    assert findings.faults == []


def test_metadata_counts_where_the_row_lacks_a_field() -> None:
    fields, _ = resolved(["_id", "text", "metadata"], QUERIES)
    assert fields is not None
    record = Record(1, {"_id": "q", "text": "t", "metadata": {"information_need": "n", "id": "no"}})
    assert lookup(record, fields, "need") == "n"
    assert lookup(record, fields, "id") == "q"
    assert lookup(record, fields, "domain") is None
    assert lookup(Record(2, {"_id": "q", "metadata": None}), fields, "need") is None


def test_rows_with_other_columns_than_the_first_are_looked_up_by_the_table() -> None:
    fields, _ = resolved(["_id", "text"], CORPUS)
    assert fields is not None
    assert lookup(Record(2, {"_id": "d", "text": "t", "Title": "T"}), fields, "title") == "T"
    assert lookup(Record(3, {"doc_id": "d", "text": "t"}), fields, "id") == "d"
    assert lookup(Record(4, {"_id": "d", "text": "t"}), fields, "title") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("01", "01"), ("1.0", "1.0"), (" a", " a"), (1, "1"), (1.0, "1"), (-0.0, "0"),
        (1.5, "1.5"), (10**20, "1" + "0" * 20), ("", None), ("  ", None), (None, None),
        (True, None), ([1], None), ({"a": 1}, None), (1e300, None), (math.nan, None),
        (math.inf, None), ("a\x00", None), ("a\ud800", None), (b"a", None),
    ],
)  # fmt: skip
def test_ids_become_text_once(value: object, expected: str | None) -> None:
    assert as_id(value) == expected
