"""What language-model judges need: settings of jobs, log-probabilities, profiles, batches."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("settings", sa.String(), nullable=True))
    op.add_column("response", sa.Column("finish_reason", sa.String(), nullable=True))
    op.add_column("response", sa.Column("logprobs", sa.String(), nullable=True))
    op.create_index("ix_attempt_request_digest", "attempt", ["request_digest"])
    op.create_table(
        "model_profile",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("probed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_profile")),
        sa.UniqueConstraint("model", "endpoint", name=op.f("uq_model_profile_model_endpoint")),
    )
    op.create_table(
        "provider_batch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=True),
        sa.Column("file_id", sa.String(), nullable=True),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "state IN ('planned', 'submitted', 'collected', 'lost')",
            name=op.f("ck_provider_batch_state"),
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_provider_batch_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_batch")),
        sa.UniqueConstraint("key", name=op.f("uq_provider_batch_key")),
    )
    op.create_table(
        "provider_batch_line",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["provider_batch.id"], name=op.f("fk_provider_batch_line_batch_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_batch_line")),
        sa.UniqueConstraint(
            "batch_id",
            "request_digest",
            "sample",
            name=op.f("uq_provider_batch_line_batch_id_request_digest_sample"),
        ),
    )
