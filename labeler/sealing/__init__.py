"""What is sealed: the split in force, its texts, exposures to generators, openings by people."""
