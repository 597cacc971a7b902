"""Formats of the table of an alignment's confidence."""
