"""Plots of pairs."""
