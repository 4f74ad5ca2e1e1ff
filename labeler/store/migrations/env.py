"""Alembic's entry point: runs the migrations on the connection that it was given."""

from alembic import context

from labeler.records import Record

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Record.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
)
context.run_migrations()
