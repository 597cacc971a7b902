"""Alignments and tables, out of and into the formats that other tools read."""
