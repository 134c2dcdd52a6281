"""Subject → findings: one file per rule in `rules/<category>/`."""
