"""A reviewer's sitting: a state machine without a screen, and what it asks of the database."""
