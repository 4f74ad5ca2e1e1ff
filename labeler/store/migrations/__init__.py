"""The migrations, numbered; Labeler applies them when it opens a database."""
