"""The screens: one for the sitting, small ones on top of it."""
