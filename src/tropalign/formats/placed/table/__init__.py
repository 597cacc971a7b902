"""Formats of the table of placed reads."""
