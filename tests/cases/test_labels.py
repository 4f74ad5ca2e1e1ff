"""Public cases of labels: qrels, codes, spellings, raters, skips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.labels import StateCode
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.scales import Assessor
from tests.cases.project import Project, read_jsonl
from tests.shared import case_dir

RELEVANT, NOT, UNKNOWN = StateCode.RELEVANT, StateCode.NOT_RELEVANT, StateCode.UNKNOWN


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_22_columns_the_wrong_way_round_and_nothing_relevant(project: Project) -> None:
    case = case_dir("22")
    told = project.do("import", "labels", case / "qrels.txt")
    assert "not one of 3 labels is relevant" in told.err
    assert "the document id '0'" in told.err
    assert "second column" in told.err
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("bm25", "01")
    assert metrics.recall(10) is None
    assert metrics.judged(10) == 0


def test_22_neighbours_that_are_sound_are_not_warned_of(project: Project) -> None:
    told = project.do("import", "labels", write("q.txt", "q1 0 d1 0\nq1 0 d2 1\nq2 0 d1 0\n"))
    assert "not one of" not in told.err
    assert "second column" not in told.err


def test_24_repeated_lines_count_once(project: Project) -> None:
    case = case_dir("24")
    told = project.do("import", "labels", case / "qrels.txt")
    assert "counted once (2 lines: 2, 4)" in told.err
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("s", "q1")
    assert metrics.known_relevant == 2
    assert metrics.recall(2) == 1.0


def test_25_a_conflict_is_told_and_nothing_wins_by_its_place(project: Project) -> None:
    case = case_dir("25")
    lines = (case / "qrels.txt").read_text().splitlines()
    for number, order in enumerate((lines, lines[::-1])):
        other = project.another(str(number))
        told = other.do("import", "labels", write("q.txt", "\n".join(order)))
        assert "'q1'" in told.err
        assert "'d1'" in told.err
        assert "line 1" in told.err or "line 2" in told.err
        assert other.labels() == {("q1", "d1"): UNKNOWN, ("q1", "d2"): NOT}
    exported = project.another("0")
    told = exported.do("export", "qrels", "out.txt")
    assert Path("out.txt").read_text() == "q1 0 d2 0\n"
    assert "1 unknown" in told.err


def test_25_both_lines_are_named(project: Project) -> None:
    told = project.do("import", "labels", case_dir("25") / "qrels.txt")
    assert "3 on line 1, 0 on line 3" in told.err


def test_25_a_conflict_across_two_files_or_two_imports(project: Project) -> None:
    first, second = write("a.txt", "q1 0 d1 2\nq1 0 d2 0\n"), write("b.txt", "q1 0 d1 0\n")
    told = project.do("import", "labels", first, second)
    assert "2 on line 1, 0 on line 1 of b.txt" in told.err
    later = project.another("later")
    later.do("import", "labels", first)
    assert later.labels()["q1", "d1"] is RELEVANT
    told = later.do("import", "labels", second, "--scale", "native")
    assert "query 'q1' document 'd1'" in told.err
    assert later.labels()["q1", "d1"] is UNKNOWN
    assert later.labels() == project.labels()


def test_25_lines_of_several_raters_are_several_judgments(project: Project) -> None:
    rows = write("r.tsv", "query_id\tdoc_id\trater\tlabel\nq1\td1\ta\t3\nq1\td1\tb\t0\n")
    told = project.json("import", "labels", rows)
    assert (told["counts"]["judged"], told["counts"]["disputed"]) == (2, 1)
    assert project.labels() == {("q1", "d1"): UNKNOWN}


MAPPED = "--map=1=fully_relevant,2=partially_relevant,4=not_relevant,-1=not_relevant"


def test_26_codes_that_no_scale_holds_are_shown_and_a_mapping_is_asked_for(
    project: Project,
) -> None:
    told = project.refused("import", "labels", case_dir("26") / "qrels.txt")
    assert all(code in told for code in ("'1'", "'2'", "'4'", "'-1'", "--map=", "not_relevant"))


@pytest.mark.parametrize(
    "mapping",
    [
        [MAPPED],
        ["--map", "1=fully", "--map", "2=partially", "--map", "4=not", "--map=-1=not"],
    ],
)
def test_26_a_mapping_of_codes_keeps_them(project: Project, mapping: list[str]) -> None:
    told = project.json("import", "labels", case_dir("26") / "qrels.txt", *mapping)
    assert "1=1 (fully_relevant)" in told["scale"]
    assert project.labels() == {
        ("1", "184"): RELEVANT,
        ("1", "29"): RELEVANT,
        ("1", "31"): NOT,
        ("1", "12"): NOT,
    }
    project.do("export", "qrels", "out.txt")
    before = (case_dir("26") / "qrels.txt").read_text().split("\n")
    assert sorted(Path("out.txt").read_text().split("\n")) == sorted(before)


def test_26_codes_that_fit_a_scale_are_shown_with_the_way_round(project: Project) -> None:
    told = project.do("import", "labels", write("q.txt", "1 0 a 1\n1 0 b 2\n1 0 c 3\n"))
    assert "3=perfectly_relevant (fully_relevant)" in told.out
    assert "1=related (not_relevant)" in told.out


def test_26_a_code_that_the_mapping_leaves_out_is_named(project: Project) -> None:
    told = project.refused(
        "import", "labels", case_dir("26") / "qrels.txt", "--map", "1=fully,2=partially,4=not"
    )
    assert "'-1'" in told


@pytest.mark.parametrize("mapping", ["1", "1=", "1=best", "=fully", "1=1"])
def test_26_a_mapping_that_says_nothing_is_a_usage_error(project: Project, mapping: str) -> None:
    path = case_dir("26") / "qrels.txt"
    told = project.run("import", "labels", path, "--map", mapping)
    assert told.code == 2
    assert "--map" in told.err


def test_53_only_stated_spellings_are_read(project: Project) -> None:
    labels = case_dir("53") / "labels.jsonl"
    told = project.refused("import", "labels", labels)
    for label in ("irrelevant.", "relevant", "yes", "no", "maybe", "E", "100.000", "notfully"):
        assert f"'{label}' ×1" in told
    assert "true ×1" in told
    assert "false ×1" in told
    assert "--map" in told
    for accepted in ("'fully'", "'Irrelevant'", "'not relevant'", "'1'", "'1.0'"):
        assert accepted not in told.split("nothing is assumed")[0]


def test_53_leniently_the_others_are_left_out_and_counted(project: Project) -> None:
    told = project.json("import", "labels", case_dir("53") / "labels.jsonl", "--lenient")
    assert told["counts"]["left out"] == 11
    assert told["counts"]["without a label"] == 2
    assert "native: 2=fully_relevant" in told["scale"]
    labels = {document: code for (_, document), code in project.labels().items()}
    assert {name for name, code in labels.items() if code is NOT} == {"d6", "d7"}
    relevant = {name for name, code in labels.items() if code is RELEVANT}
    assert relevant == {"d1", "d2", "d3", "d4", "d5", "d12", "d13", "d14", "d15"}
    again = project.json("import", "labels", case_dir("53") / "labels.jsonl", "--lenient")
    assert again["revision"] is None
    assert again["counts"]["left out"] == 11


def test_53_a_mapping_reads_the_rest(project: Project) -> None:
    words = {
        **dict.fromkeys(["irrelevant.", "no", "false", "notfully", "maybe"], "not_relevant"),
        **dict.fromkeys(["relevant", "yes", "true", "E", "100.000"], "fully_relevant"),
        "5.0 (Excellent)": "fully_relevant",
    }
    options = [f"--map={word}={grade}" for word, grade in words.items()]
    told = project.json("import", "labels", case_dir("53") / "labels.jsonl", *options)
    assert told["counts"]["judged"] == 22
    labels = {document: code for (_, document), code in project.labels().items()}
    assert labels["d16"] is RELEVANT
    assert labels["d17"] is NOT
    assert labels["d24"] is NOT


@pytest.mark.parametrize(
    ("label", "read"),
    [
        ('"FULLY-relevant"', RELEVANT),
        ('"non_relevant"', NOT),
        ('"Non Relevant"', NOT),
        ('" 2.0 "', RELEVANT),
        ("2.0", RELEVANT),
        ('"-1"', None),
        ("1.5", None),
        ('"½"', None),
        ('"٢"', None),
        ('"relevant not"', None),
        ('"1e0"', None),
        ("[2]", None),
        ("{}", None),
    ],
)
def test_53_neighbours(project: Project, label: str, read: StateCode | None) -> None:
    rows = [
        '{"query_id": "q", "doc_id": "known", "label": "partially"}',
        f'{{"query_id": "q", "doc_id": "d", "label": {label}}}',
    ]
    path = write("l.jsonl", "\n".join(rows))
    if read is None:
        assert "l.jsonl:2" in project.refused("import", "labels", path)
        project.do("import", "labels", path, "--lenient")
        assert project.labels() == {("q", "known"): RELEVANT}
    else:
        project.do("import", "labels", path)
        assert project.labels()["q", "d"] is read


def test_54_a_skip_is_neither_a_label_nor_lost(project: Project) -> None:
    case = case_dir("54")
    told = project.json("import", "labels", case / "annotations.tsv")
    assert (told["counts"]["judged"], told["counts"]["abstained"]) == (3, 1)
    project.do("import", "runs", case / "run.txt")
    assert project.labels() == {("q1", "d1"): RELEVANT, ("q1", "d2"): RELEVANT, ("q1", "d3"): NOT}
    assert project.metrics("s", "q1").judged(3) == 1.0
    kept = project.rows(sa.select(table(Judgment).c.outcome))
    assert sorted(outcome for (outcome,) in kept) == ["abstained", "judged", "judged", "judged"]


def test_54_without_the_other_rater_the_pair_is_unknown(project: Project) -> None:
    case = case_dir("54")
    lines = (case / "annotations.tsv").read_text().splitlines()
    project.do("import", "labels", write("a.tsv", "\n".join(lines[:-1])))
    project.do("import", "runs", case / "run.txt")
    assert project.labels()["q1", "d2"] is UNKNOWN
    assert project.metrics("s", "q1").judged(3) == pytest.approx(2 / 3)
    told = project.do("export", "qrels", "out.txt")
    assert "1 abstained, 0 unknown" in told.err
    assert "d2" not in Path("out.txt").read_text()


@pytest.mark.parametrize("word", ["cannot_judge", "Cannot judge", "can't judge", "unrateable"])
def test_54_words_for_a_skip(project: Project, word: str) -> None:
    rows = [
        {"query_id": "q", "doc_id": "d", "label": word},
        {"query_id": "q", "doc_id": "e", "label": "fully"},
    ]
    path = write("l.jsonl", "\n".join(map(json.dumps, rows)))
    assert project.json("import", "labels", path)["counts"]["abstained"] == 1
    assert project.labels() == {("q", "d"): UNKNOWN, ("q", "e"): RELEVANT}


def test_61_two_raters_are_kept_and_a_conflict_is_left_open(project: Project) -> None:
    told = project.do("import", "labels", case_dir("61") / "annotations.tsv")
    assert "query 'q1' document 'd1'" in told.err
    assert project.labels() == {("q1", "d1"): UNKNOWN, ("q1", "d2"): RELEVANT}
    told = project.do("export", "qrels", "out.txt")
    assert Path("out.txt").read_text() == "q1 0 d2 1\n"
    assert "1 unknown" in told.err
    project.do("export", "jsonl", "out.jsonl")
    given = [
        (row["evidenceId"], judgment["assessor"], judgment["code"], judgment["at"][:16])
        for row in read_jsonl(Path("out.jsonl"))
        for judgment in row["assessment"]["judgments"]
    ]
    assert given == [
        ("d1", "anna", 2, "2024-05-01T10:00"),
        ("d1", "bo", 0, "2024-05-01T10:05"),
        ("d2", "anna", 1, "2024-05-01T10:01"),
    ]


def test_62_a_later_label_takes_the_place_of_the_earlier(project: Project) -> None:
    lines = (case_dir("62") / "annotations.tsv").read_text().splitlines()
    for number, rows in enumerate((lines[1:], lines[:0:-1])):
        other = project.another(str(number))
        told = other.json("import", "labels", write("a.tsv", "\n".join([lines[0], *rows]) + "\n"))
        assert (told["counts"]["judged"], told["counts"]["disputed"]) == (3, 0)
        assert other.labels() == {("q1", "d1"): RELEVANT}
        assert other.rows(sa.select(sa.func.count()).select_from(table(Assessor))) == [(2,)]
        other.do("export", "jsonl", "out.jsonl")
        (row,) = read_jsonl(Path("out.jsonl"))
        assert row["label"] == "fully_relevant"
        assert row["assessment"]["basis"] == "consensus"
        assert len(row["assessment"]["judgments"]) == 3


def test_62_the_later_label_may_come_in_a_later_import_or_with_another_zone(
    project: Project,
) -> None:
    head = "query_id\tdoc_id\trater\tlabel\tat\n"
    # 10:00 in Delhi is before 08:00 in London.
    later = "q1\td1\tanna\tfully\t2024-05-01T08:00:00Z\n"
    earlier = "q1\td1\tanna\tnot\t2024-05-01T10:00:00+05:30\n"
    project.do("import", "labels", write("a.tsv", head + later))
    project.do("import", "labels", write("b.tsv", head + earlier))
    assert project.labels() == {("q1", "d1"): RELEVANT}


def test_62_a_time_that_is_none_is_named(project: Project) -> None:
    rows = "query_id\tdoc_id\tlabel\tat\nq1\td1\tfully\tlast week\n"
    assert "a.tsv:2: 'last week'" in project.refused("import", "labels", write("a.tsv", rows))


def test_64_two_equal_raters_are_120_judgments_on_60_pairs(project: Project) -> None:
    told = project.json("import", "labels", case_dir("64") / "annotations.tsv")
    assert told["counts"]["judged"] == 120
    assert told["counts"]["pairs"] == 60
    assert told["counts"]["settled"] == 60
    assert told["counts"]["disputed"] == 0


def test_labels_that_are_all_empty_are_refused(project: Project) -> None:
    path = write("r.csv", "query_id,doc_id,label\nq1,d1,\nq1,d2,\n")
    assert "no row holds a label" in project.refused("import", "labels", path)


def test_a_machine_asked_twice_gave_two_samples(project: Project) -> None:
    path = write("j.txt", "q1 0 d1 1\nq1 0 d1 1\nq1 0 d1 0\n")
    told = project.json("import", "labels", path, "--kind", "llm", "--assessor", "gpt")
    assert told["counts"]["added"] == 3
    # What a model says is no label in force until a policy accepts it.
    assert project.labels() == {("q1", "d1"): UNKNOWN}
    again = project.json("import", "labels", path, "--kind", "llm", "--assessor", "gpt")
    assert again["revision"] is None


def test_labels_on_two_chunks_of_one_evidence_are_labels_on_that_evidence(
    project: Project,
) -> None:
    corpus = [
        {"_id": name, "text": f"text {name}", "evidence_ids": ["fact"]} for name in ("c1", "c2")
    ]
    project.do("import", "corpus", write("c.jsonl", "\n".join(map(json.dumps, corpus))))
    agreeing = write("a.txt", "q1 0 c1 1\nq1 0 c2 1\n")
    told = project.do("import", "labels", agreeing)
    assert "a.txt:2: the same label again" in told.err
    assert project.labels() == {("q1", "fact"): RELEVANT}
    assert project.json("import", "labels", agreeing)["revision"] is None
    told = project.do("import", "labels", write("b.txt", "q2 0 c1 1\nq2 0 c2 0\n"))
    assert "1 on line 1, 0 on line 2" in told.err
    assert project.labels()["q2", "fact"] is UNKNOWN
    samples = write("m.txt", "q3 0 c1 1\nq3 0 c2 1\n")
    assert project.json("import", "labels", samples, "--kind", "llm")["counts"]["added"] == 2
    assert project.json("import", "labels", samples, "--kind", "llm")["revision"] is None
