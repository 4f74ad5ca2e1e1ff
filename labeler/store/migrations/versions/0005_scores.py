"""Score versions: what the label model made of a pool's signals."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "score_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("calibration", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("queries", sa.Integer(), nullable=False),
        sa.Column("item_ids", sa.LargeBinary(), nullable=False),
        sa.Column("probabilities", sa.LargeBinary(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "calibration IN ('calibrated', 'uncalibrated')", name="ck_score_version_calibration"
        ),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name="fk_score_version_pool_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_score_version_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_score_version"),
        sa.UniqueConstraint("digest", name="uq_score_version_digest"),
    )
    op.create_index("ix_score_version_pool_id", "score_version", ["pool_id"])
