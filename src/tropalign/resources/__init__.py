"""Limits of the machine: memory, threads and control groups."""
