"""The map of pairs as PDF."""

from tropalign.formats.pair_plots import plot_format

FORMAT = plot_format(".pdf")
