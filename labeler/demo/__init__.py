"""The demo project: the help centre of an invented company, its queries, and real retrievers."""
