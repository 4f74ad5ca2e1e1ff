"""Splits: drafts, rulings on edges, manifests, and the log of queries."""

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
