"""Workers: claim jobs from the queue, run each in its own process group, and record the outcome."""
