"""Records to files, through formats."""
