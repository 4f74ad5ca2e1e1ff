"""Random draws as they are stored: frames, strata, drawn items; the two ledgers of votes."""
