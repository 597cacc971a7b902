"""Formats of the best branches of each read."""
