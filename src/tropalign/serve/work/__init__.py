"""Workers: they take jobs from the queue, run each in a process group of its own, and record how it ended."""
