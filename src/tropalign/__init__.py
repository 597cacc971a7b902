"""tropalign."""
