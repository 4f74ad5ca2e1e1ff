"""The tables, by area. `docs/records.md` is generated from them."""

from labeler.records import (
    corpus,
    evaluations,
    judgments,
    ledger,
    pools,
    project,
    projections,
    proposals,
    queries,
    query_log,
    questions,
    queue,
    runs,
    sampling,
    scales,
    scores,
    splits,
)
from labeler.records.base import Kind, Record, table

AREAS = (
    project,
    corpus,
    queries,
    query_log,
    runs,
    scales,
    pools,
    ledger,
    judgments,
    queue,
    proposals,
    scores,
    sampling,
    splits,
    questions,
    evaluations,
    projections,
)
"""The modules that hold tables, in the order of the data's flow."""

__all__ = ["AREAS", "Kind", "Record", "table"]
