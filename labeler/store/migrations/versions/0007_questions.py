"""Generated questions: where they come from, their filters, and what people said."""

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
