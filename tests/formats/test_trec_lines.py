import pytest

from labeler.formats.trec_lines import LineNotes, RunRow, is_number, parse_run_line


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("q1 Q0 d1 1 2.5 sys", RunRow("q1", "d1", 1, 2.5, "sys")),
        ("  q1\tQ0 \t d1  1\t2.5 sys \t", RunRow("q1", "d1", 1, 2.5, "sys")),
        ("q1 QO d1 0 -1e-05 s", RunRow("q1", "d1", 0, -1e-05, "s")),
        ("q1 0 d1 1.0 +.5 s", RunRow("q1", "d1", 1, 0.5, "s")),
        ("q\u00a01 Q0 d\u20281 1 5. s", RunRow("q\u00a01", "d\u20281", 1, 5.0, "s")),
        ("q1 Q0 doc#1 1 9E+3 s", RunRow("q1", "doc#1", 1, 9000.0, "s")),
        ("01 Q0 0756 1 1 s", RunRow("01", "0756", 1, 1.0, "s")),
    ],
)
def test_rows(line: str, row: RunRow) -> None:
    assert parse_run_line(line, 1, LineNotes()) == row


@pytest.mark.parametrize("line", ["", "  \t ", "#", "# comment", "  # comment", "#q1 Q0 d 1 2"])
def test_blank_lines_and_comments_are_no_rows(line: str) -> None:
    notes = LineNotes()
    assert parse_run_line(line, 1, notes) is None
    assert notes == LineNotes()


def test_a_comment_that_could_be_a_row_is_told() -> None:
    notes = LineNotes()
    assert parse_run_line("#q1 Q0 d1 1 2.0 s", 4, notes) is None
    assert notes.comments_like_rows == [4]


def test_text_after_the_sixth_column_is_told() -> None:
    notes = LineNotes()
    row = parse_run_line("q1 Q0 d1 1 2.0 STANDARD more junk", 3, notes)
    assert row == RunRow("q1", "d1", 1, 2.0, "STANDARD")
    assert notes.extra_text == [3]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1", "1 column; a run has 6"),
        ("q1 Q0 d1 1 2.0", "5 columns; a run has 6"),
        ("q1 0 d1 2", "looks like qrels"),
        ("q1 Q0 my doc 1 2.0 sys", "does an id hold a blank?"),
        ("q1 Q0 doc 7 1 2.0 sys", "does an id hold a blank?"),
        ("q1 Q0 d1 one 2.0 s", "the rank 'one'"),
        ("q1 Q0 d1 1.5 2.0 s", "the rank '1.5'"),
        ("q1 Q0 d1 -1 2.0 s", "the rank '-1'"),
        ("q1 Q0 d1 99999999999 2.0 s", "above 2147483647"),
        ("q1 Q0 d1 " + "9" * 5000 + " 2.0 s", "rank"),
        ("q1 Q0 d1 1 high s", "the score 'high'"),
        ("q1 Q0 d1 1 nan s", "no finite number"),
        ("q1 Q0 d1 1 -inf s", "no finite number"),
        ("q1 Q0 d1 1 1e999 s", "no finite number"),
        ("q1 Q0 d1 1 1_0 s", "no finite number"),
        ("q1 Q0 d1 1 1,5 s", "no finite number"),
        ("q1 Q0 d1 1 \u0663 s", "no finite number"),
        ("q1 Q0 d\x001 1 2.0 s", "0x00"),
        ("q1 Q0 d\x0b1 1 2.0 s", "0x0b"),
        ("q1 Q0 d1 1 2.0 s\rq1 Q0 d2 2 1.0 s", "0x0d"),
    ],
)
def test_faults(line: str, said: str) -> None:
    problem = parse_run_line(line, 1, LineNotes())
    assert isinstance(problem, str)
    assert said in problem


def test_numbers_are_finite_ascii_decimals() -> None:
    assert all(map(is_number, ["1", "-1.5", "+.5", "5.", "1e5", "1E-5"]))
    assert not any(map(is_number, ["", ".", "e5", "nan", "inf", "0x1", "1 ", "1e", "--1", "1_0"]))
