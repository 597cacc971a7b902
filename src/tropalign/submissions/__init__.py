"""A command line as a request to a server, and back."""
