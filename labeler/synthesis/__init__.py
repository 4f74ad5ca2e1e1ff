"""Questions from a safe pack, and their filters."""
