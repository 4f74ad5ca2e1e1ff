"""Routing, tasks, assignments, review events."""
