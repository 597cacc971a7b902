"""Tasks and tiles, the scheduler, and runs whose finished parts survive a kill."""
