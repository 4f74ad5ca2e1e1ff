"""What was asked, and what runs found: queries and their clusters, runs, rankings of evidence."""
