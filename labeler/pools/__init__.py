"""Runs to an immutable pool with contributions."""
