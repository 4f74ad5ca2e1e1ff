"""Reading and writing files: one module a format. Nothing here knows of the database."""
