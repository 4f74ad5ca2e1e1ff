from labeler.errors import Fault
from labeler.formats.findings import Findings, shown


def test_faults_keep_their_order_and_the_rest_of_a_file_is_counted() -> None:
    findings = Findings()
    for line in range(1, 251):
        findings.fault("a.run", line, "odd")
    findings.fault("b.run", None, "empty")
    faults = findings.faults
    assert faults[0] == Fault("a.run", 1, "odd")
    assert faults[99].line == 100
    assert faults[100] == Fault("a.run", None, "and 150 more faults in this file", 150)
    assert faults[101:] == [Fault("b.run", None, "empty")]
    assert findings.left_out == 251
    assert findings.faults_of_whole_files == [Fault("b.run", None, "empty")]
    assert findings.count_faults("a.run") == 250


def test_a_file_with_line_faults_is_usable_only_leniently() -> None:
    findings = Findings()
    findings.fault("lines", 3, "odd")
    findings.fault("whole", None, "cut short")
    assert findings.usable("sound", lenient=False)
    assert not findings.usable("lines", lenient=False)
    assert findings.usable("lines", lenient=True)
    assert not findings.usable("whole", lenient=True)


def test_a_fault_without_a_line_may_be_about_some_rows_only() -> None:
    findings = Findings()
    findings.fault("labels.json", None, "labels of no scale", rows=7)
    assert findings.usable("labels.json", lenient=True)
    assert findings.left_out == 7
    assert findings.faults_of_whole_files == []


def test_notices_of_one_kind_collapse() -> None:
    findings = Findings()
    findings.notice_many("f", "odd", [])
    findings.notice_many("f", "odd", [7])
    findings.notice_many("f", "odd", list(range(1, 8)))
    assert [str(notice) for notice in findings.notices] == [
        "f:7: odd",
        "f: odd (7 lines: 1, 2, 3, 4, 5, ...)",
    ]


def test_shown_pieces_stay_on_one_line_and_harmless() -> None:
    assert shown("a\nb\x1b[31m\ud800") == r"'a\nb\x1b[31m\ud800'"
    assert shown("x" * 100) == "'" + "x" * 57 + "...'"
    assert shown(b"\xff1") == "'\ufffd1'"
