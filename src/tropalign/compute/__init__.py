"""Where work runs: tiles of a task, devices that take them, memory, and what survives a kill."""
