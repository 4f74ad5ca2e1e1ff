"""Statistics: pure functions over arrays; no database, no I/O."""
