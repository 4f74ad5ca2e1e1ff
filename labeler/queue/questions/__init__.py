"""A sitting over generated questions: accept, edit or reject, blind to filters and generator."""
