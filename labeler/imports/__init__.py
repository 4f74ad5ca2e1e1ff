"""Files to records, through formats."""
