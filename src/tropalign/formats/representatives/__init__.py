"""Formats of the representatives of clusters."""
