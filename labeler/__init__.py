"""Labeler: relevance labels for search and RAG that can be trusted."""

__all__ = ["__version__"]

__version__ = "0.1.0"
