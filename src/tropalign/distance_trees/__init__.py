"""Trees from distances, and bootstrap support of their branches."""
