"""Masks: parts of sequences that score high by chance, such as runs of one residue."""
