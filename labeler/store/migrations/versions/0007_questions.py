"""Generated questions: where they come from, their filters, and what people said."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("domain", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("persona", sa.String(), nullable=True),
        sa.Column("conditions", sa.String(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=True),
        sa.Column("prompt_digest", sa.String(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("log_probability", sa.Float(), nullable=True),
        sa.Column("window_similarity", sa.Float(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name="fk_question_split_id"),
        sa.ForeignKeyConstraint(["group_id"], ["split_group.id"], name="fk_question_group_id"),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name="fk_question_text_id"),
        sa.ForeignKeyConstraint(["answer_id"], ["text.id"], name="fk_question_answer_id"),
        sa.ForeignKeyConstraint(["assessor_id"], ["assessor.id"], name="fk_question_assessor_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_question_job_id"),
        sa.ForeignKeyConstraint(["response_id"], ["response.id"], name="fk_question_response_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_question_revision_id"),
        sa.PrimaryKeyConstraint("id", name="pk_question"),
        sa.UniqueConstraint("digest", name="uq_question_digest"),
    )
    op.create_index("ix_question_job_id", "question", ["job_id"])
    op.create_index("ix_question_split_id_domain", "question", ["split_id", "domain"])
    op.create_table(
        "question_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("chunk_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("window_start", sa.Integer(), nullable=True),
        sa.Column("window_end", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_question_source_question_id"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name="fk_question_source_document_id"
        ),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="fk_question_source_chunk_id"),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name="fk_question_source_text_id"),
        sa.PrimaryKeyConstraint("id", name="pk_question_source"),
        sa.UniqueConstraint("question_id", "place", name="uq_question_source_question_id_place"),
    )
    op.create_index("ix_question_source_chunk_id", "question_source", ["chunk_id"])
    op.create_table(
        "question_finding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("filter_digest", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_question_finding_question_id"
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name="fk_question_finding_text_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_question_finding_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_finding"),
        sa.UniqueConstraint(
            "question_id",
            "text_id",
            "name",
            "filter_digest",
            name="uq_question_finding_question_id_text_id_name_filter_digest",
        ),
    )
    op.create_table(
        "filter_settings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("generator", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_filter_settings_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_filter_settings"),
        sa.UniqueConstraint("generator", "digest", name="uq_filter_settings_generator_digest"),
    )
    op.create_table(
        "question_draw",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_question_draw_question_id"
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_question_draw_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_draw"),
        sa.UniqueConstraint("question_id", name="uq_question_draw_question_id"),
    )
    op.create_table(
        "question_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=True),
        sa.Column("note_id", sa.Integer(), nullable=True),
        sa.Column("undoes_id", sa.Integer(), nullable=True),
        sa.Column("shown_digest", sa.String(), nullable=True),
        sa.Column("dwell_ms", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_question_event_question_id"
        ),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name="fk_question_event_assessor_id"
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name="fk_question_event_text_id"),
        sa.ForeignKeyConstraint(["note_id"], ["text.id"], name="fk_question_event_note_id"),
        sa.ForeignKeyConstraint(
            ["undoes_id"], ["question_event.id"], name="fk_question_event_undoes_id"
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_question_event_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_event"),
        sa.UniqueConstraint("event_key", name="uq_question_event_event_key"),
    )
    op.create_index("ix_question_event_assessor_id_id", "question_event", ["assessor_id", "id"])
    op.create_index("ix_question_event_question_id", "question_event", ["question_id"])
    op.create_table(
        "question_query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_question_query_question_id"
        ),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name="fk_question_query_query_id"),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name="fk_question_query_text_id"),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_question_query_revision_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_query"),
        sa.UniqueConstraint("question_id", name="uq_question_query_question_id"),
    )
    op.create_table(
        "quarantine",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name="fk_quarantine_split_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_quarantine_revision_id"),
        sa.PrimaryKeyConstraint("id", name="pk_quarantine"),
        sa.UniqueConstraint("split_id", "kind", "name", name="uq_quarantine_split_id_kind_name"),
    )
