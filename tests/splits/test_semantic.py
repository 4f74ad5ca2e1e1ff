from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.providers.embeddings import CachedEmbedder, MemoryCache
from labeler.splits.near_duplicates import Unit
from labeler.splits.semantic import find_semantic_edges
from tests.hash_embedder import HashEmbedder
from tests.splits.planted import query


class _Angles(HashEmbedder):
    """Texts are angles in degrees: the cosine of two is that of their difference."""

    dimensions = 2

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def _pair(one: int, other: int, *texts: str) -> tuple[Unit, Unit, str, str]:
    first, second = texts
    return Unit(f"document:{one}", f"p{one}"), Unit(f"document:{other}", f"p{other}"), first, second


def test_the_cosine_decides_what_is_linked_and_what_waits() -> None:
    proposed = [_pair(1, 2, "0", "10"), _pair(3, 4, "0", "20"), _pair(5, 6, "0", "30")]
    found = find_semantic_edges([], proposed, _Angles())
    assert [(one.left, one.right, str(one.action)) for one in found] == [
        ("document:1", "document:2", "link"),
        ("document:3", "document:4", "review"),
    ]
    assert found[0].score == round(float(np.cos(np.radians(10))), 4)


def test_the_most_alike_passages_of_two_documents_make_their_edge() -> None:
    proposed = [_pair(1, 2, "0", "20"), _pair(1, 2, "1", "2"), _pair(1, 2, "0", "15")]
    (found,) = find_semantic_edges([], proposed, _Angles())
    assert found.score == round(float(np.cos(np.radians(1))), 4)


def test_every_proposed_pair_is_compared_and_each_text_embedded_once() -> None:
    proposed = [_pair(at, at + 1, "0", f"{at % 40}") for at in range(2_000)]
    embedder = _Angles()
    assert len(find_semantic_edges([], proposed, embedder)) == 2_000 / 40 * 24
    assert embedder.embedded == 40


def test_queries_of_one_meaning_are_found_and_empty_ones_say_nothing() -> None:
    queries = [query("a", "0"), query("b", "5"), query("c", "60"), query("d", " ")]
    (found,) = find_semantic_edges(queries, [], _Angles())
    assert (found.left, found.right, str(found.action)) == ("query:a", "query:b", "link")


def test_what_was_compared_before_is_not_embedded_again() -> None:
    cache, proposed = MemoryCache(), [_pair(1, 2, "0", "10"), _pair(3, 4, "0", "20")]
    first, second = _Angles(), _Angles()
    told: list[tuple[int, int]] = []
    cached = CachedEmbedder(first, cache, chunk=2, advance=lambda *now: told.append(now))
    edges = find_semantic_edges([query("a", "0")], proposed, cached)
    assert find_semantic_edges([query("a", "0")], proposed, CachedEmbedder(second, cache)) == edges
    assert (first.embedded, second.embedded) == (4, 0)
    assert told == [(2, 3), (3, 3), (1, 1)]
