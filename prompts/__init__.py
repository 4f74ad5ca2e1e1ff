"""Prompt and rubric texts, one file each; the identity of each is the digest of its text."""
