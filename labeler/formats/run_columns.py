"""One run as columns: what every reader of runs gives, and what ranking takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RunColumns"]


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """The rows of a run, in the order of the file; all arrays have one entry a row.

    Attributes:
        path: The file as the user named it.
        tags: The distinct run names, in the order in which they come.
        queries: The distinct query ids, in the order in which they come. A query without rows
            stands here too, where the format can say so.
        documents: The distinct document ids, in the order in which they come.
        query_codes: Places in ``queries`` (int32).
        document_codes: Places in ``documents`` (int32).
        scores: Scores (float64, finite); all NaN when the file has none.
        stated_ranks: Ranks as the file states them (int32, from 0); -1 where it states none.
        lines: Physical lines, from 1 (int64); 0 where the format has no lines.
    """

    path: str
    tags: tuple[str, ...]
    queries: list[str]
    documents: list[str]
    query_codes: NDArray[np.int32]
    document_codes: NDArray[np.int32]
    scores: NDArray[np.float64]
    stated_ranks: NDArray[np.int32]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.query_codes)

    @property
    def has_scores(self) -> bool:
        """Whether the file gave scores; without them the stated ranks are the order."""
        return not bool(np.isnan(self.scores).any())
