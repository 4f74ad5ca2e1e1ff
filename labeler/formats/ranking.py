"""The order of a run: the one rule that pooling and every metric use.

Order ``score`` is that of trec_eval: scores as 32-bit floats, highest first; equal scores by
document id, compared as UTF-8 bytes, highest first. The rank column plays no part. Order ``rank``
is the stated rank, lowest first; rows that share a rank, or state none, follow the rule for
scores, the latter after all others. A run without scores is always ordered by rank.

A document that comes twice for a query counts once: the better-ranked copy is kept and the ranks
behind the other close up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labeler.formats.run_columns import RunColumns

__all__ = ["Duplicate", "RankedRun", "ranked"]

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document that comes again for a query; lines are physical, 0 where there are none."""

    query: str
    document: str
    first_line: int
    later_line: int


@dataclass(frozen=True, slots=True, eq=False)
class RankedRun:
    """A run in order.

    Attributes:
        columns: The rows.
        order: Row numbers, query by query in the order of ``columns.queries``, best first,
            without duplicates (int64).
        starts: Where each query begins in ``order``, and the end (int64, queries + 1).
        tied_rows: How many rows share their score with another row of their query.
        contradictions: The queries whose stated ranks and scores disagree by more than ties.
        duplicates: The rows that were left out, in the order of the file.
    """

    columns: RunColumns
    order: _Rows
    starts: _Rows
    tied_rows: int
    contradictions: tuple[str, ...]
    duplicates: tuple[Duplicate, ...]

    def rows_of(self, query_code: int) -> _Rows:
        """The rows of one query, best first; place 0 is rank 1."""
        return self.order[self.starts[query_code] : self.starts[query_code + 1]]

    def documents_of(self, query_code: int, depth: int | None = None) -> list[str]:
        """The documents of one query, best first, down to a depth."""
        codes = self.columns.document_codes[self.rows_of(query_code)[:depth]]
        return [self.columns.documents[code] for code in codes.tolist()]

    def ranks(self) -> NDArray[np.int32]:
        """The rank of every row of ``order``, from 1."""
        places = np.arange(len(self.order)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        return (places + 1).astype(np.int32)


def ranked(columns: RunColumns, order: Literal["score", "rank"]) -> RankedRun:
    """Put a run in order.

    Args:
        columns: The rows.
        order: ``score`` or ``rank``; see the top of this module.
    """
    queries = columns.query_codes
    with np.errstate(over="ignore"):  # beyond the range of 32 bits is infinite, as in trec_eval
        scores = columns.scores.astype(np.float32)
    scored = columns.has_scores
    by_score = _by_score(columns, scores) if scored else None
    rows = by_score if by_score is not None and order == "score" else _by_rank(columns, by_score)
    rows, duplicates = _without_duplicates(columns, rows)
    tied_rows = 0
    contradictions: tuple[str, ...] = ()
    if by_score is not None:
        kept = by_score
        if duplicates:
            kept = by_score[np.isin(by_score, rows)]
        tied = _tied(queries[kept], scores[kept])
        tied_rows = int(tied.sum())
        contradictions = _contradictions(columns, scores, kept, tied)
    counts = np.bincount(queries[rows], minlength=len(columns.queries))
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return RankedRun(columns, rows, starts, tied_rows, contradictions, duplicates)


def _by_score(columns: RunColumns, scores: NDArray[np.float32]) -> _Rows:
    queries = columns.query_codes
    same = queries[1:] == queries[:-1]
    in_order = (queries[1:] > queries[:-1]) | (same & (scores[1:] <= scores[:-1]))
    if in_order.all():
        rows = np.arange(len(queries), dtype=np.int64)
    else:
        rows = np.lexsort((-scores, queries)).astype(np.int64)
    tied = _tied(queries[rows], scores[rows])
    members = rows[tied]
    # Only ids inside ties are compared, each of them once. Python orders texts by code point,
    # which is the order of their UTF-8 bytes.
    codes = np.unique(columns.document_codes[members])
    ids = [columns.documents[code] for code in codes.tolist()]
    place = np.empty(len(codes), dtype=np.int64)
    place[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    falling_ids = -place[np.searchsorted(codes, columns.document_codes[members])]
    return _sorted_in_ties(rows, tied, queries, scores, falling_ids)


def _by_rank(columns: RunColumns, by_score: _Rows | None) -> _Rows:
    base = np.arange(len(columns), dtype=np.int64) if by_score is None else by_score
    stated = columns.stated_ranks[base].astype(np.int64)
    stated[stated < 0] = np.iinfo(np.int64).max
    # lexsort is stable, so rows that share a rank keep the order of the scores.
    return base[np.lexsort((stated, columns.query_codes[base]))]


def _tied(queries: NDArray[np.int32], scores: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Mark the rows, in order, that have the query and score of a neighbour."""
    tied = np.zeros(len(queries), dtype=bool)
    same = (queries[1:] == queries[:-1]) & (scores[1:] == scores[:-1])
    tied[1:] |= same
    tied[:-1] |= same
    return tied


def _sorted_in_ties(
    rows: _Rows,
    tied: NDArray[np.bool_],
    queries: NDArray[np.int32],
    scores: NDArray[np.float32],
    keys: NDArray[np.int64],
) -> _Rows:
    """Order the members of every tie by their keys, lowest first; all else stays in place."""
    members = rows[tied]
    if not len(members):
        return rows
    begins = (queries[members[1:]] != queries[members[:-1]]) | (
        scores[members[1:]] != scores[members[:-1]]
    )
    group = np.concatenate(([0], np.cumsum(begins)))
    result = rows.copy()
    result[tied] = members[np.lexsort((keys, group))]
    return result


def _without_duplicates(columns: RunColumns, rows: _Rows) -> tuple[_Rows, tuple[Duplicate, ...]]:
    """Keep the better-ranked copy of every document of a query."""
    pairs = columns.query_codes.astype(np.int64) * max(len(columns.documents), 1)
    pairs += columns.document_codes
    # Pairs mostly rise, since both codes count in the order of the file: a merge sort is quick.
    by_pair = np.sort(pairs, kind="stable")
    again = by_pair[1:][by_pair[1:] == by_pair[:-1]]
    if not len(again):
        return rows, ()
    members = np.flatnonzero(np.isin(pairs, np.unique(again)))
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    first: dict[int, int] = {}
    best: dict[int, int] = {}
    found: list[Duplicate] = []
    # The lines told are those of the file's order, whichever of the copies is kept.
    for row, pair in zip(members.tolist(), pairs[members].tolist(), strict=True):
        earlier = first.setdefault(pair, row)
        kept = best.setdefault(pair, row)
        if place[row] < place[kept]:
            best[pair] = row
        if earlier != row:
            found.append(
                Duplicate(
                    columns.queries[columns.query_codes[row]],
                    columns.documents[columns.document_codes[row]],
                    int(columns.lines[earlier]),
                    int(columns.lines[row]),
                )
            )
    dropped = np.setdiff1d(members, np.fromiter(best.values(), dtype=np.int64))
    keep = np.ones(len(rows), dtype=bool)
    keep[place[dropped]] = False
    return rows[keep], tuple(found)


def _contradictions(
    columns: RunColumns,
    scores: NDArray[np.float32],
    rows: _Rows,
    tied: NDArray[np.bool_],
) -> tuple[str, ...]:
    """Find the queries whose stated ranks fall somewhere although the score falls too."""
    stated = columns.stated_ranks
    queries = columns.query_codes
    members = rows[tied]
    by_rank_in_ties = _sorted_in_ties(rows, tied, queries, scores, stated[members].astype(np.int64))
    query, rank = queries[by_rank_in_ties], stated[by_rank_in_ties]
    against = np.unique(query[1:][(query[1:] == query[:-1]) & (rank[1:] < rank[:-1])])
    unstated = np.unique(query[rank < 0])
    return tuple(columns.queries[code] for code in np.setdiff1d(against, unstated).tolist())
