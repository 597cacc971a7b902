"""Families and what is known beside them: alignments helped by homologs."""
