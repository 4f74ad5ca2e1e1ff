"""The parts of the review screen, each with one job. All text they show is made safe first."""
