"""Placement of short reads into a reference alignment, guided by its tree."""
