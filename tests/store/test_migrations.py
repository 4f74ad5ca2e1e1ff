"""Databases of earlier versions: what a migration fills in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.schema import HEAD, schema_version

_ROWS = """
INSERT INTO revision (id, at, actor, command, version) VALUES (1, '2026-01-01', 'a', 'c', '0');
INSERT INTO text (id, digest, body) VALUES (1, 'd', 'a text');
INSERT INTO query (id, external_id) VALUES (1, 'q1'), (2, 'q2'), (3, 'q3');
INSERT INTO query_version (query_id, version, text_id, domain, language, slices, weight, origin,
    conditions, group_keys, required_evidence, digest, revision_id) VALUES
    (1, 1, 1, 'old', 'en', '[]', 1, 'manual', '{}', '{}', '[]', 'd', 1),
    (1, 2, 1, 'new', 'pt', '[]', 1, 'manual', '{}', '{}', '[]', 'e', 1),
    (2, 1, 1, NULL, NULL, '[]', 1, 'manual', '{}', '{}', '[]', 'd', 1);
INSERT INTO scale (id, name, digest, revision_id) VALUES (1, 's', 'd', 1);
INSERT INTO rubric (id, name, digest, body, scale_id, revision_id) VALUES (1, 'r', 'd', '{}', 1, 1);
INSERT INTO snapshot (id, name, ingested_at, digest, revision_id)
    VALUES (1, 's', '2026-01-01', 'd', 1);
INSERT INTO evidence (id, external_id) VALUES (1, 'e1');
INSERT INTO item (id, query_id, evidence_id, rubric_id, snapshot_id) VALUES
    (1, 1, 1, 1, 1), (2, 2, 1, 1, 1), (3, 3, 1, 1, 1);
INSERT INTO task (id, item_id, revision_id) VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);
INSERT INTO assignment (task_id, item_id, slot, purpose, state, priority) VALUES
    (1, 1, 0, 'primary', 'waiting', 0), (2, 2, 0, 'primary', 'waiting', 1),
    (3, 3, 0, 'primary', 'done', 2);
"""


def test_wanted_votes_are_given_the_domain_and_language_of_their_query_in_force(
    empty_location: Location,
) -> None:
    engine = sa.create_engine(empty_location.url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", "labeler.store:migrations")
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        tables = sa.inspect(connection).get_columns
        for statement in filter(str.strip, _ROWS.split(";\n")):
            connection.execute(sa.text(statement))
        assert "domain" not in {column["name"] for column in tables("assignment")}
    engine.dispose()
    with open_store(empty_location) as store, store.read() as connection:
        assert schema_version(connection) == HEAD
        rows = connection.execute(
            sa.text("SELECT item_id, domain, language FROM assignment ORDER BY item_id")
        ).all()
    assert [tuple(row) for row in rows] == [(1, "new", "pt"), (2, "", ""), (3, "", "")]
