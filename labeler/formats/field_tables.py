"""Which column means what: one stated table a kind of file.

Names are compared without case, blanks, ``_`` and ``-``: ``queryId``, ``query-id`` and
``Query ID`` are one name. Of several columns for one field, the first in the table is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "ANY_METADATA",
    "CORPUS",
    "FIELD_TABLES",
    "HITS",
    "LABELS",
    "QUERIES",
    "QUERY_IDS",
    "QUERY_LOG",
    "FieldTable",
    "folded",
    "is_header_name",
]


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The fields of one kind of file.

    Attributes:
        kind: What a row is, for messages: ``corpus``, ``queries`` ...
        names: Field -> the names that a column may have, best first.
        required: The fields without which the file can't be read.
    """

    kind: str
    names: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]


QUERY_IDS = ("query_id", "qid", "q_id", "topic_id", "query_number", "topic")
_DOCUMENT_IDS = (
    "doc_id", "docid", "docno", "document_id", "corpus_id", "chunk_id", "passage_id", "pid",
    "product_id", "item_id", "evidence_id",
)  # fmt: skip
_QUERY_TEXTS = ("query_text", "query", "question", "topic_title")
ANY_METADATA = ("metadata", "meta")

CORPUS = FieldTable(
    "corpus",
    {
        "id": ("chunk_id", "passage_id", "pid", "_id", "id", "doc_id", "docid", "docno",
               "corpus_id", "document_id", "product_id", "item_id", "evidence_id"),
        "text": ("text", "passage", "passage_text", "contents", "content", "body", "context",
                 "chunk_text", "chunk", "page_content", "segment", "document_text", "doc_text",
                 "abstract"),
        "title": ("title", "doc_title", "document_title", "headline", "product_title"),
        "document": ("document_id", "document", "source_document", "source_document_id", "doc_id",
                     "docid", "doc_name", "parent_id", "file_name"),
        "evidence": ("evidence_ids", "evidence_id", "evidence", "canonical_id"),
        "domain": ("domain",),
        "product": ("product", "product_name"),
        "region": ("region", "country", "market"),
        "effective_date": ("effective_date", "valid_from", "effective_from"),
        "supersedes": ("supersedes", "replaces"),
        "source": ("source",),
        "url": ("url", "uri", "link"),
        "position": ("position", "chunk_index", "chunk_number", "ordinal"),
        "metadata": ANY_METADATA,
    },
    ("id", "text"),
)  # fmt: skip
"""Passages: a corpus of documents or chunks."""

QUERIES = FieldTable(
    "queries",
    {
        "id": (*QUERY_IDS, "_id", "id"),
        "text": ("text", *_QUERY_TEXTS, "title"),
        "need": ("information_need", "need", "description", "narrative", "intent"),
        "domain": ("domain",),
        "language": ("language", "lang", "locale"),
        "slices": ("slices", "slice", "segments"),
        "weight": ("weight", "query_weight"),
        "origin": ("origin",),
        "conditions": ("conditions",),
        "product": ("product",),
        "region": ("region", "country", "market"),
        "date": ("date", "as_of", "query_date"),
        "audience": ("audience",),
        "conversation": ("conversation_id", "conversation", "session_id", "dialogue_id"),
        "template": ("template_id", "template"),
        "entity": ("entity_id", "entity"),
        "source_document": ("source_document_id", "source_document", "source_doc_id", "doc_name"),
        "required_evidence": ("required_evidence", "required_evidence_ids", "gold_evidence",
                              "gold_evidence_ids"),
        "metadata": ANY_METADATA,
    },
    ("id", "text"),
)  # fmt: skip
"""Queries."""

QUERY_LOG = FieldTable(
    "a query log",
    {
        "text": ("query_text", "query", "question", "text", "search_query", "search_term", "q",
                 "message", "prompt"),
        "at": ("timestamp", "time", "at", "asked_at", "created_at", "datetime", "date"),
        "conversation": ("conversation_id", "conversation", "session_id", "session",
                         "dialogue_id", "thread_id"),
        "domain": ("domain", "category", "topic"),
        "language": ("language", "lang", "locale"),
        "count": ("count", "frequency", "freq", "occurrences", "searches"),
        "clicked": ("clicked", "click", "clicks", "has_click", "n_clicks", "num_clicks"),
        "score": ("score", "top_score", "max_score", "rating", "satisfaction", "feedback"),
        "metadata": ANY_METADATA,
    },
    ("text",),
)  # fmt: skip
"""What users asked: one row a query, or one a text with its count."""

LABELS = FieldTable(
    "labels",
    {
        "query": (*QUERY_IDS, "query", "query_text", "question"),
        "document": (*_DOCUMENT_IDS, "document", "doc", "passage", "entity"),
        "query_text": _QUERY_TEXTS,
        "label": ("label", "grade", "rating", "relevance", "score", "judgment", "judgement",
                  "rel", "qrel", "esci_label", "value"),
        "rater": ("rater", "annotator", "assessor", "user", "rater_id", "annotator_id",
                  "user_email", "worker_id", "reviewer", "judge", "labeler"),
        "at": ("at", "timestamp", "created_at", "updated_at", "judged_at", "labeled_at", "date",
               "time"),
        "unrateable": ("unrateable", "unratable", "cannot_judge", "skipped", "skip"),
        "iteration": ("iteration", "iter"),
        "note": ("note", "notes", "comment", "explanation", "reason"),
        "metadata": ANY_METADATA,
    },
    ("query", "document", "label"),
)  # fmt: skip
"""Labels of query and document, by people or machines."""

HITS = FieldTable(
    "hits",
    {
        "query": (*QUERY_IDS, "query", "query_text", "question"),
        "document": (*_DOCUMENT_IDS, "document", "doc", "entity"),
        "query_text": _QUERY_TEXTS,
        "rank": ("rank", "position"),
        "score": ("score", "similarity", "relevance_score", "sim"),
        "system": ("system", "retriever", "run", "run_id", "run_name", "tag", "model"),
        "systems": ("systems", "retrievers"),
        "latency_ms": ("latency_ms", "latency", "took_ms", "duration_ms"),
        "cost": ("cost", "cost_usd"),
        "timed_out": ("timed_out", "timeout"),
        "cache_state": ("cache_state", "cache", "cache_hit"),
        "depth": ("depth", "top_k"),
        "metadata": ANY_METADATA,
    },
    ("query", "document"),
)  # fmt: skip
"""What retrievers returned, one row a hit; also the flat pool of query, passage and systems."""

_TABLES = (CORPUS, QUERIES, LABELS, HITS)
FIELD_TABLES = (*_TABLES, QUERY_LOG)
"""All kinds of files whose columns are found by name."""


def folded(name: str) -> str:
    """Give what of a column name counts."""
    return re.sub(r"[\s_-]+", "", name).lower()


_KNOWN = frozenset(
    folded(name) for table in _TABLES for names in table.names.values() for name in names
)


def is_header_name(name: str, wanted: str | None = None) -> bool:
    """Whether a cell is a column name of some table, or one for a field of LABELS."""
    if wanted is None:
        return folded(name) in _KNOWN
    return any(folded(name) == folded(known) for known in LABELS.names[wanted])
