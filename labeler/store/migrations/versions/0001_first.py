"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chunk",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk")),
        sa.UniqueConstraint("external_id", name=op.f("uq_chunk_external_id")),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("external_id", name=op.f("uq_document_external_id")),
    )
    op.create_table(
        "embedding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_digest", sa.String(), nullable=False),
        sa.Column("text_digest", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding")),
        sa.UniqueConstraint(
            "model_digest", "text_digest", name=op.f("uq_embedding_model_digest_text_digest")
        ),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evidence")),
        sa.UniqueConstraint("external_id", name=op.f("uq_evidence_external_id")),
    )
    op.create_table(
        "query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_query")),
        sa.UniqueConstraint("external_id", name=op.f("uq_query_external_id")),
    )
    op.create_table(
        "revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision")),
    )
    op.create_table(
        "text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text")),
        sa.UniqueConstraint("digest", name=op.f("uq_text_digest")),
    )
    op.create_table(
        "assessor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_assessor_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assessor")),
        sa.UniqueConstraint("kind", "name", "digest", name=op.f("uq_assessor_kind_name_digest")),
    )
    op.create_table(
        "correction",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_correction_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_correction")),
    )
    op.create_table(
        "policy",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_policy_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policy")),
        sa.UniqueConstraint("digest", name=op.f("uq_policy_digest")),
    )
    op.create_table(
        "query_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("need_id", sa.Integer(), nullable=True),
        sa.Column("domain", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("slices", sa.String(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("conditions", sa.String(), nullable=False),
        sa.Column("group_keys", sa.String(), nullable=False),
        sa.Column("required_evidence", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["need_id"], ["text.id"], name=op.f("fk_query_version_need_id")),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_query_version_query_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_query_version_revision_id")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_query_version_text_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_query_version")),
        sa.UniqueConstraint("query_id", "version", name=op.f("uq_query_version_query_id_version")),
    )
    op.create_table(
        "scale",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_scale_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scale")),
        sa.UniqueConstraint("digest", name=op.f("uq_scale_digest")),
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("source_version", sa.String(), nullable=True),
        sa.Column("chunking", sa.String(), nullable=True),
        sa.Column("access_policy", sa.String(), nullable=True),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_snapshot_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
        sa.UniqueConstraint("name", name=op.f("uq_snapshot_name")),
    )
    op.create_table(
        "tombstone",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_tombstone_revision_id")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_tombstone_text_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstone")),
        sa.UniqueConstraint("text_id", name=op.f("uq_tombstone_text_id")),
    )
    op.create_table(
        "chunk_evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("chunk_id", sa.Integer(), nullable=False),
        sa.Column("evidence_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunk.id"], name=op.f("fk_chunk_evidence_chunk_id")
        ),
        sa.ForeignKeyConstraint(
            ["evidence_id"], ["evidence.id"], name=op.f("fk_chunk_evidence_evidence_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name=op.f("fk_chunk_evidence_snapshot_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk_evidence")),
        sa.UniqueConstraint(
            "snapshot_id",
            "chunk_id",
            "evidence_id",
            name=op.f("uq_chunk_evidence_snapshot_id_chunk_id_evidence_id"),
        ),
    )
    op.create_index(
        op.f("ix_chunk_evidence_evidence_id"), "chunk_evidence", ["evidence_id"], unique=False
    )
    op.create_table(
        "rubric",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("scale_id", sa.Integer(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_rubric_revision_id")
        ),
        sa.ForeignKeyConstraint(["scale_id"], ["scale.id"], name=op.f("fk_rubric_scale_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rubric")),
        sa.UniqueConstraint("digest", name=op.f("uq_rubric_digest")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("corpus_config", sa.String(), nullable=True),
        sa.Column("retrieval_config", sa.String(), nullable=True),
        sa.Column("reranking_config", sa.String(), nullable=True),
        sa.Column("generation_config", sa.String(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_run_revision_id")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_run_snapshot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("snapshot_id", "name", name=op.f("uq_run_snapshot_id_name")),
    )
    op.create_table(
        "scale_level",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("scale_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("grade", sa.String(), nullable=False),
        sa.Column("gain", sa.Float(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["scale_id"], ["scale.id"], name=op.f("fk_scale_level_scale_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scale_level")),
        sa.UniqueConstraint("scale_id", "code", name=op.f("uq_scale_level_scale_id_code")),
    )
    op.create_table(
        "snapshot_chunk",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("chunk_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("extra", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunk.id"], name=op.f("fk_snapshot_chunk_chunk_id")
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_snapshot_chunk_document_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name=op.f("fk_snapshot_chunk_snapshot_id")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_snapshot_chunk_text_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot_chunk")),
        sa.UniqueConstraint(
            "snapshot_id", "chunk_id", name=op.f("uq_snapshot_chunk_snapshot_id_chunk_id")
        ),
    )
    op.create_index(
        op.f("ix_snapshot_chunk_document_id"), "snapshot_chunk", ["document_id"], unique=False
    )
    op.create_table(
        "snapshot_document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("domain", sa.String(), nullable=True),
        sa.Column("product", sa.String(), nullable=True),
        sa.Column("region", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("effective_date", sa.String(), nullable=True),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("supersedes_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_snapshot_document_document_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name=op.f("fk_snapshot_document_snapshot_id")
        ),
        sa.ForeignKeyConstraint(
            ["supersedes_id"], ["document.id"], name=op.f("fk_snapshot_document_supersedes_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot_document")),
        sa.UniqueConstraint(
            "snapshot_id", "document_id", name=op.f("uq_snapshot_document_snapshot_id_document_id")
        ),
    )
    op.create_table(
        "snapshot_evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("evidence_id", sa.Integer(), nullable=False),
        sa.Column("chunk_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunk.id"], name=op.f("fk_snapshot_evidence_chunk_id")
        ),
        sa.ForeignKeyConstraint(
            ["evidence_id"], ["evidence.id"], name=op.f("fk_snapshot_evidence_evidence_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name=op.f("fk_snapshot_evidence_snapshot_id")
        ),
        sa.ForeignKeyConstraint(
            ["text_id"], ["text.id"], name=op.f("fk_snapshot_evidence_text_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot_evidence")),
        sa.UniqueConstraint(
            "snapshot_id", "evidence_id", name=op.f("uq_snapshot_evidence_snapshot_id_evidence_id")
        ),
    )
    op.create_table(
        "split",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("scheme", sa.String(), nullable=False),
        sa.Column("root_digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_split_revision_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshot.id"], name=op.f("fk_split_snapshot_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_split")),
        sa.UniqueConstraint("name", name=op.f("uq_split_name")),
    )
    op.create_table(
        "withdrawal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("correction_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["correction_id"], ["correction.id"], name=op.f("fk_withdrawal_correction_id")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_withdrawal_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_withdrawal")),
        sa.UniqueConstraint("kind", "target_id", name=op.f("uq_withdrawal_kind_target_id")),
    )
    op.create_table(
        "exposure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("text_digest", sa.String(), nullable=False),
        sa.Column("generator", sa.String(), nullable=False),
        sa.Column("previous_digest", sa.String(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_exposure_document_id")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_exposure_revision_id")
        ),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name=op.f("fk_exposure_split_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exposure")),
        sa.UniqueConstraint("digest", name=op.f("uq_exposure_digest")),
    )
    op.create_table(
        "hit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("chunk_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("stated_rank", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name=op.f("fk_hit_chunk_id")),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_hit_query_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_hit_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hit")),
        sa.UniqueConstraint("run_id", "query_id", "rank", name=op.f("uq_hit_run_id_query_id_rank")),
    )
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("evidence_id", sa.Integer(), nullable=False),
        sa.Column("rubric_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["evidence_id"], ["evidence.id"], name=op.f("fk_item_evidence_id")),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_item_query_id")),
        sa.ForeignKeyConstraint(["rubric_id"], ["rubric.id"], name=op.f("fk_item_rubric_id")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_item_snapshot_id")),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_item_text_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint(
            "query_id",
            "evidence_id",
            "rubric_id",
            "snapshot_id",
            name=op.f("uq_item_query_id_evidence_id_rubric_id_snapshot_id"),
        ),
    )
    op.create_table(
        "opening",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("through", sa.String(), nullable=False),
        sa.Column("runs", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_opening_revision_id")
        ),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name=op.f("fk_opening_split_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_opening")),
    )
    op.create_table(
        "pool",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("rubric_id", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("order_rule", sa.String(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("extends_id", sa.Integer(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["extends_id"], ["pool.id"], name=op.f("fk_pool_extends_id")),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_pool_revision_id")),
        sa.ForeignKeyConstraint(["rubric_id"], ["rubric.id"], name=op.f("fk_pool_rubric_id")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_pool_snapshot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool")),
        sa.UniqueConstraint("name", name=op.f("uq_pool_name")),
    )
    op.create_table(
        "run_query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("returned", sa.Integer(), nullable=False),
        sa.Column("candidate_depth", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("timed_out", sa.Boolean(), nullable=True),
        sa.Column("cache_state", sa.String(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_run_query_query_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_query_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_query")),
        sa.UniqueConstraint("run_id", "query_id", name=op.f("uq_run_query_run_id_query_id")),
    )
    op.create_table(
        "split_edge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("left", sa.String(), nullable=False),
        sa.Column("right", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("evidence", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_split_edge_revision_id")
        ),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name=op.f("fk_split_edge_split_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_split_edge")),
        sa.UniqueConstraint(
            "split_id",
            "left",
            "right",
            "cause",
            name=op.f("uq_split_edge_split_id_left_right_cause"),
        ),
    )
    op.create_table(
        "split_group",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("split_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["split_id"], ["split.id"], name=op.f("fk_split_group_split_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_split_group")),
        sa.UniqueConstraint("split_id", "number", name=op.f("uq_split_group_split_id_number")),
    )
    op.create_table(
        "candidate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_candidate_item_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_candidate_pool_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate")),
        sa.UniqueConstraint("pool_id", "item_id", name=op.f("uq_candidate_pool_id_item_id")),
    )
    op.create_index(op.f("ix_candidate_item_id"), "candidate", ["item_id"], unique=False)
    op.create_table(
        "decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("level_id", sa.Integer(), nullable=True),
        sa.Column("grade", sa.String(), nullable=True),
        sa.Column("basis", sa.String(), nullable=False),
        sa.Column("policy_id", sa.Integer(), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_decision_item_id")),
        sa.ForeignKeyConstraint(
            ["level_id"], ["scale_level.id"], name=op.f("fk_decision_level_id")
        ),
        sa.ForeignKeyConstraint(["policy_id"], ["policy.id"], name=op.f("fk_decision_policy_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_decision_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
        sa.UniqueConstraint("item_id", "revision_id", name=op.f("uq_decision_item_id_revision_id")),
    )
    op.create_table(
        "frame",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=True),
        sa.Column("policy_id", sa.Integer(), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["policy_id"], ["policy.id"], name=op.f("fk_frame_policy_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_frame_pool_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_frame_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_frame")),
        sa.UniqueConstraint("digest", name=op.f("uq_frame_digest")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=True),
        sa.Column("assessor_id", sa.Integer(), nullable=True),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["assessor_id"], ["assessor.id"], name=op.f("fk_job_assessor_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_job_pool_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("digest", name=op.f("uq_job_digest")),
    )
    op.create_table(
        "pool_query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_query_pool_id")),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_pool_query_query_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool_query")),
        sa.UniqueConstraint("pool_id", "query_id", name=op.f("uq_pool_query_pool_id_query_id")),
    )
    op.create_table(
        "pool_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_run_pool_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_pool_run_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool_run")),
        sa.UniqueConstraint("pool_id", "run_id", name=op.f("uq_pool_run_pool_id_run_id")),
    )
    op.create_table(
        "split_member",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=True),
        sa.Column("query_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_split_member_document_id")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["split_group.id"], name=op.f("fk_split_member_group_id")
        ),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_split_member_query_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_split_member")),
        sa.UniqueConstraint(
            "group_id",
            "document_id",
            "query_id",
            name=op.f("uq_split_member_group_id_document_id_query_id"),
        ),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_task_item_id")),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_task_revision_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("item_id", name=op.f("uq_task_item_id")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name=op.f("fk_assignment_assessor_id")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_assignment_item_id")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_assignment_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("task_id", "slot", name=op.f("uq_assignment_task_id_slot")),
    )
    op.create_index(
        op.f("ix_assignment_assessor_id_state"),
        "assignment",
        ["assessor_id", "state"],
        unique=False,
    )
    op.create_index(
        op.f("ix_assignment_item_id_state"), "assignment", ["item_id", "state"], unique=False
    )
    op.create_index(
        op.f("ix_assignment_state_priority_id"),
        "assignment",
        ["state", "priority", "id"],
        unique=False,
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_attempt_job_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_attempt_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint(
            "job_id",
            "request_digest",
            "number",
            name=op.f("uq_attempt_job_id_request_digest_number"),
        ),
    )
    op.create_table(
        "contribution",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("candidate_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("raw_rank", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["candidate.id"], name=op.f("fk_contribution_candidate_id")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_contribution_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contribution")),
        sa.UniqueConstraint(
            "candidate_id", "run_id", name=op.f("uq_contribution_candidate_id_run_id")
        ),
    )
    op.create_table(
        "item_label",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("level_id", sa.Integer(), nullable=True),
        sa.Column("grade", sa.String(), nullable=True),
        sa.Column("basis", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["decision.id"], name=op.f("fk_item_label_decision_id")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_label_item_id")),
        sa.ForeignKeyConstraint(
            ["level_id"], ["scale_level.id"], name=op.f("fk_item_label_level_id")
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_item_label")),
    )
    op.create_table(
        "stratum",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("frame_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("phase", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sample_size", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("score_version", sa.String(), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["frame_id"], ["frame.id"], name=op.f("fk_stratum_frame_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_stratum_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stratum")),
        sa.UniqueConstraint(
            "frame_id", "name", "phase", name=op.f("uq_stratum_frame_id_name_phase")
        ),
    )
    op.create_table(
        "task_reason",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("policy_id", sa.Integer(), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["policy_id"], ["policy.id"], name=op.f("fk_task_reason_policy_id")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_task_reason_revision_id")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_reason_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_reason")),
        sa.UniqueConstraint(
            "task_id",
            "reason",
            "revision_id",
            name=op.f("uq_task_reason_task_id_reason_revision_id"),
        ),
    )
    op.create_table(
        "task_state",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_state_task_id")),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_task_state")),
    )
    op.create_index(op.f("ix_task_state_status"), "task_state", ["status"], unique=False)
    op.create_table(
        "draw",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_draw_item_id")),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_draw_revision_id")),
        sa.ForeignKeyConstraint(["stratum_id"], ["stratum.id"], name=op.f("fk_draw_stratum_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draw")),
        sa.UniqueConstraint("stratum_id", "item_id", name=op.f("uq_draw_stratum_id_item_id")),
    )
    op.create_table(
        "frame_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_frame_item_item_id")),
        sa.ForeignKeyConstraint(
            ["stratum_id"], ["stratum.id"], name=op.f("fk_frame_item_stratum_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_frame_item")),
        sa.UniqueConstraint("stratum_id", "item_id", name=op.f("uq_frame_item_stratum_id_item_id")),
    )
    op.create_table(
        "response",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("raw_id", sa.Integer(), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_response_attempt_id")
        ),
        sa.ForeignKeyConstraint(["raw_id"], ["text.id"], name=op.f("fk_response_raw_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_response_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response")),
        sa.UniqueConstraint("attempt_id", "number", name=op.f("uq_response_attempt_id_number")),
    )
    op.create_table(
        "judgment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("level_id", sa.Integer(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("calibration", sa.String(), nullable=True),
        sa.Column("probabilities", sa.String(), nullable=False),
        sa.Column("signals", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("quote_id", sa.Integer(), nullable=True),
        sa.Column("reason_id", sa.Integer(), nullable=True),
        sa.Column("response_id", sa.Integer(), nullable=True),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("occasion", sa.String(), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name=op.f("fk_judgment_assessor_id")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_judgment_item_id")),
        sa.ForeignKeyConstraint(
            ["level_id"], ["scale_level.id"], name=op.f("fk_judgment_level_id")
        ),
        sa.ForeignKeyConstraint(["quote_id"], ["text.id"], name=op.f("fk_judgment_quote_id")),
        sa.ForeignKeyConstraint(["reason_id"], ["text.id"], name=op.f("fk_judgment_reason_id")),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_judgment_response_id")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_judgment_revision_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment")),
        sa.UniqueConstraint(
            "request_digest",
            "item_id",
            "assessor_id",
            "sample",
            "occasion",
            name=op.f("uq_judgment_request_digest_item_id_assessor_id_sample_occasion"),
        ),
    )
    op.create_index(
        op.f("ix_judgment_assessor_id_item_id"),
        "judgment",
        ["assessor_id", "item_id"],
        unique=False,
    )
    op.create_index(op.f("ix_judgment_item_id"), "judgment", ["item_id"], unique=False)
    op.create_table(
        "decision_support",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("judgment_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["decision.id"], name=op.f("fk_decision_support_decision_id")
        ),
        sa.ForeignKeyConstraint(
            ["judgment_id"], ["judgment.id"], name=op.f("fk_decision_support_judgment_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision_support")),
        sa.UniqueConstraint(
            "decision_id", "judgment_id", name=op.f("uq_decision_support_decision_id_judgment_id")
        ),
    )
    op.create_table(
        "review_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=True),
        sa.Column("judgment_id", sa.Integer(), nullable=True),
        sa.Column("undoes_id", sa.Integer(), nullable=True),
        sa.Column("note_id", sa.Integer(), nullable=True),
        sa.Column("shown_digest", sa.String(), nullable=True),
        sa.Column("dwell_ms", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name=op.f("fk_review_event_assessor_id")
        ),
        sa.ForeignKeyConstraint(
            ["judgment_id"], ["judgment.id"], name=op.f("fk_review_event_judgment_id")
        ),
        sa.ForeignKeyConstraint(["note_id"], ["text.id"], name=op.f("fk_review_event_note_id")),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name=op.f("fk_review_event_revision_id")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_review_event_task_id")),
        sa.ForeignKeyConstraint(
            ["undoes_id"], ["review_event.id"], name=op.f("fk_review_event_undoes_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_review_event")),
        sa.UniqueConstraint("event_key", name=op.f("uq_review_event_event_key")),
    )
    op.create_index(
        op.f("ix_review_event_assessor_id_id"), "review_event", ["assessor_id", "id"], unique=False
    )
    op.create_index(
        op.f("ix_review_event_purpose_judgment_id"),
        "review_event",
        ["purpose", "judgment_id"],
        unique=False,
    )
    op.create_index(op.f("ix_review_event_task_id"), "review_event", ["task_id"], unique=False)
