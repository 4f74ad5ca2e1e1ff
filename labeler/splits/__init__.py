"""What belongs together, what is sealed, and what crossed."""
