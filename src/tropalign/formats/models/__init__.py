"""Formats of profile hidden Markov models."""

from tropalign.formats.format import TEXT, Format

FORMATS = {"models": (Format("hmm", (".hmm",), TEXT, "HMMER's models", "models.text"),)}
