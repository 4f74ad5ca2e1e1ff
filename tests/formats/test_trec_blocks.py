"""The fast way must say what the slow way, the specification, says."""

from pathlib import Path

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.formats.findings import Findings
from labeler.formats.run_columns import RunColumns
from labeler.formats.trec_blocks import RunReader

ID = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1, max_size=10
) | st.sampled_from(["q1", "q2", "d1", "d2", "d\u00a03", "doc#4", "é", "#", "x" * 200])
NUMBER = st.sampled_from(
    ["1", "2", "0", "10", "1.0", "-1", "2.5", "-0.0", "1e-05", "nan", "inf", "1_0", "", ".5",
     "5.", "12.893000602722168", "0.1234567", "1e999", "99999999999", "+1", "1.2.3"]
) | st.floats(-100, 100).map(lambda x: f"{x:.4f}") | st.integers(0, 2000).map(str)  # fmt: skip
GAP = st.sampled_from([" ", "\t", "  ", " \t", "\u00a0", "\x0b", "\r"])
EDGE = st.sampled_from(["", "", "", "", " ", "\t", "\r"])
REGULAR = st.tuples(
    st.sampled_from(["q1", "q2", "q10"]),
    st.sampled_from(["d1", "d2", "doc-three", "ä4"]),
    st.integers(0, 5000),
    st.floats(-50, 50).map(lambda x: round(x, 3)),
).map(lambda row: f"{row[0]} Q0 {row[1]} {row[2]} {row[3]} sys")
ODD = st.tuples(EDGE, ID, GAP, ID, GAP, ID, GAP, NUMBER, GAP, NUMBER, GAP, ID, EDGE).map("".join)
LINE = REGULAR | ODD | st.sampled_from(["", "  ", "# note", "#q Q0 d 1 2 s", "q 0 d 1", "a b"])
BLOCK = (
    st.tuples(st.lists(LINE, min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]))
    .map(lambda parts: parts[1].join(parts[0]).encode())
    .filter(bool)
)  # no reader gives an empty block


def told(findings: Findings) -> list[tuple[int | None, str]]:
    return [(fault.line, fault.problem) for fault in findings.faults]


def same(one: RunColumns, two: RunColumns) -> bool:
    return (one.tags, one.queries, one.documents) == (two.tags, two.queries, two.documents) and all(
        left.dtype == right.dtype and left.tobytes() == right.tobytes()
        for left, right in (
            (one.query_codes, two.query_codes),
            (one.document_codes, two.document_codes),
            (one.scores, two.scores),
            (one.stated_ranks, two.stated_ranks),
            (one.lines, two.lines),
        )
    )


@given(st.lists(BLOCK, min_size=1, max_size=4), st.booleans())
@example([b"q1 Q0 d1 1 2.5 s\nq1 Q0 d2 2 12.25 s"], True)
@example([b"q Q0 d 1 2 s t\nq Q0 d 1 2"], True)
def test_both_ways_read_the_same(blocks: list[bytes], end: bool) -> None:
    if end:
        blocks = [block + b"\n" for block in blocks]
    readers = [RunReader(Path("f"), Findings()) for _ in range(3)]
    for block in blocks:
        readers[0].take(block)
        readers[1].take_slowly(block)
        if not readers[2].take_fast(block):
            readers[2].take_slowly(block)
    slow = readers[1]
    for reader in (readers[0], readers[2]):
        assert told(reader.findings) == told(slow.findings)
        assert reader.notes == slow.notes
        assert (reader.next_line, reader.row_count) == (slow.next_line, slow.row_count)
        if slow.row_count:
            assert same(reader.columns(), slow.columns())


@given(st.lists(REGULAR, min_size=1, max_size=30), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_regular_blocks_go_the_fast_way(lines: list[str], end: str, tabs: bool) -> None:
    text = end.join(lines) + end
    block = (text.replace(" ", "\t") if tabs else text).encode()
    assert RunReader(Path("f"), Findings()).take_fast(block)


def test_a_refused_block_leaves_nothing_behind() -> None:
    reader = RunReader(Path("f"), Findings())
    assert not reader.take_fast(b"q Q0 d 1 2 s\nq Q0 d 2 nan s\n")
    assert (reader.next_line, reader.row_count) == (1, 0)
    reader.take_slowly(b"q Q0 d 1 2 s\n")
    assert reader.columns().lines.tolist() == [1]


def test_odd_lines_far_into_a_large_block_keep_their_numbers() -> None:
    rows = [
        f"q{number // 100} Q0 d{number} {number % 100} {number / 8} s" for number in range(9000)
    ]
    rows[3000:3000] = ["# note", ""]
    rows[7000] = "q Q0 d 1 x s"
    findings = Findings()
    reader = RunReader(Path("f"), findings)
    reader.take("\n".join(rows).encode())
    assert [fault.line for fault in findings.faults] == [7001]
    columns = reader.columns()
    assert len(columns) == 8999
    number = 6000
    row = int(np.flatnonzero(columns.document_codes == columns.documents.index(f"d{number}"))[0])
    assert columns.lines[row] == number + 3
    assert columns.scores[row] == number / 8
