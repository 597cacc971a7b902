"""Multiple alignment of a family by the consistency of its pairs, and how accurate alignments are."""
