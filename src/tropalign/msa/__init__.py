"""Multiple alignments, and how accurate they are."""
