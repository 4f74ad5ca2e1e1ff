"""Nothing is half-imported, leniency leaves out and counts, the same twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from labeler.labels import StateCode
from tests.cases.project import Project

SOUND: Mapping[str, tuple[str, str]] = {
    "corpus": ("c.jsonl", '{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "two"}\n'),
    "queries": ("q.csv", "query_id,text\nq1,first\nq2,second\n"),
    "runs": ("r.txt", "q1 Q0 d1 1 2.0 s\nq1 Q0 d2 2 1.0 s\nq2 Q0 d2 1 1.0 s\n"),
    "labels": ("l.txt", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d2 1\n"),
}
FAULTY: Mapping[str, str] = {
    "corpus": '{"_id": "d3", "text": "three"}\n{"_id": "d4", "text": \n{"_id": "d5"}\n',
    "queries": "query_id,text\nq3,third\nq4,\n,fourth\n",
    "runs": "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 high t\nq1 Q0 d2\n",
    "labels": "q1 0 d1 2\nq1 0 d2\nq1 0 d3 best\n",
}
KINDS = list(SOUND)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def import_all(project: Project) -> None:
    for kind, (name, text) in SOUND.items():
        project.do("import", kind, write(name, text))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filled", [False, True])
def test_a_faulty_file_leaves_no_row_and_can_be_mended(
    project: Project, kind: str, filled: bool
) -> None:
    if filled:
        import_all(project)
    name = f"faulty-{SOUND[kind][0]}"
    told = project.refused("import", kind, write(name, FAULTY[kind]), *_as_new(kind, filled))
    assert "nothing was stored" in told
    assert f"{name}:" in told
    # A sound file beside it isn't imported either.
    sound = write(f"sound-{SOUND[kind][0]}", SOUND[kind][1])
    project.refused("import", kind, sound, Path(name), *_as_new(kind, filled))
    assert project.run("import", kind, sound).code == 0


def _as_new(kind: str, filled: bool) -> list[str]:
    return ["--snapshot", "c"] if kind in {"runs", "labels"} and filled else []


@pytest.mark.parametrize("kind", KINDS)
def test_leniently_faulty_rows_are_left_out_and_counted_each_time(
    project: Project, kind: str
) -> None:
    path = write(f"faulty-{SOUND[kind][0]}", FAULTY[kind])
    left_out = 1 if kind == "corpus" else 2  # a passage without a text is no fault
    first = project.json("import", kind, path, "--lenient")
    assert first["counts"]["left out"] == left_out
    assert first["counts"]["added"] >= 1
    assert sum("left out" in notice for notice in first["notices"]) == left_out
    before = project.row_counts()
    again = project.json("import", kind, path, "--lenient")
    assert again["counts"]["left out"] == left_out
    assert again["revision"] is None
    assert project.row_counts() == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_import_twice_makes_no_revision(project: Project, kind: str) -> None:
    import_all(project)
    before = project.row_counts()
    name, _ = SOUND[kind]
    told = project.do("import", kind, Path(name))
    assert "nothing changed" in told.out
    assert project.row_counts() == before
    # The name of the file is not what tells it apart, and the order of its rows neither.
    lines = Path(name).read_text().splitlines()
    head, rows = (lines[:1], lines[1:]) if name.endswith(".csv") else ([], lines)
    copy = write(f"copy-of-{name}", "\n".join([*head, *reversed(rows)]) + "\n")
    options = ["--snapshot", "c"] if kind == "corpus" else []
    if kind == "corpus":
        snapshot = project.json("corpus", "list")["snapshots"][0]
        options = ["--snapshot", str(next(iter(snapshot.values())))]
    assert project.json("import", kind, copy, *options)["revision"] is None
    assert project.row_counts() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lenient", [(), ("--lenient",)])
@pytest.mark.parametrize("content", [None, "", "\n\n", "\x00\x01\x02" * 40])
def test_a_file_that_holds_nothing_is_refused_leniently_too(
    project: Project, kind: str, lenient: tuple[str, ...], content: str | None
) -> None:
    path = Path("nothing.txt")
    if content is not None:
        write("nothing.txt", content)
    assert "nothing.txt" in project.refused("import", kind, path, *lenient)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_without_the_parts_is_refused(project: Project, kind: str) -> None:
    Path("empty").mkdir()
    assert "empty" in project.refused("import", kind, Path("empty"))


def test_labels_and_runs_of_unknown_queries_are_really_left_out(project: Project) -> None:
    import_all(project)
    runs = write("more.txt", "q1 Q0 d1 1 2.0 t\nq9 Q0 d1 1 2.0 t\nq9 Q0 d2 2 1.0 t\n")
    labels = write("more-labels.txt", "q2 0 d1 1\nq9 0 d1 1\nq9 0 d2 0\n")
    for kind, path in (("runs", runs), ("labels", labels)):
        assert "'q9' is not among those imported" in project.refused("import", kind, path)
        assert project.json("import", kind, path, "--lenient")["counts"]["left out"] == 2
    assert {query for query, _ in project.labels()} == {"q1", "q2"}
    assert project.ranking("t", "q9") == []
    assert project.ranking("t", "q1") == ["d1"]


def test_a_run_none_of_whose_queries_is_known_is_refused_leniently_too(project: Project) -> None:
    import_all(project)
    path = write("other.txt", "x1 Q0 d1 1 2.0 t\n")
    assert "no sound row is left" in project.refused("import", "runs", path, "--lenient")


def test_a_run_before_its_corpus(project: Project) -> None:
    name, text = SOUND["runs"]
    told = project.do("import", "runs", write(name, text))
    assert "import them again" in told.err
    told = project.do("import", "labels", write(*SOUND["labels"]))
    assert "import them again" in told.err
    project.do("import", "corpus", write(*SOUND["corpus"]), "--snapshot", "c")
    assert "no runs over the snapshot 'c'" in project.refused("pool", "create", "p", "--depth", "2")
    told = project.do("import", "runs", Path(name))
    assert "no corpus" not in told.err
    made = project.json("pool", "create", "p", "--depth", "2")
    assert (made["candidates"], made["without_text"]) == (3, 0)
    project.do("import", "labels", Path("l.txt"))
    project.do("export", "qrels", "out.txt", "--pool", "p")
    assert Path("out.txt").read_text() == "q1 0 d1 1\nq1 0 d2 0\nq2 0 d2 1\n"


def test_two_snapshots_keep_their_labels_apart_unless_the_text_is_the_same(
    project: Project,
) -> None:
    import_all(project)
    changed = '{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "two, edited"}\n'
    project.do("import", "corpus", write("c2.jsonl", changed), "--snapshot", "later")
    project.do("import", "runs", Path("r.txt"), "--snapshot", "later")
    project.do("pool", "create", "p", "--depth", "5", "--snapshot", "later")
    project.do("export", "qrels", "later.txt", "--pool", "p")
    assert Path("later.txt").read_text() == "q1 0 d1 1\n"
    assert "'later'" not in project.refused("import", "labels", Path("l.txt"), code=2)
    assert "no snapshot 'never'" in project.refused(
        "import", "labels", Path("l.txt"), "--snapshot", "never"
    )


def test_an_export_that_can_not_be_written_leaves_the_old_file(project: Project) -> None:
    import_all(project)
    project.do("export", "qrels", "out.txt")
    old = Path("out.txt").read_bytes()
    rows = '{"query_id": "q1", "doc_id": "d 3", "label": 1}\n'
    project.do("import", "labels", write("odd.jsonl", rows))
    assert "'d 3'" in project.refused("export", "qrels", "out.txt")
    assert Path("out.txt").read_bytes() == old
    assert project.labels()["q1", "d 3"] is StateCode.RELEVANT


@pytest.mark.parametrize(
    "words",
    [
        ("import", "labels"),
        ("import", "nothing", "x"),
        ("import", "runs", "r.txt", "--role", "judge"),
        ("import", "runs", "r.txt", "--config", "colour=red"),
        ("import", "corpus", "c.jsonl", "--field", "text"),
        ("pool", "create", "p"),
        ("export", "parquet", "out.csv"),
    ],
)
def test_words_that_make_no_command_are_exit_2(project: Project, words: tuple[str, ...]) -> None:
    import_all(project)
    told = project.run(*words)
    assert told.code == 2
    assert told.out == ""
    assert told.err.startswith("labeler: ")


@pytest.mark.parametrize(
    "words",
    [
        ("export", "qrels", "out.txt"),
        ("pool", "create", "p", "--depth", "3"),
        ("pool", "show", "p"),
        ("judge", "run", "p"),
        ("route", "p"),
    ],
)
def test_commands_over_a_project_that_is_not_there(
    project: Project, words: tuple[str, ...]
) -> None:
    told = project.refused(*words)
    assert "no database" in told
    assert not Path("queue.db").exists()


def test_files_of_another_project_are_refused_and_say_what_to_do(project: Project) -> None:
    import_all(project)
    swapped = project.refused("import", "runs", write("s.run", "d1 Q0 q1 1 2.0 t\n"))
    assert "hint: these ids are those of documents" in swapped
    swapped = project.refused("import", "labels", write("s.qrels", "d1 0 q1 1\nd2 0 q1 0\n"))
    assert "hint: these ids are those of documents" in swapped
    for kind, name, text in (
        ("runs", "other.run", "x1 Q0 d1 1 2.0 t\nx2 Q0 d2 1 2.0 t\n"),
        ("labels", "other.qrels", "x1 0 d1 1\nx2 0 d2 0\n"),
    ):
        assert "`labeler import queries` first" in project.refused(
            "import", kind, write(name, text)
        )
    for kind, name, text in (
        ("runs", "abroad.run", "".join(f"q1 Q0 z{n} 1 {9 - n} t\n" for n in range(10))),
        ("labels", "abroad.qrels", "".join(f"q1 0 z{n} 1\n" for n in range(10))),
    ):
        for lenient in ((), ("--lenient",)):
            told = project.refused("import", kind, write(name, text), *lenient)
            assert "holds none of these documents (such as 'z0')" in told


def test_a_hint_on_what_labels_mean_is_given_for_labels_alone(project: Project) -> None:
    import_all(project)
    told = project.refused("import", "labels", write("three.txt", "q1 d1 1\nq2 d2 1\n"))
    assert "--map" not in told
    told = project.refused("import", "labels", write("odd.txt", "q1 0 d1 9\nq2 0 d2 1\n"))
    assert "hint: say what labels mean with --map" in told
