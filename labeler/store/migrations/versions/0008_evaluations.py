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
    _evaluations()
    _gates_and_misses()


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
        sa.Column("score_known", sa.Integer(), nullable=False),
        sa.Column("mean_score", sa.Float(), nullable=True),
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


def _evaluations() -> None:
    op.create_table(
        "evaluation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=True),
        sa.Column("pool_id", sa.Integer(), nullable=True),
        sa.Column("label_source", sa.String(), nullable=False),
        sa.Column("label_revision", sa.Integer(), nullable=False),
        sa.Column("settings", sa.String(), nullable=False),
        sa.Column("result", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name="fk_evaluation_snapshot_id"),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name="fk_evaluation_pool_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_evaluation_revision_id"),
        sa.PrimaryKeyConstraint("id", name="pk_evaluation"),
    )
    op.create_index("ix_evaluation_command", "evaluation", ["command"])
    op.create_table(
        "evaluation_value",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("slice", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("queries", sa.Integer(), nullable=False),
        sa.Column("coverage", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name="fk_evaluation_value_evaluation_id"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_evaluation_value_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_evaluation_value"),
        sa.UniqueConstraint(
            "evaluation_id",
            "run_id",
            "metric",
            "slice",
            name="uq_evaluation_value_evaluation_id_run_id_metric_slice",
        ),
    )


def _gates_and_misses() -> None:
    op.create_table(
        "gate_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_gate_rules_revision_id"),
        sa.PrimaryKeyConstraint("id", name="pk_gate_rules"),
        sa.UniqueConstraint("digest", name="uq_gate_rules_digest"),
    )
    op.create_table(
        "gate_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("gate_id", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name="fk_gate_run_evaluation_id"
        ),
        sa.ForeignKeyConstraint(["gate_id"], ["gate_rules.id"], name="fk_gate_run_gate_id"),
        sa.PrimaryKeyConstraint("id", name="pk_gate_run"),
        sa.UniqueConstraint("evaluation_id", name="uq_gate_run_evaluation_id"),
    )
    op.create_table(
        "miss_ruling",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "failure IN ('not_in_index', 'chunk_boundary', 'lexical_mismatch', "
            "'embedding_confusion', 'metadata_filter', 'stale_version', 'permission_filter', "
            "'rank_truncation', 'undetermined')",
            name="ck_miss_ruling_failure",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_miss_ruling_run_id"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_miss_ruling_item_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_miss_ruling_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_miss_ruling"),
    )
    op.create_index("ix_miss_ruling_item_id", "miss_ruling", ["item_id"])
    # A sitting asks for second looks again and again; without it all reasons are gone through.
    op.create_index("ix_task_reason_reason_task_id", "task_reason", ["reason", "task_id"])
