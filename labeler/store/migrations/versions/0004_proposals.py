"""What reviewers propose: missing evidence, and corrections of queries."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "evidence_proposal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_evidence_proposal_item_id"),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name="fk_evidence_proposal_assessor_id"
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_evidence_proposal_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_evidence_proposal"),
        sa.UniqueConstraint("event_key", name="uq_evidence_proposal_event_key"),
    )
    op.create_index("ix_evidence_proposal_item_id", "evidence_proposal", ["item_id"])
    op.create_index(
        "ix_evidence_proposal_assessor_id_item_id", "evidence_proposal", ["assessor_id", "item_id"]
    )
    op.create_table(
        "query_proposal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("domain", sa.String(), nullable=True),
        sa.Column("conditions", sa.String(), nullable=False),
        sa.Column("note_id", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["query_version.id"], name="fk_query_proposal_version_id"
        ),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name="fk_query_proposal_assessor_id"
        ),
        sa.ForeignKeyConstraint(["note_id"], ["text.id"], name="fk_query_proposal_note_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_query_proposal_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_query_proposal"),
        sa.UniqueConstraint("event_key", name="uq_query_proposal_event_key"),
    )
    op.create_index("ix_query_proposal_version_id", "query_proposal", ["version_id"])
    op.create_table(
        "query_proposal_answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("proposal_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["proposal_id"], ["query_proposal.id"], name="fk_query_proposal_answer_proposal_id"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["query_version.id"], name="fk_query_proposal_answer_version_id"
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_query_proposal_answer_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_query_proposal_answer"),
        sa.UniqueConstraint("proposal_id", name="uq_query_proposal_answer_proposal_id"),
    )
