"""Readers and writers of alignments and tables in the formats of other tools."""
