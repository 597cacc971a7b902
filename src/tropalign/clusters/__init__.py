"""Clusters of sequences, from exact pairwise alignments."""
