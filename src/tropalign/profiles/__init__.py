"""Profile hidden Markov models against sequence databases: ``tropalign search`` and ``tropalign scan``."""
