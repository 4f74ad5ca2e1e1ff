"""Samples with recorded probabilities: of unknown items, of the corpus, of logged queries."""
