"""Formats of the reference alignment with the reads in it."""
