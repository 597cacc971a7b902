"""Alignments of families that homologs help."""
