"""Opening a database, migrations, revisions, projections."""
