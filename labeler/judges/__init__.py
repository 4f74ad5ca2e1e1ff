"""Judges: a block in, a verdict for each of its items out."""
