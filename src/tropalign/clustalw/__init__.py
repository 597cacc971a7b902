"""CLUSTALW's progressive alignment."""
