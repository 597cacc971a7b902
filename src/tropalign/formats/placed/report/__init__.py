"""Formats of reports of placed reads."""
