"""Splits: drafts, rulings on edges, manifests, later members, what an opening showed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_ACTIONS = "action IN ('link', 'review', 'ignore')"


def upgrade() -> None:
    op.create_table(
        "split_extension",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("root_digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name="fk_split_extension_split_id"),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name="fk_split_extension_snapshot_id"
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_split_extension_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_split_extension"),
        sa.UniqueConstraint("split_id", "number", name="uq_split_extension_split_id_number"),
    )
    op.create_table(
        "split_leaf",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("extension_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["member_id"], ["split_member.id"], name="fk_split_leaf_member_id"),
        sa.ForeignKeyConstraint(
            ["extension_id"], ["split_extension.id"], name="fk_split_leaf_extension_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_split_leaf"),
        sa.UniqueConstraint("member_id", name="uq_split_leaf_member_id"),
    )
    op.create_index("ix_split_leaf_extension_id", "split_leaf", ["extension_id"])
    op.create_table(
        "split_quarantine",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("extension_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=True),
        sa.Column("query_id", sa.Integer(), nullable=True),
        sa.Column("groups", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["extension_id"], ["split_extension.id"], name="fk_split_quarantine_extension_id"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name="fk_split_quarantine_document_id"
        ),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name="fk_split_quarantine_query_id"),
        sa.PrimaryKeyConstraint("id", name="pk_split_quarantine"),
        sa.UniqueConstraint(
            "extension_id",
            "document_id",
            "query_id",
            name="uq_split_quarantine_extension_id_document_id_query_id",
        ),
    )
    op.create_table(
        "edge_ruling",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("left", sa.String(), nullable=False),
        sa.Column("right", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.CheckConstraint(_ACTIONS, name="ck_edge_ruling_action"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_edge_ruling_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_edge_ruling"),
    )
    op.create_index("ix_edge_ruling_left_right", "edge_ruling", ["left", "right"])
    op.create_table(
        "split_draft",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("scheme", sa.String(), nullable=False),
        sa.Column("content_digest", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name="fk_split_draft_snapshot_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_split_draft"),
        sa.UniqueConstraint("snapshot_id", name="uq_split_draft_snapshot_id"),
    )
    op.create_table(
        "draft_edge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("draft_id", sa.Integer(), nullable=False),
        sa.Column("left", sa.String(), nullable=False),
        sa.Column("right", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("evidence", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.CheckConstraint(_ACTIONS, name="ck_draft_edge_action"),
        sa.ForeignKeyConstraint(["draft_id"], ["split_draft.id"], name="fk_draft_edge_draft_id"),
        sa.PrimaryKeyConstraint("id", name="pk_draft_edge"),
        sa.UniqueConstraint(
            "draft_id", "left", "right", "cause", name="uq_draft_edge_draft_id_left_right_cause"
        ),
    )
    op.create_table(
        "opening_scope",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("opening_id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("labels_revision", sa.Integer(), nullable=False),
        sa.Column("queries", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint("purpose IN ('measuring', 'tuning')", name="ck_opening_scope_purpose"),
        sa.ForeignKeyConstraint(["opening_id"], ["opening.id"], name="fk_opening_scope_opening_id"),
        sa.PrimaryKeyConstraint("id", name="pk_opening_scope"),
        sa.UniqueConstraint("opening_id", name="uq_opening_scope_opening_id"),
    )
