"""Samples by name, logs of queries; what was evaluated, and what gates said."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _samples()
    _query_logs()


def _samples() -> None:
    op.create_table(
        "sample_design",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("frame_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["frame_id"], ["frame.id"], name="fk_sample_design_frame_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_sample_design_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sample_design"),
        sa.UniqueConstraint("name", name="uq_sample_design_name"),
    )


def _query_logs() -> None:
    op.create_table(
        "query_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("replaced", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_query_log_revision_id"),
        sa.PrimaryKeyConstraint("id", name="pk_query_log"),
        sa.UniqueConstraint("digest", name="uq_query_log_digest"),
    )
    op.create_table(
        "logged_query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("log_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("variants", sa.Integer(), nullable=False),
        sa.Column("conversations", sa.Integer(), nullable=False),
        sa.Column("click_known", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("lowest_score", sa.Float(), nullable=True),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["log_id"], ["query_log.id"], name="fk_logged_query_log_id"),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name="fk_logged_query_query_id"),
        sa.PrimaryKeyConstraint("id", name="pk_logged_query"),
        sa.UniqueConstraint("log_id", "query_id", name="uq_logged_query_log_id_query_id"),
    )
    op.create_index("ix_logged_query_query_id", "logged_query", ["query_id"])
    op.create_table(
        "query_sample",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_query_sample_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_query_sample"),
        sa.UniqueConstraint("name", name="uq_query_sample_name"),
    )
    op.create_table(
        "query_draw",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sample_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=False),
        sa.Column("stratum_size", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["sample_id"], ["query_sample.id"], name="fk_query_draw_sample_id"),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name="fk_query_draw_query_id"),
        sa.PrimaryKeyConstraint("id", name="pk_query_draw"),
        sa.UniqueConstraint("sample_id", "query_id", name="uq_query_draw_sample_id_query_id"),
    )
