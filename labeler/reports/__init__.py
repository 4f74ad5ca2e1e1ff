"""What the store tells about labels: reads it, calls evaluation, gives plain values."""
