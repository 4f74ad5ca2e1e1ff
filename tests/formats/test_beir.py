from pathlib import Path

from labeler.formats.beir import beir_parts
from labeler.formats.findings import Findings
from tests.shared import data_dir


def test_the_parts_of_a_collection(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl.gz").touch()
    (tmp_path / "queries.jsonl").touch()
    (tmp_path / "qrels").mkdir()
    for name in ("train.tsv", "test.tsv.gz", "notes.md"):
        (tmp_path / "qrels" / name).touch()
    findings = Findings()
    parts = beir_parts(tmp_path, findings)
    assert parts is not None
    assert parts.corpus == tmp_path / "corpus.jsonl.gz"
    assert parts.queries == tmp_path / "queries.jsonl"
    assert parts.qrels == {
        "test": tmp_path / "qrels" / "test.tsv.gz",
        "train": tmp_path / "qrels" / "train.tsv",
    }
    assert findings.notices == []


def test_missing_parts_are_told(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").touch()
    findings = Findings()
    parts = beir_parts(tmp_path, findings)
    assert parts is not None
    assert parts.corpus is None
    assert [notice.text for notice in findings.notices] == [
        "corpus.jsonl is missing",
        "qrels/ is missing",
    ]


def test_other_folders_and_files_are_faults(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for path in (tmp_path, file, tmp_path / "none"):
        findings = Findings()
        assert beir_parts(path, findings) is None
        assert len(findings.faults) == 1
        file.touch()


def test_one_split_in_two_files_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    for name in ("test.tsv", "test.tsv.gz"):
        (tmp_path / "qrels" / name).touch()
    findings = Findings()
    assert beir_parts(tmp_path, findings) is None
    assert "'test'" in findings.faults[0].problem


def test_scifact_has_two_splits() -> None:
    parts = beir_parts(data_dir("scifact"), Findings())
    assert parts is not None
    assert list(parts.qrels) == ["test", "train"]
