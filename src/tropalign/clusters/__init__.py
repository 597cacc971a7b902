"""Clustering, dereplication and chimera detection from exact pairwise alignments."""
