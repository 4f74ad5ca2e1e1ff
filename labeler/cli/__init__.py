"""The command line: one module a command; each parses, calls one function, and prints."""
