"""Trees from distances."""
