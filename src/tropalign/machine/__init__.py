"""What the machine allows: memory, threads, control groups."""
