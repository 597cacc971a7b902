"""Conversion of a command line into a request to a server, and back."""
