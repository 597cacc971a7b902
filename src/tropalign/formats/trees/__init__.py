"""Formats of guide trees."""
