"""What sittings need: the domain and the language of each wanted vote, to filter the queue by."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_FOLLOW = """
UPDATE assignment SET {name} = COALESCE((
    SELECT version.{name}
    FROM item JOIN query_version AS version ON version.query_id = item.query_id
    WHERE item.id = assignment.item_id
    ORDER BY version.version DESC LIMIT 1
), '')
"""


def upgrade() -> None:
    for name in ("domain", "language"):
        column = sa.Column(name, sa.String(), nullable=False, server_default="")
        op.add_column("assignment", column)
        op.execute(_FOLLOW.format(name=name))
    op.create_index(
        "ix_assignment_state_domain_language_priority_id",
        "assignment",
        ["state", "domain", "language", "priority", "id"],
    )
