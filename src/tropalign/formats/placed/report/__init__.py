"""Formats of the reads per taxon."""
