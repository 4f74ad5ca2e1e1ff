import json
from pathlib import Path

import numpy as np
import pytest

from labeler.formats.findings import Findings
from labeler.formats.run_columns import RunColumns
from labeler.formats.run_json import read_qrels_json, read_run_json


def read(folder: Path, content: str) -> tuple[RunColumns | None, Findings]:
    path = folder / "my-run.json"
    path.write_text(content, encoding="utf-8")
    findings = Findings()
    return read_run_json(path, findings), findings


def test_documents_with_scores(tmp_path: Path) -> None:
    columns, _ = read(tmp_path, '{"q1": {"d2": 1.5, "d1": 3}, "q2": {}, "q3": {"d1": -1e-5}}')
    assert columns is not None
    assert columns.tags == ("my-run",)
    assert columns.queries == ["q1", "q2", "q3"]
    assert columns.documents == ["d2", "d1"]
    assert columns.query_codes.tolist() == [0, 0, 2]
    assert columns.document_codes.tolist() == [0, 1, 1]
    assert columns.scores.tolist() == [1.5, 3.0, -1e-5]
    assert columns.stated_ranks.tolist() == [-1, -1, -1]
    assert columns.lines.tolist() == [0, 0, 0]


def test_lists_have_ranks_and_no_scores(tmp_path: Path) -> None:
    columns, _ = read(tmp_path, '{"q1": ["d1", 7], "q2": []}')
    assert columns is not None
    assert columns.queries == ["q1", "q2"]
    assert columns.documents == ["d1", "7"]
    assert columns.stated_ranks.tolist() == [1, 2]
    assert np.isnan(columns.scores).all()
    assert not columns.has_scores


@pytest.mark.parametrize(
    "hits",
    [
        '[["d1", 2.0], ["d2", 1]]',
        '[{"docid": "d1", "score": 2.0}, {"docid": "d2", "score": 1}]',
        '[{"id": "d1", "score": 2.0}, {"doc_id": "d2", "score": 1}]',
    ],
)
def test_lists_with_scores(tmp_path: Path, hits: str) -> None:
    columns, _ = read(tmp_path, f'{{"q1": {hits}}}')
    assert columns is not None
    assert columns.documents == ["d1", "d2"]
    assert columns.scores.tolist() == [2.0, 1.0]
    assert columns.stated_ranks.tolist() == [1, 2]


def test_a_file_in_which_nothing_was_found(tmp_path: Path) -> None:
    columns, _ = read(tmp_path, '{"q1": [], "q2": []}')
    assert columns is not None
    assert columns.queries == ["q1", "q2"]
    assert len(columns) == 0


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ('{"q1": {"d1": 1},\n "q1": {"d2": 1}}', None, "'q1' comes twice"),
        ('{"q1": {"d1": 1, "d1": 2}}', None, "'d1' comes twice"),
        ('{"q1": {"d1": NaN}}', None, "no finite number"),
        ('{"q1": {"d1": 1e999}}', None, "no finite number"),
        ('{"q1": {"d1": null}}', None, "no finite number"),
        ('{"q1": {"d1": true}}', None, "no finite number"),
        ('{"q1": {"d1": "3"}}', None, "no finite number"),
        ('{"q1": [["d1", 1], "d2"]}', None, "1 of 2 hits have no score"),
        ('{"q1": [["d1", 1, 2]]}', None, "no document id"),
        ('{"q1": 3}', None, "neither object nor list"),
        ('{"q1": [true]}', None, "no document id"),
        ('{"": ["d1"]}', None, "empty"),
        ('[{"query_id": "q1"}]', None, "no object"),
        ('{"query_id": "q1"}\n{"query_id": "q2"}', 2, "several JSON values"),
        ('{"q1": [\n}', 2, "not JSON"),
        ("[" * 100_000, None, "nested too deeply"),
    ],
)
def test_faults_name_the_wanted_form(
    tmp_path: Path, content: str, line: int | None, said: str
) -> None:
    columns, findings = read(tmp_path, content)
    assert columns is None
    assert findings.faults[0].line == line
    assert said in findings.faults[0].problem


def test_json_judgements(tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps({"q1": {"d1": 1, "d2": "fully"}, "q2": {"d1": 0.5}}))
    assert read_qrels_json(path, Findings()) == [
        ("q1", "d1", "1"),
        ("q1", "d2", "fully"),
        ("q2", "d1", "0.5"),
    ]
    for content in ('{"q1": {"d1": true}}', '{"q1": {"d1": null}}', '{"q1": ["d1"]}', "[]"):
        path.write_text(content)
        findings = Findings()
        assert read_qrels_json(path, findings) is None
        assert findings.faults
