"""Whatever shows sealed results records an opening; everything else shows nothing sealed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cyclopts import App

import tui.lead
from labeler.cli.app import app, run
from tests.sealed_project import QUERIES, RUNS, SealedProject, openings, sealed_project

Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Opens:
    """How a command is called, and what is recorded."""

    words: str
    runs: tuple[str, ...] = ()
    documents: bool = False
    prints_json: bool = True


OPENS = {
    "calibrate": Opens("p"),
    "export corpus": Opens("out.jsonl --snapshot s1", documents=True),
    "export jsonl": Opens("out.jsonl"),
    "export parquet": Opens("out.parquet", documents=True),
    "export qrels": Opens("out.txt --scale native"),
    "export testset": Opens("out.json"),
    "gate": Opens("gate.toml", RUNS),
    "judge compare": Opens("by-hand@{one} by-hand@{two}", documents=True),
    "queue": Opens(""),
    "report agreement": Opens(""),
    "report audit": Opens("p", RUNS),
    "report calibration": Opens("p --labels all"),
    "report compare": Opens("--runs old new --pool p", RUNS),
    "report coverage": Opens("--pool p", RUNS),
    "report drift": Opens("by-hand@{one} by-hand@{two}"),
    "report leakage": Opens(""),
    "report misses": Opens("old --pool p", ("old",)),
    "report query-issues": Opens(""),
    "report recall": Opens("--pool p", RUNS),
    "report rubric-issues": Opens(""),
    "report sensitivity": Opens("old new --pool p", RUNS),
    "report trend": Opens("", RUNS),
    "sample plan": Opens("p --k 2", RUNS),
    "sample draw": Opens("p --k 2 --votes 5 --name more", RUNS, prints_json=False),
    "sample queries": Opens("--n 12 --output out.jsonl"),
    "sample status": Opens("p", RUNS),
}

SHOWS_NOTHING = {
    "corpus diff": "s1 s1",
    "corpus list": "",
    "correct document": "d00 --reason so --dry-run",
    "correct evidence": "d00#0 --reason so --dry-run",
    "correct judgment": "{sealed} {evidence} --reason so --dry-run",
    "correct query": "{sealed} --domain x --reason so --dry-run",
    "correct rubric": "relevance --reason so --dry-run",
    "db check": "",
    "db log": "",
    "db rebuild": "",
    "db backup": "copy.db",
    "generate list": "",
    "generate report": "",
    "judge costs": "",
    "judge list": "",
    "pool create": "again --depth 1",
    "pool list": "",
    "pool plan": "",
    "pool show": "p",
    "report grid": "old --pool p",
    "route": "p",
    "split check": "--no-embeddings",
    "split develop": "{shown} --why tried",
    "split edges": "",
    "split explain": "{sealed} {shown}",
    "split extend": "--no-embeddings",
    "split freeze": "main --no-embeddings",
    "split openings": "",
    "split plan": "--no-embeddings",
    "split settle": "{sealed} {shown} --ignore --why apart",
    "split show": "",
}

NOT_RUN = {
    "demo": "writes a project of its own",
    "doctor": "looks at the machine and at models, not at the project",
    "generate": "reads a safe pack of train and dev; tests/synthesis proves what it holds",
    "generate admit": "tells counts",
    "generate blind": "writes questions from train and dev",
    "generate pack": "writes the safe pack; tests/synthesis proves what it holds",
    "generate refit": "tells thresholds",
    "generate show": "shows a question from train or dev",
    "import corpus": "reads what the user has",
    "import labels": "reads what the user has",
    "import queries": "reads what the user has",
    "import runs": "reads what the user has",
    "judge embedded-evaluate": "reads collections from files",
    "judge embedded-fit": "reads collections from files",
    "judge probe": "asks shipped questions",
    "judge prompts diff": "reads prompt files",
    "judge prompts list": "reads prompt files",
    "judge prompts show": "reads prompt files",
    "judge run": "tells counts by outcome and grade",
    "review": "a sitting is blind; with --lead it records an opening, below",
    "serve": "starts a sitting, which is blind",
}


def _commands(of: App, before: tuple[str, ...] = ()) -> Iterator[str]:
    names = [name for name in of if not name.startswith("-")]
    if not names or of.default_command is not None:
        yield " ".join(before)
    for name in names:
        yield from _commands(of[name], (*before, name))


def test_every_command_is_accounted_for() -> None:
    listed = [*OPENS, *SHOWS_NOTHING, *NOT_RUN]
    assert sorted(listed) == sorted(_commands(app))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SealedProject:
    return sealed_project(tmp_path_factory.mktemp("sealed"))


@pytest.fixture
def project(
    template: SealedProject, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> SealedProject:
    for path in template.db.parent.iterdir():
        if path.is_file():
            shutil.copy(path, own_folder)
    monkeypatch.setenv("LABELER_DB", "queue.db")
    return replace(template, db=own_folder / "queue.db")


def _typed(project: SealedProject, words: str, capsys: Captured) -> list[str]:
    """Put in the names that only the project knows."""
    if "{one}" in words:
        assert run(["judge", "list", "--json"]) == 0
        judges = json.loads(capsys.readouterr().out)["judges"]
        one, two = (judge["digest"][:12] for judge in judges)
        words = words.format(one=one, two=two)
    shown = next(name for name in QUERIES if name not in project.queries)
    sealed = _sealed(project)
    evidence = f"d{sealed[1:]}#0"  # what the old run has first
    return words.format(sealed=sealed, shown=shown, evidence=evidence).split()


def _sealed(project: SealedProject) -> str:
    """Name a sealed query of the pool; those of the log have names of their own."""
    return min(name for name in project.queries if name in QUERIES)


@pytest.mark.parametrize("command", OPENS)
def test_a_look_at_sealed_results_is_recorded(
    project: SealedProject, capsys: Captured, command: str
) -> None:
    expected = OPENS[command]
    if command == "report trend":
        assert run(["report", "recall", "--pool", "p"]) == 0
    words = [*command.split(), *_typed(project, expected.words, capsys)]
    before = len(openings(project.db))
    run(words)
    found = openings(project.db)
    assert len(found) == before + 1, capsys.readouterr()
    opening = found[-1]
    assert opening["through"] == command
    assert opening["runs"] == sorted(expected.runs)
    assert opening["queries"] or expected.documents
    assert ("sealed documents" in str(opening["reason"])) == expected.documents
    assert f"opening {opening['number']} of the split 'main'" in capsys.readouterr().err
    if not expected.prints_json:
        return
    for path in ("out.jsonl", "out.parquet", "out.txt", "out.json"):
        Path(path).unlink(missing_ok=True)
    run([*words, "--json"])
    printed = json.loads(capsys.readouterr().out)
    (seal,) = printed["sealed"]
    assert seal["opening"] == before + 2
    if opening["queries"]:
        assert [one["through"] for one in seal["opened_before"]][-1] == command


@pytest.mark.parametrize("command", SHOWS_NOTHING)
def test_everything_else_shows_nothing_sealed(
    project: SealedProject, capsys: Captured, command: str
) -> None:
    words = [*command.split(), *_typed(project, SHOWS_NOTHING[command], capsys)]
    before = len(openings(project.db))
    for more in ((), ("--json",)):
        Path("copy.db").unlink(missing_ok=True)
        code = run([*words, *more])
        said = capsys.readouterr()
        assert code in {0, 8}, said
        assert len(openings(project.db)) == before, command
        printed = set((said.out + said.err).replace('"', " ").replace("\\n", " ").split())
        assert not printed & project.words


def test_the_lead_s_screens_record_an_opening(
    project: SealedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(tui.lead, "run_lead", lambda *_: None)
    assert run(["review", "--lead", "--as", "lea"]) == 0
    (opening,) = openings(project.db)
    assert (opening["through"], opening["by"]) == ("review --lead", "lea")


def test_a_gate_after_tuning_says_that_queries_are_development_data(
    project: SealedProject, capsys: Captured
) -> None:
    assert run(["split", "develop", _sealed(project), "--why", "prompts"]) == 0
    capsys.readouterr()
    run(["gate", "gate.toml"])
    said = capsys.readouterr()
    assert "1 query of the sealed part is development data" in said.out + said.err


def test_without_provenance_keys_whatever_uses_the_split_says_so(
    project: SealedProject, capsys: Captured
) -> None:
    for words in (
        "report recall --pool p",
        "report compare --runs old new --pool p",
        "report sensitivity old new --pool p",
        "report grid old --pool p",
        "report trend",
        "report leakage",
        "gate gate.toml",
        "split check --no-embeddings",
        "split plan --no-embeddings",
        "export qrels out.txt --scale native",
    ):
        run(words.split())
        said = capsys.readouterr()
        told = " ".join((said.out + said.err).split())
        found = "topic leakage unmeasured" in told
        assert found, words


def test_a_page_of_trends_states_the_openings(project: SealedProject, capsys: Captured) -> None:
    assert run(["report", "recall", "--pool", "p"]) == 0
    assert run(["report", "trend", "--html", "trend.html"]) == 0
    page = Path("trend.html").read_text(encoding="utf-8")
    assert "opening 2 of the split" in page
    assert "not the first look" in page
