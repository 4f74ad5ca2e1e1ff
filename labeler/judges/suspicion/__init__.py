"""Signs that a passage was written to sway a judge."""
