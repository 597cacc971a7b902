"""Formats of pictures of segments along sequences, a module each."""
