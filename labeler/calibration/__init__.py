"""The label model: signals to a probability for each grade."""
