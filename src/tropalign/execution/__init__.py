"""Tasks and tiles, the scheduler, and a run with all that survives a kill."""
