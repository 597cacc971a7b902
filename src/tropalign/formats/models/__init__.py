"""Profile hidden Markov models as files: which formats there are."""

from tropalign.formats.format import TEXT, Format

FORMATS = {"models": (Format("hmm", (".hmm",), TEXT, "HMMER's models", "models.text"),)}
