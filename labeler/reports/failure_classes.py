"""Why a run missed known relevant evidence, as far as what is stored tells it.

Each class has a name and a pure function over the facts of a miss; the first that holds counts. A
permission filter leaves no trace in what is stored: only a person can name it.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labeler.records.evaluations import FailureClass

__all__ = ["FAILURE_CLASSES", "FAMILIES", "MissFacts", "classes_digest", "classify", "family_of"]

_FEW_SHARED = 0.2
_MOST_SHARED = 0.6

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "lexical": ("bm25", "lexical", "tf-idf", "tfidf", "keyword", "rm3"),
    "dense": ("dense", "embedding", "e5", "ada", "vector"),
}
"""What names a way to retrieve, in a run's retrieval configuration."""


@dataclass(frozen=True, slots=True)
class MissFacts:
    """What is known of evidence that a run doesn't have in its top k.

    Attributes:
        is_in_snapshot: Whether a chunk of the run's snapshot carries it.
        rank: Its rank in the run, below k, or None when the run doesn't have it at all.
        other_version_returned: Whether the top k has a passage of an older or newer version of its
            document.
        neighbour_returned: Whether the top k has the passage just before or after it.
        fits_conditions: Whether its document fits the query's product and region.
        all_returned_fit: Whether all of the top k does, as after a filter; False where the query
            has no such condition or nothing was returned.
        shared_terms: The share of the query's telling words that stand in its text, in [0, 1], or
            None where a text is missing.
        family: ``lexical`` or ``dense``, by the run's retrieval configuration, or None.
    """

    is_in_snapshot: bool
    rank: int | None
    other_version_returned: bool
    neighbour_returned: bool
    fits_conditions: bool
    all_returned_fit: bool
    shared_terms: float | None
    family: str | None


def _not_in_index(miss: MissFacts) -> bool:
    return not miss.is_in_snapshot


def _rank_truncation(miss: MissFacts) -> bool:
    return miss.rank is not None


def _metadata_filter(miss: MissFacts) -> bool:
    return miss.all_returned_fit and not miss.fits_conditions


def _stale_version(miss: MissFacts) -> bool:
    return miss.other_version_returned


def _chunk_boundary(miss: MissFacts) -> bool:
    return miss.neighbour_returned


def _lexical_mismatch(miss: MissFacts) -> bool:
    shared = miss.shared_terms
    return miss.family == "lexical" and shared is not None and shared <= _FEW_SHARED


def _embedding_confusion(miss: MissFacts) -> bool:
    shared = miss.shared_terms
    return miss.family == "dense" and shared is not None and shared >= _MOST_SHARED


FAILURE_CLASSES: Mapping[FailureClass, Callable[[MissFacts], bool]] = {
    FailureClass.NOT_IN_INDEX: _not_in_index,
    FailureClass.RANK_TRUNCATION: _rank_truncation,
    FailureClass.METADATA_FILTER: _metadata_filter,
    FailureClass.STALE_VERSION: _stale_version,
    FailureClass.CHUNK_BOUNDARY: _chunk_boundary,
    FailureClass.LEXICAL_MISMATCH: _lexical_mismatch,
    FailureClass.EMBEDDING_CONFUSION: _embedding_confusion,
}
"""The classes that can be told, in the order in which they are asked."""


def classify(miss: MissFacts) -> FailureClass:
    """Give the first class that holds, or ``undetermined``."""
    for name, holds in FAILURE_CLASSES.items():
        if holds(miss):
            return name
    return FailureClass.UNDETERMINED


def classes_digest() -> str:
    """Give the SHA-256 of the rules, so that a report can say by which of them it told classes."""
    source = "".join(inspect.getsource(one) for one in FAILURE_CLASSES.values())
    order = " ".join(FAILURE_CLASSES)
    content = f"{order} {_FEW_SHARED} {_MOST_SHARED} {sorted(FAMILIES.items())}\n{source}"
    return hashlib.sha256(content.encode()).hexdigest()


def family_of(configuration: str | None) -> str | None:
    """Tell how a run retrieves by its retrieval configuration; None where that names both or none.

    >>> family_of("bm25 k1=0.9"), family_of("hybrid bm25 + e5"), family_of(None)
    ('lexical', None, None)
    """
    words = (configuration or "").casefold()
    found = [name for name, signs in FAMILIES.items() if any(sign in words for sign in signs)]
    return found[0] if len(found) == 1 else None
