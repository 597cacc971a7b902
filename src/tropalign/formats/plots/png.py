"""The map of pairs as PNG."""

from tropalign.formats.pair_plots import plot_format

FORMAT = plot_format(".png")
