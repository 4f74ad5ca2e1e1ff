"""Reading runs: TREC files, JSON, and rows of hits, all to the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from labeler.errors import UsageError
from labeler.formats.findings import Findings, shown
from labeler.formats.source import plain_suffix
from labeler.formats.trec import RunColumns, read_run
from labeler.imports.report import name_from
from labeler.imports.run_rows import RunInput, read_hit_rows

__all__ = ["read_runs"]

_RECORD_ENDINGS = {".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".parquet"}


def read_runs(
    paths: Sequence[Path],
    findings: Findings,
    *,
    name: str | None = None,
    by_file: bool = False,
    overrides: Mapping[str, str],
    lenient: bool,
) -> list[RunInput]:
    """Read all runs of some files.

    Args:
        paths: The files; a folder stands for the ``.run`` files in it.
        findings: Takes faults and notices.
        name: What to call the only run.
        by_file: Name runs after their files, not after the sixth column.
        overrides: Field -> column name, for files of rows.
        lenient: Keep the sound rows of a file that has faulty ones.
    """
    files = _files(paths, findings)
    if name is not None and len(files) > 1:
        raise UsageError(f"--name names one run, and there are {len(files)} files")
    runs: list[RunInput] = []
    for path in files:
        if plain_suffix(path) in _RECORD_ENDINGS:
            runs += read_hit_rows(path, overrides, findings)
            continue
        columns = read_run(path, findings, lenient=lenient)
        if columns is not None:
            stem = name_from(path, frozenset()).removesuffix(".run")
            runs.append(
                RunInput(_named(columns, stem, findings, by_file, name), str(path), columns)
            )
    if name is not None and len(runs) == 1:
        runs = [RunInput(name, runs[0].path, runs[0].columns, runs[0].facts)]
    _refuse_same_names(runs, findings)
    return runs


def _files(paths: Sequence[Path], findings: Findings) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = sorted([*path.glob("*.run"), *path.glob("*.run.gz")])
        if not found:
            findings.fault(path, None, "the folder holds no .run files")
        files += found
    return files


def _named(
    columns: RunColumns, stem: str, findings: Findings, by_file: bool, name: str | None
) -> str:
    if name is not None:
        return name
    if len(columns.tags) > 1 and not by_file:
        tags = ", ".join(shown(tag) for tag in columns.tags[:5])
        findings.fault(
            columns.path,
            None,
            f"{len(columns.tags)} run names in the last column ({tags}); one file is one run: "
            "--name NAME or --name-from file takes it as one",
        )
    return stem if by_file else columns.tags[0]


def _refuse_same_names(runs: Sequence[RunInput], findings: Findings) -> None:
    first: dict[str, str] = {}
    for run in runs:
        other = first.setdefault(run.name, run.path)
        if other != run.path:
            findings.fault(
                run.path,
                None,
                f"the run is called {shown(run.name)}, and so is {other}; "
                "--name-from file names runs after their files",
            )
